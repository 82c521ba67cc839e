// SPDX-License-Identifier: Apache-2.0

package render

import (
	"cmp"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

const (
	// schedulerName is Volcano's own; the chart's and every example's.
	schedulerName = "volcano"
	// defaultQueue is the queue that Volcano makes and that its webhook writes into Jobs that name none.
	defaultQueue = "default"
)

// minimum is the number of pods that the user wants placed together, whether there is such a wish, and where it is
// written.
func minimum(job *v1.PaddleJob, wish Wish) (value int32, set bool, field string) {
	if policy := job.Spec.SchedulingPolicy; policy != nil && policy.MinAvailable != nil {
		return *policy.MinAvailable, true, "spec.schedulingPolicy.minAvailable"
	}
	// A PodGroup without minMember has 0 there.
	return wish.MinMember, wish.MinMember != 0, "spec.minMember of the PodGroup " + job.Name
}

// queue is the job's queue, and where that is written.
func queue(job *v1.PaddleJob, wish Wish) (name, field string) {
	if policy := job.Spec.SchedulingPolicy; policy != nil && policy.Queue != "" {
		return policy.Queue, "spec.schedulingPolicy.queue"
	}
	return cmp.Or(wish.Queue, defaultQueue), "spec.queue of the PodGroup " + job.Name
}

// priorityClass is the job's priority class, "" for none, and where it is written.
func priorityClass(job *v1.PaddleJob, wish Wish) (name, field string) {
	if policy := job.Spec.SchedulingPolicy; policy != nil && policy.PriorityClass != "" {
		return policy.PriorityClass, "spec.schedulingPolicy.priorityClass"
	}
	return wish.PriorityClassName, "spec.priorityClassName of the PodGroup " + job.Name
}

// total is the number of pods of a job.
func total(job *v1.PaddleJob) int64 {
	var sum int64
	for _, r := range roles(job) {
		sum += int64(r.replicas())
	}
	return sum
}

// members is how many pods of each role the gang needs at least: every server, because each holds a part of the model,
// and of the workers what is left of the minimum, but never none.
func members(job *v1.PaddleJob, wish Wish) map[string]int32 {
	least := map[string]int32{}
	for _, r := range roles(job) {
		least[r.name] = r.replicas()
	}
	if value, set, _ := minimum(job, wish); set {
		workers := int64(value) - int64(least[RolePS])
		least[RoleWorker] = int32(min(max(workers, 1), int64(least[RoleWorker])))
	}
	return least
}
