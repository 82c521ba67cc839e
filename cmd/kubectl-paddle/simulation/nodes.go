// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	topology "volcano.sh/apis/pkg/apis/topology/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/plan"
)

// without removes nodes and what runs on them.
func (c *cluster) without(names []string) error {
	for _, name := range names {
		if !slices.ContainsFunc(c.Nodes, func(n *corev1.Node) bool { return n.Name == name }) {
			return fmt.Errorf("plan without node %s: %w: the cluster has no node of that name", name, plan.ErrNotFound)
		}
		c.Nodes = slices.DeleteFunc(c.Nodes, func(n *corev1.Node) bool { return n.Name == name })
		c.Pods = slices.DeleteFunc(c.Pods, func(p *corev1.Pod) bool {
			removed := p.Spec.NodeName == name
			if removed && p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed {
				c.displaced = append(c.displaced, p)
			}
			return removed
		})
	}
	return nil
}

// add adds copies of a node to its domains: of the named one, or of the first of the largest group of equal nodes.
func (c *cluster) add(count int, like string) error {
	if count == 0 {
		return nil
	}
	model := c.model(like)
	if model == nil {
		if like == "" {
			return fmt.Errorf("plan with %d more nodes: %w: the cluster has no node to copy", count, plan.ErrNotFound)
		}
		return fmt.Errorf("plan with nodes like %s: %w: the cluster has no node of that name", like, plan.ErrNotFound)
	}
	for i := range count {
		added := model.DeepCopy()
		added.Name = fmt.Sprintf("%s-added-%d", model.Name, i+1)
		added.UID = types.UID(added.Name)
		if _, ok := added.Labels[corev1.LabelHostname]; ok {
			added.Labels[corev1.LabelHostname] = added.Name
		}
		c.Nodes = append(c.Nodes, added)
		c.join(model.Name, added.Name)
	}
	c.note("%d nodes are added, copies of %s with the same place in the network", count, model.Name)
	return nil
}

// model returns the node of a name, or the first of the largest group of nodes that are equal to the scheduler.
func (c *cluster) model(like string) *corev1.Node {
	groups := map[string][]*corev1.Node{}
	for _, n := range c.Nodes {
		if n.Name == like {
			return n
		}
		if usable(n) {
			key, err := json.Marshal([]any{n.Status.Allocatable, n.Spec.Taints})
			if err == nil {
				groups[string(key)] = append(groups[string(key)], n)
			}
		}
	}
	if like != "" || len(groups) == 0 {
		return nil
	}
	first := func(key string) *corev1.Node {
		return slices.MinFunc(groups[key], func(a, b *corev1.Node) int { return cmp.Compare(a.Name, b.Name) })
	}
	return first(slices.MinFunc(slices.Collect(maps.Keys(groups)), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(groups[b]), len(groups[a])), cmp.Compare(first(a).Name, first(b).Name))
	}))
}

// usable reports whether a node takes pods.
func usable(n *corev1.Node) bool {
	ready := slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
	return ready && !n.Spec.Unschedulable
}

// join adds a node to the HyperNodes that name its model. Those that select by labels have it already.
func (c *cluster) join(model, added string) {
	for i, hyper := range c.HyperNodes {
		for _, member := range hyper.Spec.Members {
			if member.Type == topology.MemberTypeNode && member.Selector.ExactMatch != nil && member.Selector.ExactMatch.Name == model {
				hyper = hyper.DeepCopy()
				hyper.Spec.Members = append(hyper.Spec.Members, topology.MemberSpec{
					Type: topology.MemberTypeNode, Selector: topology.MemberSelector{ExactMatch: &topology.ExactMatch{Name: added}},
				})
				c.HyperNodes[i] = hyper
				break
			}
		}
	}
}
