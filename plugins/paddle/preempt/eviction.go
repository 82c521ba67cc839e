// SPDX-License-Identifier: Apache-2.0

package preempt

import (
	"fmt"
	"maps"
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"
	"volcano.sh/volcano/pkg/scheduler/plugins/pdb"

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

// commitRemainders commits the eviction of the remainders of gangs. It is called when the action's Statement is complete: at the
// first vote afterwards, and when the session closes.
//
// When the session closes, other plugins may be closed already. They are called only if the cache rejects an eviction: Volcano
// restores the pod then, and their handlers may panic. Each pod has a separate Statement, so that the others are evicted.
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

type budget struct {
	namespace string
	selector  labels.Selector
	allowed   int
	disrupted map[string]metav1.Time // pods that the API server has counted already
}

// budgets returns the PodDisruptionBudgets that evictions must keep: all where Volcano's plugin pdb is enabled for the action,
// else none. The plugin itself counts only the pods of one call, not the other pods of a gang and those evicted before.
func (s *Selector) budgets(k kind) []budget {
	if known, ok := s.budgetsByKind[k]; ok {
		return known
	}
	var found []budget
	if pdbEnabled(s.ssn, k) {
		listed, err := s.ssn.InformerFactory().Policy().V1().PodDisruptionBudgets().Lister().List(labels.Everything())
		if err != nil {
			klog.ErrorS(err, "Failed to list PodDisruptionBudgets; only the plugin pdb counts them in this session")
		}
		found = newBudgets(listed)
	}
	s.budgetsByKind[k] = found
	return found
}

func pdbEnabled(ssn *framework.Session, k kind) bool {
	for _, tier := range ssn.Tiers {
		for _, plugin := range tier.Plugins {
			enabled := plugin.EnabledPreemptable
			if k == reclaiming {
				enabled = plugin.EnabledReclaimable
			}
			if plugin.Name == pdb.PluginName && ptr.Deref(enabled, false) {
				return true
			}
		}
	}
	return false
}

// newBudgets reads PodDisruptionBudgets as the plugin pdb does: one with an empty selector has no pods.
func newBudgets(listed []*policyv1.PodDisruptionBudget) []budget {
	var all []budget
	for _, one := range listed {
		selector, err := metav1.LabelSelectorAsSelector(one.Spec.Selector)
		if err != nil || selector.Empty() {
			continue
		}
		all = append(all, budget{one.Namespace, selector, int(one.Status.DisruptionsAllowed), one.Status.DisruptedPods})
	}
	return all
}

// withinBudgets reports whether all budgets allow to evict pods in addition to those evicted before. A budget that is exceeded
// already does not keep pods that it does not select.
func withinBudgets(budgets []budget, before, tasks []*api.TaskInfo) bool {
	return !slices.ContainsFunc(budgets, func(b budget) bool {
		more := b.count(tasks)
		return more > 0 && b.count(before)+more > b.allowed
	})
}

// count returns the number of pods that a budget must allow.
func (b budget) count(tasks []*api.TaskInfo) int {
	n := 0
	for _, task := range tasks {
		_, counted := b.disrupted[task.Name]
		if task.Namespace == b.namespace && !counted && b.selector.Matches(labels.Set(task.Pod.Labels)) {
			n++
		}
	}
	return n
}
