// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/klog/v2"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"
)

// onDeallocate notes that a pod was evicted, for the time being: the action takes it back if it does not get all the room
// that it needs. Evictions put the node's copy of a pod into the job, without the name that gang.hold gave it.
func (v *victims) onDeallocate(event *framework.Event) {
	task := event.Task
	v.forget(task.Job)
	if task.Status != api.Releasing || v.gang(task.Job) == nil {
		return
	}
	task.TaskRole, _ = taskName(task, v.taskRoles)
	if v.evicted[task.Job] == nil {
		v.evicted[task.Job] = map[api.TaskID]bool{}
	}
	v.evicted[task.Job][task.UID] = true
}

// onAllocate notes that a pod was placed, or its eviction taken back.
func (v *victims) onAllocate(event *framework.Event) {
	v.forget(event.Task.Job)
	delete(v.evicted[event.Task.Job], event.Task.UID)
}

// forget forgets what was worked out from a state that is no longer so.
func (v *victims) forget(job api.JobID) {
	delete(v.standings, job)
	if len(v.wholes)+len(v.elsewhere) > 0 {
		clear(v.wholes)
		clear(v.elsewhere)
	}
}

// finish evicts the rest of each gang that was broken for a job. It is called at the last moment at which evictions of an
// action are certain: what other pods of the job asked for has been found, and if it had not, none of them would be left.
// Later, when the session closes, other plugins are closed already and cannot follow.
func (v *victims) finish(preemptor *api.JobInfo) {
	for _, id := range slices.Sorted(maps.Keys(v.evicted)) {
		s := v.standing(id)
		if !s.broken || len(s.members) == 0 {
			continue
		}
		job := v.ssn.Jobs[id]
		reason := fmt.Sprintf("its gang, which goes as a whole: %s makes room for job %s/%s",
			first(job, v.evicted[id]), preemptor.Namespace, preemptor.Name)
		for _, task := range s.members {
			if err := v.ssn.Evict(task, reason); err != nil {
				klog.ErrorS(err, "Failed to evict a pod whose gang is evicted; if it still runs, delete it", "pod", klog.KObj(task.Pod))
			}
		}
		klog.InfoS("Evicted the rest of a gang", "job", id, "pods", len(s.members), "reason", reason)
	}
}

// first is the name of the first of some pods of a job.
func first(job *api.JobInfo, pods map[api.TaskID]bool) string {
	var names []string
	for id := range pods {
		names = append(names, job.Tasks[id].Name)
	}
	return slices.Min(names)
}
