// SPDX-License-Identifier: Apache-2.0

package drawing

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/topology"
)

// tiers returns the tiers that the scheduler's plugin plans with. Labels that the user asks for come first, then HyperNodes that
// have a node, then the scheduler's labels.
func (m *Map) tiers(o *Objects) []topology.Tier {
	hypers, labels := o.HyperNodes, o.Labels
	if len(labels) > 0 {
		hypers = nil
	} else {
		labels = usedLabels(o.Nodes, o.SchedulerLabels)
	}
	view, err := topology.ViewOf(o.Nodes, hypers)
	tiers, source, notes := topology.Tiers(topology.Options{Labels: labels}, view)
	if err != nil {
		notes = append(notes, strings.Split(err.Error(), "\n")...)
	}
	m.Source, m.Notes = source, notes
	for _, tier := range tiers {
		m.Tiers = append(m.Tiers, tier.Name)
	}
	return tiers
}

// usedLabels returns the labels that a node has, and all if no node has any: a configuration may name those of many kinds of
// clusters.
func usedLabels(nodes []*corev1.Node, labels []string) (used []string) {
	for _, key := range labels {
		if slices.ContainsFunc(nodes, func(node *corev1.Node) bool { return node.Labels[key] != "" }) {
			used = append(used, key)
		}
	}
	if len(used) == 0 {
		return labels
	}
	return used
}

// tree returns the cluster: its nodes, with the pods on them, below their domains.
func (m *Map) tree(nodes []*corev1.Node, tiers []topology.Tier, pods map[string][]*Pod) *Domain {
	root := &Domain{}
	nodes = slices.Clone(nodes)
	slices.SortFunc(nodes, func(a, b *corev1.Node) int { return compareNatural(a.Name, b.Name) })
	for _, node := range nodes {
		at := root
		for _, tier := range slices.Backward(tiers) {
			at = at.below(tier.Name, tier.Domains[node.Name])
		}
		at.Nodes = append(at.Nodes, m.node(node, pods[node.Name]))
	}
	m.sum(root)
	return root
}

// below returns the domain of a name, and adds it if there is none.
func (d *Domain) below(tier, name string) *Domain {
	for _, b := range d.Domains {
		if b.Name == name {
			return b
		}
	}
	b := &Domain{Tier: tier, Name: name}
	d.Domains = append(d.Domains, b)
	return b
}

// sum orders the domains below by name, the unknown one last, and adds up what they have.
func (m *Map) sum(d *Domain) {
	slices.SortFunc(d.Domains, func(a, b *Domain) int {
		if (a.Name == "") != (b.Name == "") {
			return len(b.Name) - len(a.Name)
		}
		return compareNatural(a.Name, b.Name)
	})
	free := Amounts{}
	for _, n := range d.Nodes {
		d.Size++
		d.Total.add(n.Total)
		if n.Free != nil && n.State == "" {
			free.add(*n.Free)
		}
	}
	for _, b := range d.Domains {
		m.sum(b)
		d.Size += b.Size
		d.Total.add(b.Total)
		if b.Free != nil {
			free.add(*b.Free)
		}
	}
	if !m.partial {
		d.Free = &free
	}
}

// compareNatural orders names by the numbers in them: rack-2 comes before rack-10.
func compareNatural(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		m, n := digits(x), digits(y)
		if m > 0 && n > 0 {
			p, q := strings.TrimLeft(x[:m], "0"), strings.TrimLeft(y[:n], "0")
			if c := cmp.Or(cmp.Compare(len(p), len(q)), strings.Compare(p, q)); c != 0 {
				return c
			}
			x, y = x[m:], y[n:]
			continue
		}
		if x[0] != y[0] {
			return cmp.Compare(x[0], y[0])
		}
		x, y = x[1:], y[1:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(a, b))
}

// digits returns how many digits a text begins with.
func digits(text string) int { return len(text) - len(strings.TrimLeft(text, "0123456789")) }
