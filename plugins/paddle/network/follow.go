// SPDX-License-Identifier: Apache-2.0

package network

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// node is what is kept of a node from session to session.
type node struct {
	name   string
	object *corev1.Node // facts were read of
	facts  facts
	hypers []int32    // positions of the HyperNodes that hold it
	past   []estimate // of its islands, with ever fewer free GPUs
}

// facts of a node decide its place in the tree, and its islands.
type facts struct {
	labels  []string // values of the labels in the options, "" where it has none
	clique  string
	islands []int  // sizes; nil where it is one island
	doubt   string // why a source of islands was not used
}

func (f *facts) equal(g *facts) bool {
	return slices.Equal(f.labels, g.labels) && f.clique == g.clique && slices.Equal(f.islands, g.islands) && f.doubt == g.doubt
}

// Follow brings the network up to what a session shows, and tells whether the tree was built anew: NodeIDs and domains
// are then others. An unchanged cluster costs a look at each node; only nodes on which something else is free are
// changed.
func (n *Network) Follow(v View) (rebuilt bool, err error) {
	if n.topology != nil && n.keep(v) {
		return false, nil
	}
	if len(v.Nodes) == 0 {
		rebuilt = n.topology != nil
		*n = Network{options: n.options, own: n.own, build: n.build}
		return rebuilt, nil
	}
	if err := n.rebuild(v); err != nil {
		return false, fmt.Errorf("build the network of %d nodes: %w", len(v.Nodes), err)
	}
	return true, nil
}

// keep updates what is free; false if the tree must be built anew.
func (n *Network) keep(v View) bool {
	if len(v.Nodes) != len(n.nodes) || !n.columns.has(v.Scalars) {
		return false
	}
	defer n.hypers.close()
	if !n.hypers.open(v) {
		return false
	}
	republished := !n.slices.same(v.Slices)
	if republished {
		n.slices = readSlices(v.Slices)
	}
	for id := range n.nodes {
		kept := &n.nodes[id]
		info, ok := v.Nodes[kept.name]
		if !ok || !n.hypers.hold(kept.hypers, kept.name) {
			return false
		}
		if info.Node != kept.object || republished {
			if !n.columns.count(info, n.options.Accelerators) {
				return false
			}
			facts := n.look(info)
			if !facts.equal(&kept.facts) {
				return false
			}
			kept.object = info.Node
		}
		n.settle(placement.NodeID(id), info.Idle, free(info), true)
	}
	return true
}

// look reads what a node says of itself.
func (n *Network) look(info *api.NodeInfo) facts {
	f := facts{labels: make([]string, len(n.options.Labels))}
	var object corev1.Node
	if info.Node != nil {
		object = *info.Node
	}
	for k, key := range n.options.Labels {
		f.labels[k] = object.Labels[key]
	}
	f.clique = object.Labels[cliqueLabel]
	f.islands, f.doubt = n.islandsOf(info)
	return f
}

// rebuild reads everything anew.
func (n *Network) rebuild(v View) error {
	was := *n
	var dropped []string
	n.columns, dropped = n.columns.read(v, n.options.Accelerators)
	n.scratch = make([]int64, len(n.columns.names))
	n.slices = readSlices(v.Slices)
	var nodes []node
	for _, name := range slices.Sorted(maps.Keys(v.Nodes)) {
		info := v.Nodes[name]
		nodes = append(nodes, node{name: name, object: info.Node, facts: n.look(info)})
	}
	var of [][]int32
	n.hypers, of = readHyperNodes(v, nodes)
	for i := range nodes {
		nodes[i].hypers = of[i]
	}
	specs := make([]placement.NodeSpec, len(nodes))
	for i := range nodes {
		specs[i] = n.spec(&nodes[i], v.Nodes[nodes[i].name], &was)
	}
	found := slices.Clone(n.own)
	if len(dropped) > 0 {
		found = append(found, warning{fmt.Sprintf("%d resources are more than the planner can hold, it leaves them out", len(dropped)), dropped})
	}
	if err := n.plant(nodes, specs, &found); err != nil {
		*n = was
		return err
	}
	found = append(found, doubts(nodes)...)
	n.warnings = lines(found)
	n.nodes = make([]node, len(nodes))
	for i := range nodes {
		id, _ := n.topology.Node(nodes[i].name)
		n.nodes[id] = nodes[i]
	}
	return nil
}

// plant builds the tree from the first source that there is; should one fail, from the next.
func (n *Network) plant(nodes []node, specs []placement.NodeSpec, found *[]warning) error {
	var failed error
	for _, source := range []func() (tree, bool){
		func() (tree, bool) { return hyperNodeTree(n.hypers, nodes) },
		func() (tree, bool) { return labelTree(n.options.Labels, nodes) },
		func() (tree, bool) { return tree{source: sourceFlat}, true },
	} {
		t, there := source()
		if !there {
			*found = append(*found, t.warnings...)
			continue
		}
		t.joinNVLink(nodes)
		names := t.name()
		tiers, odd := n.options.tiers(names, t.levels)
		for i := range specs {
			specs[i].Domains = t.path(i)
		}
		topology, err := n.build(placement.TopologySpec{
			Resources: n.columns.names, Accelerators: n.columns.accelerators, Tiers: tiers, Nodes: specs,
		})
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("from %s: %w", t.source, err))
			*found = append(*found, warning{what: fmt.Sprintf("no tree can be built from %s, the next source is used: %v", t.source, err)})
			continue
		}
		*found = append(append(*found, t.warnings...), odd...)
		t.keepHyperNodes(topology, nodes)
		n.tree, n.topology = t, topology
		return nil
	}
	return failed
}
