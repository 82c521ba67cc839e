// SPDX-License-Identifier: Apache-2.0

// Package job is the model of a Paddle job: which jobs are Paddle's, the role of each pod, the minimum of each role, what the
// annotations say, the order of pods, pods without requests, and completion. It knows no plans and no framework.Session.
package job

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	batch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	"volcano.sh/volcano/pkg/scheduler/api"
)

// Role is what a pod does in a Paddle job.
type Role string

// Roles of pods.
const (
	Server Role = "server" // holds a part of the parameters
	Heter  Role = "heter"  // computes one stage of the model
	Worker Role = "worker" // trains
	Other  Role = ""       // anything else that the user added to the job
)

// Values of the role in labels and annotations, of the role in variables, and of task names.
var (
	roleByResourceType = map[string]Role{"ps": Server, "worker": Worker, "heter": Heter}
	resourceTypeByRole = map[Role]string{Server: "ps", Worker: "worker", Heter: "heter"}
	roleByTrainingRole = map[string]Role{
		"PSERVER": Server, "TRAINER": Worker, "HETER_TRAINER": Heter,
		"HETER": Heter, // what paddle-operator sets
	}
)

var nouns = map[Role]string{Server: "server", Heter: "heter worker", Worker: "worker", Other: "other pod"}

// Noun returns what users call one pod of the role.
func (r Role) Noun() string { return nouns[r] }

// RoleMap is the role of each known task name.
type RoleMap map[string]Role

// NewRoleMap returns the roles of tasks by the names of each role.
func NewRoleMap(servers, workers, heters []string) RoleMap {
	roles := RoleMap{}
	for role, names := range map[Role][]string{Server: servers, Worker: workers, Heter: heters} {
		for _, name := range names {
			roles[name] = role
		}
	}
	return roles
}

// roleOrder orders groups, and the pods of one gang that are equally needed.
var roleOrder = map[Role]int{Server: 0, Heter: 1, Worker: 2, Other: 3}

// Order returns the place of the role among those of a gang: pods of lower ones are placed earlier.
func (r Role) Order() int { return roleOrder[r] }

// IsPaddle reports whether a job is a Paddle training job: its PodGroup may be one, and the PodGroup or any of the pods
// has a mark of Paddle. A task's name is not a mark: jobs of every framework have a task called worker.
func IsPaddle(job *api.JobInfo) bool {
	if job.PodGroup == nil || !mayTrain(job.PodGroup.OwnerReferences) {
		return false
	}
	if has(job.PodGroup.Labels, JobNameLabel) || has(job.PodGroup.Annotations, ModeAnnotation) {
		return true
	}
	for _, task := range job.Tasks {
		if IsPaddlePod(task.Pod) {
			return true
		}
	}
	return false
}

// mayTrain reports whether a PodGroup or pod with these owners may belong to a Paddle job: a user made it, or a controller
// of training jobs did. What a ReplicaSet, a StatefulSet, a Job of Kubernetes, a plain pod or another framework owns is
// never part of a gang, even if its pods have marks of Paddle: a service runs with as many pods as fit. The pods of a JobSet's Jobs
// are an exception (isInJobSet).
func mayTrain(owners []metav1.OwnerReference) bool {
	return !slices.ContainsFunc(owners, func(owner metav1.OwnerReference) bool {
		return owner.Kind != PaddleJobKind && !isVolcanoJob(owner) && !isTrainJob(owner)
	})
}

// isInJobSet reports whether a Job of a JobSet owns the pod, as with the pods of a TrainJob.
func isInJobSet(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOf(pod)
	return has(pod.Labels, jobSetNameLabel) && owner != nil && owner.Kind == jobKind && groupOf(*owner) == batchv1.GroupName
}

// needsAllPods reports whether a task for which the PodGroup declares no minimum needs all of its pods. It does where
// paddle-operator, a Volcano Job or a TrainJob owns the PodGroup: they make as many pods as the job has members.
func needsAllPods(job *api.JobInfo) bool {
	return slices.ContainsFunc(job.PodGroup.OwnerReferences, func(owner metav1.OwnerReference) bool {
		return isVolcanoJob(owner) || isTrainJob(owner) || owner.Kind == PaddleJobKind && groupOf(owner) == PaddleJobGroup
	})
}

func isVolcanoJob(owner metav1.OwnerReference) bool {
	return owner.Kind == jobKind && groupOf(owner) == batch.GroupName
}

func isTrainJob(owner metav1.OwnerReference) bool {
	return owner.Kind == TrainJobKind && groupOf(owner) == TrainJobGroup
}

// groupOf returns the API group of an owner, without the version.
func groupOf(owner metav1.OwnerReference) string {
	group, _, _ := strings.Cut(owner.APIVersion, "/")
	return group
}

// IsPaddlePod reports whether a label, an annotation or a variable of the pod is one that only Paddle's training has, and
// the pod's owner is one that trains. Other variables of Paddle are no mark: its inference services have them as well.
func IsPaddlePod(pod *corev1.Pod) bool {
	if !mayTrain(pod.OwnerReferences) && !isInJobSet(pod) {
		return false
	}
	for _, key := range []string{JobNameLabel, ResourceTypeLabel, CtrServerLabel, CtrWorkerLabel} {
		if has(pod.Labels, key) {
			return true
		}
	}
	if has(pod.Annotations, ResourceAnnotation) {
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
	return strings.HasPrefix(env.Name, envTrainerPrefix) || strings.HasPrefix(env.Name, envServersPrefix) || trainingRole(env) != Other
}

// PodRole returns the role of a pod of a Paddle job: what its labels say, else its variables, else the name of its task.
func PodRole(pod *corev1.Pod, task string, roles RoleMap) Role {
	for _, value := range []string{pod.Labels[ResourceTypeLabel], pod.Annotations[ResourceAnnotation]} {
		if found, ok := roleByResourceType[value]; ok {
			return found
		}
	}
	if has(pod.Labels, CtrServerLabel) {
		return Server
	}
	if has(pod.Labels, CtrWorkerLabel) {
		return Worker
	}
	for i := range pod.Spec.Containers {
		for _, env := range pod.Spec.Containers[i].Env {
			if found := trainingRole(env); found != Other {
				return found
			}
		}
	}
	return roles[task]
}

func trainingRole(env corev1.EnvVar) Role {
	if env.Name != envTrainingRole && env.Name != envPaddleTrainingRole {
		return Other
	}
	return roleByTrainingRole[env.Value]
}

func has(m map[string]string, key string) bool {
	_, ok := m[key]
	return ok
}
