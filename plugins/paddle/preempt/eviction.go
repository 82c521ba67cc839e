// SPDX-License-Identifier: Apache-2.0

package preempt

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/klog/v2"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
)

// onDeallocate records that a pod was evicted. The action may restore it. Evictions put the node's copy of a pod into the job,
// without the role that Gang.Apply gave it.
//
// Only a pod that the selector returned disrupts its gang. Volcano's shuffle evicts pods that other plugins selected, each for
// itself and outside any Statement.
func (s *Selector) onDeallocate(event *framework.Event) {
	task := event.Task
	s.invalidate(task)
	if task.Status != api.Releasing {
		return
	}
	s.evictedPods[task.UID] = task
	if s.gang(task.Job) == nil {
		return
	}
	task.TaskRole, _ = paddlejob.TaskName(task, s.taskRoles)
	if !s.selected[task.UID] {
		return
	}
	if s.evicted[task.Job] == nil {
		s.evicted[task.Job] = map[api.TaskID]*api.TaskInfo{}
	}
	s.evicted[task.Job][task.UID] = task
	s.invalidateNodes(task.Job)
}

// onAllocate records that a pod was placed or restored. The remainder of its gang is restored with it, unless the gang is
// disrupted by other pods.
func (s *Selector) onAllocate(event *framework.Event) {
	task := event.Task
	s.invalidate(task)
	delete(s.evictedPods, task.UID)
	if _, evicted := s.evicted[task.Job][task.UID]; !evicted {
		return
	}
	delete(s.evicted[task.Job], task.UID)
	s.invalidateNodes(task.Job)
	if remainder := s.remainders[task.Job]; len(remainder) > 0 && !s.evictability(task.Job).disrupted {
		delete(s.remainders, task.Job)
		for _, id := range slices.Sorted(maps.Keys(remainder)) {
			remainder[id].Discard()
		}
	}
}

// invalidate discards the answers that depend on a pod.
func (s *Selector) invalidate(task *api.TaskInfo) {
	delete(s.evictabilities, task.Job)
	for _, known := range s.answers {
		clear(known.evictable)
		known.hasCheaperNode = nil
		delete(known.disruptiveNodes, task.NodeName)
	}
}

// invalidateNodes discards the answers about nodes with pods of a gang that is disrupted now, or no longer.
func (s *Selector) invalidateNodes(id api.JobID) {
	for _, known := range s.answers {
		for _, task := range s.ssn.Jobs[id].Tasks {
			delete(known.disruptiveNodes, task.NodeName)
		}
	}
}

// evictRemainders evicts the remainder of each disrupted gang in Statements that are committed or discarded as the action does
// with its own. It is called after the action has selected its victims: reclaim skips nodes of which all pods are evicted.
func (s *Selector) evictRemainders(preemptor *api.JobInfo) {
	reason := fmt.Sprintf("gang preempted by job %s/%s", preemptor.Namespace, preemptor.Name)
	for _, id := range slices.Sorted(maps.Keys(s.evicted)) {
		e := s.evictability(id)
		if !e.disrupted || len(e.members) == 0 || s.remainders[id] != nil {
			continue
		}
		s.remainders[id] = map[api.TaskID]*framework.Statement{}
		for _, task := range e.members {
			statement := framework.NewStatement(s.ssn)
			if err := statement.Evict(task, reason); err != nil {
				klog.ErrorS(err, "Failed to evict a pod whose gang is evicted; if it still runs, delete it", "pod", klog.KObj(task.Pod))
				continue
			}
			s.remainders[id][task.UID] = statement
		}
	}
}

// commitRemainders commits the eviction of the remainders of gangs. It is called when the action's Statement has ended: at the
// first vote afterwards, and when the session closes.
//
// When the session closes, other plugins may be closed already. They are called only if the cache rejects an eviction: Volcano
// restores the pod then, and their handlers may panic. Each pod has a Statement of its own, so that the others are evicted.
func (s *Selector) commitRemainders() {
	for _, id := range slices.Sorted(maps.Keys(s.remainders)) {
		remainder := s.remainders[id]
		delete(s.remainders, id)
		for _, task := range slices.Sorted(maps.Keys(remainder)) {
			commit(s.ssn.Jobs[id].Tasks[task], remainder[task])
		}
		klog.InfoS("Evicted the rest of a gang", "job", id, "pods", len(remainder))
	}
}

// commit commits the Statement that evicts a pod. A panic is logged.
func commit(task *api.TaskInfo, statement *framework.Statement) {
	defer func() {
		if value := recover(); value != nil {
			klog.ErrorS(nil, "Failed to restore a pod whose eviction the cache rejected", "pod", klog.KObj(task.Pod), "panic", value)
		}
	}()
	statement.Commit()
}
