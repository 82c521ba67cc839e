// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/klog/v2"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"
	"volcano.sh/volcano/pkg/scheduler/plugins/util"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
)

// starving votes in JobStarving: a Paddle job may preempt and reclaim while it is below a minimum and the other plugins agree.
func (p *plugin) starving(obj any) bool {
	p.victims.commitRemainders()
	var stock bool
	p.withStockTiers(func() { stock = p.ssn.JobStarving(obj) })
	job, gang, ok := p.gang(obj)
	return stock && (!ok || belowMinimum(job, gang))
}

// belowMinimum reports whether a job is below a minimum. Pods count that run, are placed or wait for victims to end.
func belowMinimum(job *api.JobInfo, g paddlejob.Gang) bool {
	placed := map[string]int32{}
	var total int32
	for status, tasks := range job.TaskStatusIndex {
		if !paddlejob.Occupies(status) && status != api.Pipelined {
			continue
		}
		for _, task := range tasks {
			placed[task.TaskRole]++
			total++
		}
	}
	for _, group := range g {
		if placed[group.Task] < group.Min {
			return true
		}
	}
	return total < job.MinAvailable || !job.CheckSubJobPipelined()
}

// votePipelined votes in JobPipelined before the plugins of any tier: the evictions for a job are kept if its minimums are met
// and the other plugins agree. Preempt and reclaim end their Statement next, so that the remainders of gangs are evicted here.
func (p *plugin) votePipelined(obj any) int {
	p.victims.commitRemainders()
	defer clear(p.victims.selected)
	var stock bool
	p.withStockTiers(func() { stock = p.ssn.JobPipelined(obj) })
	job, ok := obj.(*api.JobInfo)
	if !stock || !ok || on(p.tiers.configured.EnabledJobPipelined) && p.jobPipelined(job) == util.Reject {
		return util.Reject
	}
	p.victims.evictRemainders()
	return util.Permit
}

func on(enabled *bool) bool { return enabled != nil && *enabled }

// evictedPod is a pod of a gang that an action has evicted in its Statement.
type evictedPod struct {
	task *api.TaskInfo
	// open is the task's LastTransaction until the Statement ends: Statement.Commit clears it.
	open      *api.TransactionContext
	preemptor *api.JobInfo
}

// committed reports whether the Statement that evicted the pod was committed.
func (m evictedPod) committed() bool { return m.task.LastTransaction != m.open }

// onDeallocate records that a pod was evicted. The action may restore it. Evictions put the node's copy of a pod into the job,
// without the role that gang.hold gave it.
//
// Only a pod that the selector returned disrupts its gang. Volcano's shuffle evicts pods that other plugins selected, each for
// itself and outside any Statement.
func (v *victimSelector) onDeallocate(event *framework.Event) {
	task := event.Task
	v.invalidate(task)
	if task.Status != api.Releasing {
		return
	}
	v.evictedPods[task.UID] = task
	if v.gang(task.Job) == nil {
		return
	}
	task.TaskRole, _ = paddlejob.TaskName(task, v.taskRoles)
	preemptor := v.selected[task.UID]
	if v.evicting || preemptor == nil {
		return
	}
	open := task.GetTransactionContext()
	task.LastTransaction = &open
	if v.evicted[task.Job] == nil {
		v.evicted[task.Job] = map[api.TaskID]evictedPod{}
	}
	v.evicted[task.Job][task.UID] = evictedPod{task: task, open: &open, preemptor: preemptor}
	v.invalidateNodes(task.Job)
}

// onAllocate records that a pod was placed or restored. The remainder of its gang is restored with it, unless the gang is
// disrupted by other pods.
func (v *victimSelector) onAllocate(event *framework.Event) {
	task := event.Task
	v.invalidate(task)
	delete(v.evictedPods, task.UID)
	if _, evicted := v.evicted[task.Job][task.UID]; !evicted {
		return
	}
	delete(v.evicted[task.Job], task.UID)
	v.invalidateNodes(task.Job)
	if remainder := v.remainders[task.Job]; len(remainder) > 0 && !v.evictability(task.Job).disrupted {
		delete(v.remainders, task.Job)
		v.evicting = true
		for _, id := range slices.Sorted(maps.Keys(remainder)) {
			remainder[id].Discard()
		}
		v.evicting = false
	}
}

