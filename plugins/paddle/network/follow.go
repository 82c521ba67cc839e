// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// node is what is kept of a node from session to session.
type node struct {
	name   string
	object *corev1.Node // what the facts were read of
	facts  facts
	hypers []int32    // HyperNodes that hold it, by position
	past   []estimate // of its islands, each with fewer free GPUs than the one before
}

// facts of a node decide its place in the tree, and its islands.
type facts struct {
	labels  []string // values of the labels in the options, "" where it has none
	clique  string
	islands []int // sizes; nil where it is one island
	doubts  doubts
}

// Follow brings the network up to what a session shows, and tells whether the tree was built anew: NodeIDs and domains
// are then others. An unchanged cluster costs a look at each node; only nodes on which something else is free are
// changed. It fails only where no tree at all can be built, and then keeps the one that it had.
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

// block is how many nodes are read together: what they show stays in the cache.
const block = 128

// keep updates what is free; false if the tree must be built anew.
func (n *Network) keep(v View) bool {
	if len(v.Nodes) != len(n.nodes) || !n.columns.hold(v.Scalars) || !n.hypers.same(v, n.nodes) {
		return false
	}
	republished := !n.slices.same(v.Slices)
	if republished {
		n.slices = readSlices(v.Slices)
	}
	var infos [block]*api.NodeInfo
	width := len(n.columns.names)
	for lo := 0; lo < len(n.nodes); lo += block {
		nodes := n.nodes[lo:min(lo+block, len(n.nodes))]
		for i := range nodes {
			if infos[i] = v.Nodes[nodes[i].name]; infos[i] == nil {
				return false
			}
		}
		for i := range nodes {
			if (infos[i].Node != nodes[i].object || republished) && !n.same(&nodes[i], infos[i]) {
				return false
			}
		}
		n.columns.freeOf(n.scratch, infos[:len(nodes)])
		for i := range nodes {
			n.set(placement.NodeID(lo+i), n.scratch[i*width:(i+1)*width], true)
		}
	}
	return true
}

// same tells whether another object of a node says what the one before said.
func (n *Network) same(kept *node, info *api.NodeInfo) bool {
	if !n.columns.hold(accelerators(info, n.options.Accelerators)) || !n.sameFacts(&kept.facts, n.look(info)) {
		return false
	}
	kept.object = info.Node
	return true
}

// sameFacts compares what decides the tree; labels do not where HyperNodes do.
func (n *Network) sameFacts(was *facts, is facts) bool {
	return was.clique == is.clique && was.doubts == is.doubts && slices.Equal(was.islands, is.islands) &&
		(n.tree.source == sourceHyperNodes || slices.Equal(was.labels, is.labels))
}

// look reads what a node says of itself.
func (n *Network) look(info *api.NodeInfo) facts {
	f := facts{labels: make([]string, len(n.options.Labels))}
	if info.Node == nil {
		return f
	}
	for k, key := range n.options.Labels {
		f.labels[k] = info.Node.Labels[key]
	}
	f.clique = info.Node.Labels[cliqueLabel]
	f.islands, f.doubts = n.islandsOf(info)
	return f
}
