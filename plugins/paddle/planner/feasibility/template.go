// SPDX-License-Identifier: Apache-2.0

package feasibility

import (
	corev1 "k8s.io/api/core/v1"
	v1helper "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/helper"
	"volcano.sh/volcano/pkg/scheduler/conf"
	"volcano.sh/volcano/pkg/scheduler/framework"
	"volcano.sh/volcano/pkg/scheduler/plugins/predicates"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// Filters are the filters of Kubernetes that Volcano's plugin predicates applies to a pod template.
type Filters struct {
	Enabled         bool // the plugin is
	NodeAffinity    bool
	TaintToleration bool
}

// FiltersOf returns the filters that a configuration enables.
func FiltersOf(tiers []conf.Tier) (f Filters) {
	for _, tier := range tiers {
		for i := range tier.Plugins {
			if option := &tier.Plugins[i]; option.Name == predicates.PluginName && option.EnabledPredicate != nil && *option.EnabledPredicate {
				f = Filters{Enabled: true, NodeAffinity: true, TaintToleration: true}
				framework.Arguments(option.Arguments).GetBool(&f.NodeAffinity, predicates.NodeAffinityEnable)
				framework.Arguments(option.Arguments).GetBool(&f.TaintToleration, predicates.TaintTolerationEnable)
			}
		}
	}
	return f
}

// Matches reports whether a node matches the node selector and the required node affinity of a pod.
func (f Filters) Matches(node *corev1.Node, required nodeaffinity.RequiredNodeAffinity) bool {
	if !f.NodeAffinity {
		return true
	}
	match, err := required.Match(node)
	return match && err == nil
}

func (f Filters) permit(node *corev1.Node, required nodeaffinity.RequiredNodeAffinity, tolerations []corev1.Toleration) bool {
	if !f.Matches(node, required) {
		return false
	}
	if !f.TaintToleration {
		return true
	}
	_, untolerated := v1helper.FindMatchingUntoleratedTaint(node.Spec.Taints, tolerations, helper.DoNotScheduleTaintsFilterFunc())
	return !untolerated
}

// permittedNodes returns the nodes that the template of a pod permits; nil is the set of all nodes. They depend on nothing but
// node selector, node affinity and tolerations.
func (c *Checker) permittedNodes(pod *corev1.Pod) *placement.NodeSet {
	read := corev1.PodSpec{NodeSelector: pod.Spec.NodeSelector, Tolerations: pod.Spec.Tolerations}
	if pod.Spec.Affinity != nil {
		read.Affinity = &corev1.Affinity{NodeAffinity: pod.Spec.Affinity.NodeAffinity}
	}
	template, err := read.Marshal()
	if err != nil { // impossible with these types; the predicates are called for each node
		return nil
	}
	set, ok := c.permitted[string(template)]
	if !ok {
		set = c.findPermitted(pod)
		c.permitted[string(template)] = set
	}
	return set
}

func (c *Checker) findPermitted(pod *corev1.Pod) *placement.NodeSet {
	required := nodeaffinity.GetRequiredNodeAffinity(pod)
	set, all := placement.NewNodeSet(c.Topology), true
	for id := range placement.NodeID(c.Topology.Nodes()) {
		node := c.Nodes[c.Topology.NodeName(id)]
		// Predicates decide about a node that the session does not have.
		if node == nil || node.Node == nil || c.Filters.permit(node.Node, required, pod.Spec.Tolerations) {
			set.Add(id)
		} else {
			all = false
		}
	}
	if all {
		return nil
	}
	return set
}
