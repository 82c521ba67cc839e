// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	topologyv1alpha1 "volcano.sh/apis/pkg/apis/topology/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/topology"
)

// Tree is the tiers of a cluster and the nodes in them.
type Tree struct {
	Source topology.Source
	// Tiers are their names, nearest to the nodes first.
	Tiers []string
	Root  *Domain
	// Notes say what is missing or contradictory.
	Notes []string
}

// Domain is one rack, block or whatever the tier is called; the root is the whole cluster, and has no name.
type Domain struct {
	Tier string
	// Name is empty for the nodes of which the domain is not known.
	Name  string
	Below []*Domain
	// Nodes are set in domains of the nearest tier.
	Nodes []*corev1.Node
}

// Build returns the tree of a cluster, with the tiers that the scheduler's plugin plans with. Labels that were asked for come
// first, then HyperNodes that hold a node, then the scheduler's labels.
func Build(nodes []*corev1.Node, asked []string, hypers []topologyv1alpha1.HyperNode, labels []string) *Tree {
	if len(asked) > 0 {
		hypers, labels = nil, asked
	} else {
		labels = used(nodes, labels)
	}
	view, err := topology.ViewOf(nodes, hypers)
	tiers, source, notes := topology.Tiers(topology.Options{Labels: labels}, view)
	if err != nil {
		notes = append(notes, strings.Split(err.Error(), "\n")...)
	}
	t := &Tree{Source: source, Notes: notes, Root: &Domain{}}
	for _, tier := range tiers {
		t.Tiers = append(t.Tiers, tier.Name)
	}
	t.grow(nodes, tiers)
	return t
}

// used returns the labels that a node has, and all if no node has any: a configuration may name those of many kinds of
// clusters.
func used(nodes []*corev1.Node, labels []string) (some []string) {
	for _, key := range labels {
		if slices.ContainsFunc(nodes, func(node *corev1.Node) bool { return node.Labels[key] != "" }) {
			some = append(some, key)
		}
	}
	if len(some) == 0 {
		return labels
	}
	return some
}

// grow adds each node below its domains.
func (t *Tree) grow(nodes []*corev1.Node, tiers []topology.Tier) {
	sorted := slices.Clone(nodes)
	slices.SortFunc(sorted, func(a, b *corev1.Node) int { return compare(a.Name, b.Name) })
	for _, node := range sorted {
		at := t.Root
		for _, tier := range slices.Backward(tiers) {
			at = at.below(tier.Name, tier.Domains[node.Name])
		}
		at.Nodes = append(at.Nodes, node)
	}
	t.Root.sort()
}

// below is the domain of a name, made if it is not there.
func (d *Domain) below(tier, name string) *Domain {
	for _, b := range d.Below {
		if b.Name == name {
			return b
		}
	}
	b := &Domain{Tier: tier, Name: name}
	d.Below = append(d.Below, b)
	return b
}

// sort orders domains by name, what is not known last.
func (d *Domain) sort() {
	slices.SortFunc(d.Below, func(a, b *Domain) int {
		if (a.Name == "") != (b.Name == "") {
			return len(b.Name) - len(a.Name)
		}
		return compare(a.Name, b.Name)
	})
	for _, b := range d.Below {
		b.sort()
	}
}
