// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/klog/v2"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
)

// evictedPod is a pod of a gang that an action evicted in its Statement.
type evictedPod struct {
	task *api.TaskInfo
	// open is the task's LastTransaction until the Statement ends: Statement.Commit clears it.
	open      *api.TransactionContext
	preemptor *api.JobInfo
}

// committed reports whether the Statement that evicted the pod was committed.
func (m evictedPod) committed() bool { return m.task.LastTransaction != m.open }

// onDeallocate notes that a pod was evicted, for the time being: the action takes it back if it does not get all the room
// that it needs. Evictions put the node's copy of a pod into the job, without the name that gang.hold gave it.
//
// Only a pod that the plugin offered takes its gang with it. Volcano's shuffle evicts pods that other plugins chose, each
// for itself, and outside any Statement.
func (v *victims) onDeallocate(event *framework.Event) {
	task := event.Task
	v.forget(task)
	if task.Status != api.Releasing {
		return
	}
	v.gone[task.UID] = task
	if v.gang(task.Job) == nil {
		return
	}
	task.TaskRole, _ = paddlejob.TaskName(task, v.taskRoles)
	preemptor := v.offered[task.UID]
	if v.following || preemptor == nil {
		return
	}
	open := task.GetTransactionContext()
	task.LastTransaction = &open
	if v.evicted[task.Job] == nil {
		v.evicted[task.Job] = map[api.TaskID]evictedPod{}
	}
	v.evicted[task.Job][task.UID] = evictedPod{task: task, open: &open, preemptor: preemptor}
	v.forgetNodes(task.Job)
}

// onAllocate notes that a pod was placed, or its eviction taken back. The rest of its gang is taken back with it, unless
// others of its pods are evicted that the gang cannot miss.
func (v *victims) onAllocate(event *framework.Event) {
	task := event.Task
	v.forget(task)
	delete(v.gone, task.UID)
	if _, evicted := v.evicted[task.Job][task.UID]; !evicted {
		return
	}
	delete(v.evicted[task.Job], task.UID)
	v.forgetNodes(task.Job)
	if rest := v.rests[task.Job]; len(rest) > 0 && !v.standing(task.Job).broken {
		delete(v.rests, task.Job)
		v.following = true
		for _, id := range slices.Sorted(maps.Keys(rest)) {
			rest[id].Discard()
		}
		v.following = false
	}
}

// forget forgets what was worked out from a state that is no longer so.
func (v *victims) forget(task *api.TaskInfo) {
	delete(v.standings, task.Job)
	if len(v.wholes)+len(v.elsewhere) > 0 {
		clear(v.wholes)
		clear(v.elsewhere)
	}
	for _, dear := range v.dear {
		delete(dear, task.NodeName)
	}
}

// forgetNodes forgets that nodes with pods of a gang have no room without breaking a gang: this one may be broken now.
func (v *victims) forgetNodes(id api.JobID) {
	for _, dear := range v.dear {
		for _, task := range v.ssn.Jobs[id].Tasks {
			delete(dear, task.NodeName)
		}
	}
}

// commit evicts for good the rest of each gang whose evicted pods are in committed Statements. It is called when the plugin
// is asked for the next time after a Statement was ended, and when the session closes.
//
// When the session closes, other plugins may be closed already. They are not asked then, except when the cache refuses an
// eviction: Volcano takes it back, and their handlers may panic. Each pod has a Statement of its own, so that the
// others are evicted nevertheless.
func (v *victims) commit() {
	for _, id := range slices.Sorted(maps.Keys(v.rests)) {
		open := false
		for _, m := range v.evicted[id] {
			open = open || !m.committed()
		}
		if open {
			continue
		}
		rest := v.rests[id]
		delete(v.rests, id)
		v.ended[id] = true
		for _, task := range slices.Sorted(maps.Keys(rest)) {
			commit(v.ssn.Jobs[id].Tasks[task], rest[task])
		}
		klog.InfoS("Evicted the rest of a gang", "job", id, "pods", len(rest))
	}
}

func commit(task *api.TaskInfo, statement *framework.Statement) {
	defer func() {
		if cause := recover(); cause != nil {
			klog.ErrorS(nil, "Failed to take back an eviction that the cache refused", "pod", klog.KObj(task.Pod), "panic", cause)
		}
	}()
	statement.Commit()
}

// follow evicts, for the time being, the rest of each gang that does not train without the pods that were evicted. The rest
// goes or stays as they do. It is not evicted before it is known whom an action evicts: reclaim passes by nodes of which
// all pods are evicted already, also if they have room.
func (v *victims) follow() {
	v.following = true
	defer func() { v.following = false }()
	for _, id := range slices.Sorted(maps.Keys(v.evicted)) {
		s := v.standing(id)
		if !s.broken || v.ended[id] || len(v.rests[id]) > 0 {
			continue
		}
		first := firstEvicted(v.evicted[id])
		reason := fmt.Sprintf("its gang, which goes as a whole: %s makes room for job %s/%s",
			first.task.Name, first.preemptor.Namespace, first.preemptor.Name)
		v.rests[id] = map[api.TaskID]*framework.Statement{}
		for _, task := range s.members {
			statement := framework.NewStatement(v.ssn)
			if err := statement.Evict(task, reason); err != nil {
				klog.ErrorS(err, "Failed to evict a pod whose gang is evicted; if it still runs, delete it", "pod", klog.KObj(task.Pod))
				continue
			}
			v.rests[id][task.UID] = statement
		}
	}
}

// firstEvicted is the first by name of some evicted pods, if there are any of those whose Statement has not ended.
func firstEvicted(evicted map[api.TaskID]evictedPod) evictedPod {
	all := slices.SortedFunc(maps.Values(evicted), func(a, b evictedPod) int { return compareNames(a.task, b.task) })
	if at := slices.IndexFunc(all, func(m evictedPod) bool { return !m.committed() }); at >= 0 {
		return all[at]
	}
	return all[0]
}