// invalidate discards the results that depend on a pod.
func (v *victimSelector) invalidate(task *api.TaskInfo) {
	delete(v.evictabilities, task.Job)
	if len(v.evictable)+len(v.cheaperElsewhere) > 0 {
		clear(v.evictable)
		clear(v.cheaperElsewhere)
	}
	for _, disruptive := range v.disruptiveNodes {
		delete(disruptive, task.NodeName)
	}
}

// invalidateNodes discards the results about nodes with pods of a gang that is disrupted now.
func (v *victimSelector) invalidateNodes(id api.JobID) {
	for _, disruptive := range v.disruptiveNodes {
		for _, task := range v.ssn.Jobs[id].Tasks {
			delete(disruptive, task.NodeName)
		}
	}
}

// commitRemainders commits the eviction of the remainder of each gang whose evicted pods are in committed Statements. It is
// called at the first vote after a Statement has ended, and when the session closes.
//
// When the session closes, other plugins may be closed already. They are called only if the cache rejects an eviction: Volcano
// restores the pod then, and their handlers may panic. Each pod has a Statement of its own, so that the others are evicted.
func (v *victimSelector) commitRemainders() {
	for _, id := range slices.Sorted(maps.Keys(v.remainders)) {
		open := false
		for _, m := range v.evicted[id] {
			open = open || !m.committed()
		}
		if open {
			continue
		}
		remainder := v.remainders[id]
		delete(v.remainders, id)
		v.completed[id] = true
		for _, task := range slices.Sorted(maps.Keys(remainder)) {
			commit(v.ssn.Jobs[id].Tasks[task], remainder[task])
		}
		klog.InfoS("Evicted the rest of a gang", "job", id, "pods", len(remainder))
	}
}

func commit(task *api.TaskInfo, statement *framework.Statement) {
	defer func() {
		if value := recover(); value != nil {
			klog.ErrorS(nil, "Failed to restore a pod whose eviction the cache rejected", "pod", klog.KObj(task.Pod), "panic", value)
		}
	}()
	statement.Commit()
}

// evictRemainders evicts the remainder of each disrupted gang in Statements that are committed or discarded as the action does
// with its own. It is called after the action has selected its victims: reclaim skips nodes of which all pods are evicted.
func (v *victimSelector) evictRemainders() {
	v.evicting = true
	defer func() { v.evicting = false }()
	for _, id := range slices.Sorted(maps.Keys(v.evicted)) {
		s := v.evictability(id)
		if !s.disrupted || v.completed[id] || len(v.remainders[id]) > 0 {
			continue
		}
		first := firstEvicted(v.evicted[id])
		reason := fmt.Sprintf("its gang, which goes as a whole: %s makes room for job %s/%s",
			first.task.Name, first.preemptor.Namespace, first.preemptor.Name)
		v.remainders[id] = map[api.TaskID]*framework.Statement{}
		for _, task := range s.members {
			statement := framework.NewStatement(v.ssn)
			if err := statement.Evict(task, reason); err != nil {
				klog.ErrorS(err, "Failed to evict a pod whose gang is evicted; if it still runs, delete it", "pod", klog.KObj(task.Pod))
				continue
			}
			v.remainders[id][task.UID] = statement
		}
	}
}

// firstEvicted returns the first by name of the evicted pods, of those whose Statement has not ended if there are any.
func firstEvicted(evicted map[api.TaskID]evictedPod) evictedPod {
	all := slices.SortedFunc(maps.Values(evicted), func(a, b evictedPod) int { return compareNames(a.task, b.task) })
	if at := slices.IndexFunc(all, func(m evictedPod) bool { return !m.committed() }); at >= 0 {
		return all[at]
	}
	return all[0]
}
