// SPDX-License-Identifier: Apache-2.0

package render

import (
	"cmp"

	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

// defaultQueue is the queue that Volcano makes and that its webhook writes into Jobs that name none.
const defaultQueue = "default"

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
	// As Volcano does, a PodGroup in the default queue is one that names none: its CRD fills that in.
	if wish.NamespaceQueue != "" && (wish.Queue == "" || wish.Queue == defaultQueue) {
		return wish.NamespaceQueue, "annotation " + vcscheduling.QueueNameAnnotationKey + " of the namespace " + job.Namespace
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

// members is how many pods of each role the gang needs at least: every server and every heterogeneous worker, because
// each holds a part of the model, and of the workers what is left of the minimum, but never fewer than training needs:
// one, and if they are elastic the least number of them, which is then also what no minimum means.
func members(job *v1.PaddleJob, wish Wish) map[string]int32 {
	least := map[string]int32{}
	for _, r := range roles(job) {
		least[r.name] = r.replicas()
	}
	workers := int64(least[RoleWorker])
	if workers == 0 {
		return least
	}
	floor := int64(1)
	value, set, _ := minimum(job, wish)
	if Elastic(job) {
		bound, _ := Bounds(job)
		floor = max(int64(bound), 1)
		workers = floor
	}
	if set {
		workers = max(int64(value)-int64(least[RolePS])-int64(least[RoleHeter]), floor)
	}
	least[RoleWorker] = int32(min(workers, int64(least[RoleWorker])))
	return least
}
