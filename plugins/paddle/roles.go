// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
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
	defaultTaskRoles = map[string]role{
		"ps": roleServer, "pserver": roleServer, "worker": roleWorker, "trainer": roleWorker, "heter": roleHeter,
	}
)

// isPaddleJob tells whether the PodGroup or any pod of the job bears a mark of Paddle. A task's name is not a mark:
// jobs of every framework have a task called worker.
func isPaddleJob(job *api.JobInfo) bool {
	if job.PodGroup != nil {
		if has(job.PodGroup.Labels, jobNameLabel) || has(job.PodGroup.Annotations, modeAnnotation) {
			return true
		}
	}
	for _, task := range job.Tasks {
		if isPaddlePod(task.Pod) {
			return true
		}
	}
	return false
}

// isPaddlePod tells whether a label, an annotation or a variable of the pod is one that only Paddle jobs have.
func isPaddlePod(pod *corev1.Pod) bool {
	for _, key := range []string{jobNameLabel, resourceTypeLabel, ctrServerLabel, ctrWorkerLabel} {
		if has(pod.Labels, key) {
			return true
		}
	}
	if has(pod.Annotations, resourceAnnotation) {
		return true
	}
	for i := range pod.Spec.Containers {
		for _, env := range pod.Spec.Containers[i].Env {
			if strings.HasPrefix(env.Name, envPrefix) || trainingRole(env) != roleOther {
				return true
			}
		}
	}
	return false
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
