// SPDX-License-Identifier: Apache-2.0

package preempt

import (
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"
	"volcano.sh/volcano/pkg/scheduler/plugins/pdb"
)

// budget is a PodDisruptionBudget.
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

// pdbEnabled reports whether the plugin pdb is enabled for an action.
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
