// SPDX-License-Identifier: Apache-2.0

package network

import (
	"slices"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// Options are what the plugin's arguments say.
type Options struct {
	// Labels are keys of node labels, nearest first; used when there are no HyperNodes.
	Labels []string
	// Weights of a byte over a node's border, then over the border of each tier above, nearest first. Those that are
	// missing are 4 times the one before, the first is 1.
	Weights []float64
	// IntraNodeWeight is the weight of a byte between GPUs of a node that are not linked; 0 for the default.
	IntraNodeWeight float64
	// Bandwidths of one uplink in one direction, in bytes per second: a node's, then that of each tier above. Unless
	// there is one for each, all uplinks count as equally wide.
	Bandwidths []float64
	// Accelerators are the resources that count whole GPUs, for example nvidia.com/gpu or kunlunxin.com/xpu.
	Accelerators []string
}

// View is what one session shows; nothing of it is changed, and of its objects only those of nodes and slices, which
// are shared between sessions, are kept.
type View struct {
	// Nodes are ssn.Nodes, HyperNodes ssn.HyperNodes, and Members ssn.RealNodesSet.
	Nodes      map[string]*api.NodeInfo
	HyperNodes api.HyperNodeInfoMap
	Members    map[string]sets.Set[string]
	// Top is the name of the HyperNode that Volcano adds above all others.
	Top string
	// Slices are devices that DRA drivers publish; nil without them.
	Slices []*resourceapi.ResourceSlice
	// Scalars are the scalar resources that jobs ask for in this session.
	Scalars []string
}

// Network follows the cluster. It is not safe for use by several goroutines.
type Network struct {
	options  Options
	topology *placement.Topology
	columns  columns
	nodes    []node // by NodeID
	hypers   hyperNodes
	slices   published
	tree     tree
	warnings []string

	own     []warning // of the options
	scratch []int64   // amounts of a block of nodes
	build   func(placement.TopologySpec) (*placement.Topology, error)
}

// New returns a network that has seen nothing yet.
func New(o Options) *Network {
	n := &Network{build: placement.NewTopology}
	n.options, n.own = o.checked()
	return n
}

// Topology is the tree with what is free now; nil before the first Follow and without nodes. The caller may change what
// is free in it between Begin and Rollback.
func (n *Network) Topology() *placement.Topology { return n.topology }

// Node finds a node by name.
func (n *Network) Node(name string) (placement.NodeID, bool) {
	if n.topology == nil {
		return 0, false
	}
	return n.topology.Node(name)
}

// Source is where the tiers above the nodes come from: "hypernodes", "labels" or "flat".
func (n *Network) Source() string {
	if n.tree.source == "" {
		return sourceFlat
	}
	return n.tree.source
}

// Warnings are what was missing or contradictory when the tree was built, in a fixed order: a line for each kind, with
// counts and a few examples.
func (n *Network) Warnings() []string { return slices.Clone(n.warnings) }
