// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/klog/v2"
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

// budgets is the PodDisruptionBudgets that evictions for a purpose must keep: all where Volcano's plugin pdb is enabled for
// it, else none. The plugin itself counts the pods of one question; a gang and what was evicted before are more than that.
func (v *victims) budgets(why purpose) []budget {
	v.mu.Lock()
	defer v.mu.Unlock()
	if known, ok := v.budgeted[why]; ok {
		return known
	}
	var found []budget
	if guarded(v.ssn, why) {
		listed, err := v.ssn.InformerFactory().Policy().V1().PodDisruptionBudgets().Lister().List(labels.Everything())
		if err != nil {
			klog.ErrorS(err, "Failed to list PodDisruptionBudgets; only the plugin pdb counts them in this session")
		}
		found = newBudgets(listed)
	}
	v.budgeted[why] = found
	return found
}

// guarded reports whether the plugin pdb is enabled for a purpose.
func guarded(ssn *framework.Session, why purpose) bool {
	for _, tier := range ssn.Tiers {
		for _, plugin := range tier.Plugins {
			enabled := plugin.EnabledPreemptable
			if why == reclaiming {
				enabled = plugin.EnabledReclaimable
			}
			if plugin.Name == pdb.PluginName && on(enabled) {
				return true
			}
		}
	}
	return false
}

// newBudgets reads PodDisruptionBudgets as the plugin pdb does: one without a selector that says anything has no pods.
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

// kept reports whether all budgets allow that some pods go beside those that went before. A budget that those before have
// exceeded is no reason to keep pods that it does not select.
func kept(budgets []budget, before, tasks []*api.TaskInfo) bool {
	return !slices.ContainsFunc(budgets, func(b budget) bool {
		more := b.count(tasks)
		return more > 0 && b.count(before)+more > b.allowed
	})
}

// count is the number of pods that a budget has to allow.
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
