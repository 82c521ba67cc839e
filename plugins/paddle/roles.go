// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	batch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	"volcano.sh/volcano/pkg/scheduler/api"
)

// role is what a pod does in a Paddle job.
type role string

const (
	roleServer role = "server" // holds a part of the parameters
	roleHeter  role = "heter"  // computes one stage of the model
	roleWorker role = "worker" // trains
	roleOther  role = ""       // anything else that the user added to the job
)

// Values of the role in labels and annotations, of the role in variables, and of task names.
var (
	roleByResourceType = map[string]role{"ps": roleServer, "worker": roleWorker, "heter": roleHeter}
	resourceTypeByRole = map[role]string{roleServer: "ps", roleWorker: "worker", roleHeter: "heter"}
	roleByTrainingRole = map[string]role{
		"PSERVER": roleServer, "TRAINER": roleWorker, "HETER_TRAINER": roleHeter,
		"HETER": roleHeter, // what paddle-operator sets
	}
)

// isPaddleJob reports whether a job is a Paddle training job: its PodGroup may be one, and the PodGroup or any of the pods
// bears a mark of Paddle. A task's name is not a mark: jobs of every framework have a task called worker.
func isPaddleJob(job *api.JobInfo) bool {
	if job.PodGroup == nil || !mayTrain(job.PodGroup.OwnerReferences) {
		return false
	}
	if has(job.PodGroup.Labels, jobNameLabel) || has(job.PodGroup.Annotations, modeAnnotation) {
		return true
	}
	for _, task := range job.Tasks {
		if isPaddlePod(task.Pod) {
			return true
		}
	}
	return false
}

// mayTrain reports whether a PodGroup or pod with these owners may belong to a Paddle job: a user made it, or a controller
// of training jobs did. What a ReplicaSet, a StatefulSet, a Job of Kubernetes, a plain pod or another framework owns is
// never part of a gang, whatever its pods look like: a service runs with as many pods as there is room for.
func mayTrain(owners []metav1.OwnerReference) bool {
	return !slices.ContainsFunc(owners, func(owner metav1.OwnerReference) bool {
		return owner.Kind != paddleJobKind && !isVolcanoJob(owner)
	})
}

// needsAllPods reports whether a task for which the PodGroup declares no minimum needs all of its pods. It does where
// paddle-operator or a Volcano Job owns the PodGroup: they make as many pods as the job has members.
func needsAllPods(job *api.JobInfo) bool {
	return slices.ContainsFunc(job.PodGroup.OwnerReferences, func(owner metav1.OwnerReference) bool {
		return isVolcanoJob(owner) || owner.Kind == paddleJobKind && groupOf(owner) == paddleJobGroup
	})
}

func isVolcanoJob(owner metav1.OwnerReference) bool {
	return owner.Kind == volcanoJobKind && groupOf(owner) == batch.GroupName
}

// groupOf is the API group of an owner, without the version.
func groupOf(owner metav1.OwnerReference) string {
	group, _, _ := strings.Cut(owner.APIVersion, "/")
	return group
}

// isPaddlePod reports whether a label, an annotation or a variable of the pod is one that only Paddle's training has, and
// the pod's owner is one that trains. Other variables of Paddle are no mark: its inference services have them as well.
func isPaddlePod(pod *corev1.Pod) bool {
	if !mayTrain(pod.OwnerReferences) {
		return false
	}
	for _, key := range []string{jobNameLabel, resourceTypeLabel, ctrServerLabel, ctrWorkerLabel} {
		if has(pod.Labels, key) {
			return true
		}
	}
	if has(pod.Annotations, resourceAnnotation) {
		return true
	}
	for i := range pod.Spec.Containers {
		if slices.ContainsFunc(pod.Spec.Containers[i].Env, isTrainingVariable) {
			return true
		}
	}
	return false
}

func isTrainingVariable(env corev1.EnvVar) bool {
	return strings.HasPrefix(env.Name, envTrainerPrefix) || strings.HasPrefix(env.Name, envServersPrefix) || trainingRole(env) != roleOther
}

// podRole is the role of a pod of a Paddle job: what its labels say, else its variables, else the name of its task.
func podRole(pod *corev1.Pod, task string, taskRoles map[string]role) role {
	for _, value := range []string{pod.Labels[resourceTypeLabel], pod.Annotations[resourceAnnotation]} {
		if found, ok := roleByResourceType[value]; ok {
			return found
		}
	}
	if has(pod.Labels, ctrServerLabel) {
		return roleServer
	}
	if has(pod.Labels, ctrWorkerLabel) {
		return roleWorker
	}
	for i := range pod.Spec.Containers {
		for _, env := range pod.Spec.Containers[i].Env {
			if found := trainingRole(env); found != roleOther {
				return found
			}
		}
	}
	return taskRoles[task]
}

// trainingRole is the role that a variable names, roleOther if it names none.
func trainingRole(env corev1.EnvVar) role {
	if env.Name != envTrainingRole && env.Name != envPaddleTrainingRole {
		return roleOther
	}
	return roleByTrainingRole[env.Value]
}

func has(m map[string]string, key string) bool {
	_, ok := m[key]
	return ok
}
