// SPDX-License-Identifier: Apache-2.0

package network

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// rebuild reads everything anew. On an error nothing has changed.
func (n *Network) rebuild(v View) error {
	was := *n
	n.columns = n.columns.read(v, n.options.Accelerators)
	n.scratch = make([]int64, block*len(n.columns.names))
	n.slices = readSlices(v.Slices)
	nodes := make([]node, 0, len(v.Nodes))
	for _, name := range slices.Sorted(maps.Keys(v.Nodes)) {
		info := v.Nodes[name]
		nodes = append(nodes, node{name: name, object: info.Node, facts: n.look(info)})
	}
	var of [][]int32
	n.hypers, of = readHyperNodes(v, nodes)
	specs := make([]placement.NodeSpec, len(nodes))
	for i := range nodes {
		nodes[i].hypers = of[i]
		specs[i] = n.spec(&nodes[i], v.Nodes[nodes[i].name], &was)
	}
	found := slices.Concat(n.own, n.columns.doubts(), doubtsOf(nodes))
	if err := n.plant(nodes, specs, &found); err != nil {
		*n = was
		return err
	}
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
	hyper, hypers := hyperNodeTree(n.hypers, nodes)
	label, labels := labelTree(n.options.Labels, nodes)
	flat := tree{source: sourceFlat}
	var sources []*tree
	switch {
	case hypers && labels:
		sources = []*tree{&hyper, &label, &flat}
	case hypers:
		sources = []*tree{&hyper, &flat}
	case labels:
		sources = []*tree{&label, &flat}
	default:
		flat.warnings = label.warnings // the labels that are on no node
		sources = []*tree{&flat}
	}
	var failed error
	for _, t := range sources {
		topology, odd, err := n.grow(t, nodes, specs)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("from %s: %w", t.source, err))
			*found = append(*found, warning{what: fmt.Sprintf("no tree can be built from %s, the next source is used: %v", t.source, err)})
			continue
		}
		*found = slices.Concat(*found, odd, t.warnings)
		n.tree, n.topology = *t, topology
		return nil
	}
	return failed
}

// grow builds the topology of one source, and tells what is odd about the options.
func (n *Network) grow(t *tree, nodes []node, specs []placement.NodeSpec) (*placement.Topology, []warning, error) {
	t.joinNVLink(nodes)
	t.cut()
	tiers, odd := n.options.tiers(t)
	for i := range specs {
		specs[i].Domains = t.path(i)
	}
	topology, err := n.build(placement.TopologySpec{
		Resources: n.columns.names, Accelerators: n.columns.accelerators, Tiers: tiers, Nodes: specs,
	})
	if err != nil {
		return nil, nil, err
	}
	t.keepHyperNodes(topology, nodes)
	for i := range t.levels {
		t.levels[i].domains = nil // the topology has them now
	}
	return topology, odd, nil
}
