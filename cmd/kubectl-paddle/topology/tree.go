// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	topologyv1alpha1 "volcano.sh/apis/pkg/apis/topology/v1alpha1"
)

// Source is what the tiers come from.
type Source string

// Sources of tiers.
const (
	Labels     Source = "labels"
	HyperNodes Source = "hypernodes"
	Flat       Source = "flat"
)

// Tree is the tiers of a cluster and the nodes in them.
type Tree struct {
	Source Source
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

// level is one tier: the domain of each node.
type level struct {
	name    string
	domains map[string]string
}

// Build makes the tree of a cluster. Labels that were asked for come first; else HyperNodes if they hold a node, and then
// the labels that the scheduler would use. NVLink domains of several nodes are a tier below in any case.
func Build(nodes []*corev1.Node, asked []string, hypers []topologyv1alpha1.HyperNode, labels []string) *Tree {
	t := &Tree{Source: Flat}
	var levels []level
	if len(asked) > 0 {
		levels = t.byLabels(nodes, asked, true)
	} else if levels = t.byHyperNodes(nodes, hypers); len(levels) == 0 {
		levels = t.byLabels(nodes, labels, false)
	}
	levels = joinNVLink(nodes, levels)
	for _, l := range levels {
		t.Tiers = append(t.Tiers, l.name)
	}
	t.Root = &Domain{}
	t.grow(nodes, levels)
	return t
}

// byLabels are the tiers that keys of labels name, nearest first. Those that no node has are left out, which is said if the
// user asked for them: a configuration may name labels for many kinds of clusters.
func (t *Tree) byLabels(nodes []*corev1.Node, keys []string, asked bool) (levels []level) {
	var nowhere []string
	for _, key := range keys {
		l := level{name: key[strings.LastIndex(key, "/")+1:], domains: map[string]string{}}
		if slices.ContainsFunc(levels, func(other level) bool { return other.name == l.name }) {
			l.name = key
		}
		for _, node := range nodes {
			if value := node.Labels[key]; value != "" {
				l.domains[node.Name] = value
			}
		}
		switch missing := len(nodes) - len(l.domains); {
		case len(l.domains) == 0:
			nowhere = append(nowhere, key)
			continue
		case missing > 0:
			t.note("%d of %d nodes do not have the label %s", missing, len(nodes), key)
		}
		levels = append(levels, l)
		t.Source = Labels
	}
	if len(nowhere) > 0 && (asked || len(levels) == 0) {
		t.note("no node has the label %s", strings.Join(nowhere, ", "))
	}
	return levels
}

func (t *Tree) note(format string, args ...any) {
	t.Notes = append(t.Notes, fmt.Sprintf(format, args...))
}

// grow adds each node below its domains.
func (t *Tree) grow(nodes []*corev1.Node, levels []level) {
	sorted := slices.Clone(nodes)
	slices.SortFunc(sorted, func(a, b *corev1.Node) int { return compare(a.Name, b.Name) })
	for _, node := range sorted {
		at := t.Root
		for _, l := range slices.Backward(levels) {
			at = at.below(l.name, l.domains[node.Name])
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
