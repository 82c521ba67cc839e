// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	topologyv1alpha1 "volcano.sh/apis/pkg/apis/topology/v1alpha1"
)

// byHyperNodes are the tiers that HyperNodes make: one for each number that one of them has which holds a node.
func (t *Tree) byHyperNodes(nodes []*corev1.Node, hypers []topologyv1alpha1.HyperNode) (levels []level) {
	r := &resolver{nodes: nodes, hypers: map[string]*topologyv1alpha1.HyperNode{}, held: map[string]map[string]bool{}}
	for i := range hypers {
		r.hypers[hypers[i].Name] = &hypers[i]
	}
	sorted := slices.Clone(hypers)
	slices.SortFunc(sorted, func(a, b topologyv1alpha1.HyperNode) int {
		return cmp.Or(cmp.Compare(a.Spec.Tier, b.Spec.Tier), cmp.Compare(a.Name, b.Name))
	})
	somewhere, twice := map[string]bool{}, 0
	number := 0
	for i := range sorted {
		h := &sorted[i]
		held := r.hold(h.Name)
		if len(held) == 0 {
			continue
		}
		if len(levels) == 0 || h.Spec.Tier != number {
			number = h.Spec.Tier
			levels = append(levels, level{name: "tier " + strconv.Itoa(number), domains: map[string]string{}})
		}
		l := &levels[len(levels)-1]
		if h.Spec.TierName != "" && (l.name == "tier "+strconv.Itoa(number) || h.Spec.TierName < l.name) {
			l.name = h.Spec.TierName
		}
		for node := range held {
			somewhere[node] = true
			if l.domains[node] != "" {
				twice++
				continue
			}
			l.domains[node] = h.Name
		}
	}
	if len(levels) == 0 {
		return nil
	}
	t.Source = HyperNodes
	if outside := len(nodes) - len(somewhere); outside > 0 {
		t.note("%d of %d nodes are in no HyperNode", outside, len(nodes))
	}
	if twice > 0 {
		t.note("%d nodes are in two HyperNodes of one tier, of which the first by name is shown", twice)
	}
	return levels
}

// resolver finds the nodes of HyperNodes, which may hold others.
type resolver struct {
	nodes  []*corev1.Node
	hypers map[string]*topologyv1alpha1.HyperNode
	held   map[string]map[string]bool
}

// hold are the cluster's nodes that a HyperNode holds. One that holds itself holds nothing by that.
func (r *resolver) hold(name string) map[string]bool {
	if held, ok := r.held[name]; ok {
		return held
	}
	held := map[string]bool{}
	r.held[name] = held
	h := r.hypers[name]
	if h == nil || h.DeletionTimestamp != nil {
		return held
	}
	for i := range h.Spec.Members {
		m := &h.Spec.Members[i]
		if m.Type == topologyv1alpha1.MemberTypeHyperNode {
			if m.Selector.ExactMatch != nil {
				for node := range r.hold(m.Selector.ExactMatch.Name) {
					held[node] = true
				}
			}
			continue
		}
		matches := matcher(m.Selector)
		for _, node := range r.nodes {
			if matches(node) {
				held[node.Name] = true
			}
		}
	}
	return held
}

// matcher says whether a node is meant; what Volcano cannot read means none.
func matcher(s topologyv1alpha1.MemberSelector) func(*corev1.Node) bool {
	switch {
	case s.ExactMatch != nil:
		return func(node *corev1.Node) bool { return node.Name == s.ExactMatch.Name }
	case s.RegexMatch != nil:
		if pattern, err := regexp.Compile(s.RegexMatch.Pattern); err == nil {
			return func(node *corev1.Node) bool { return pattern.MatchString(node.Name) }
		}
	case s.LabelMatch != nil && len(s.LabelMatch.MatchLabels)+len(s.LabelMatch.MatchExpressions) > 0:
		if selector, err := metav1.LabelSelectorAsSelector(s.LabelMatch); err == nil {
			return func(node *corev1.Node) bool { return selector.Matches(labels.Set(node.Labels)) }
		}
	}
	return func(*corev1.Node) bool { return false }
}
