// SPDX-License-Identifier: Apache-2.0

package network

import (
	"slices"

	"k8s.io/klog/v2"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// Refresh updates what is free on a node after a task was placed on it or taken back in this session. Nodes that Follow
// has not seen are none.
func (n *Network) Refresh(info *api.NodeInfo) {
	if id, ok := n.Node(info.Name); ok {
		n.settle(id, info.Idle, slots(info), true)
	}
}

// SetFuture sets what will be free on a node once pods that are ending are gone. The caller takes it back: it works
// between Begin and Rollback of the topology.
func (n *Network) SetFuture(info *api.NodeInfo) {
	id, ok := n.Node(info.Name)
	if !ok {
		return
	}
	future := slots(info)
	for _, task := range info.Tasks {
		if task.Status == api.Releasing {
			future++
		}
	}
	n.settle(id, info.FutureIdle(), future, false)
}

// slots is how many more pods a node takes.
func slots(info *api.NodeInfo) int {
	if info.Allocatable == nil {
		return 0
	}
	return info.Allocatable.MaxTaskNum - len(info.Tasks)
}

// settle tells the topology what is free on a node, if that is not what it was. What lasts is remembered for islands.
func (n *Network) settle(id placement.NodeID, idle *api.Resource, slots int, lasts bool) {
	kept := &n.nodes[id]
	amounts := n.amounts(&kept.facts, idle, slots)
	if slices.Equal(amounts, n.topology.Free(placement.DomainID(id))) {
		return
	}
	islands := n.topology.Islands(id)
	if len(islands) > 0 {
		islands = kept.estimate(islands, n.columns.gpus(amounts), lasts)
	}
	if err := n.topology.SetFree(id, amounts, islands); err != nil {
		klog.ErrorS(err, "Cannot follow what is free; the planner goes by what it knew", "node", kept.name)
	}
}

// amounts are what is free on a node, in n.scratch: not more GPUs than its islands have.
func (n *Network) amounts(of *facts, idle *api.Resource, slots int) []int64 {
	n.columns.free(n.scratch, idle, slots)
	if len(of.islands) > 0 {
		left := int64(sum(of.islands))
		for _, column := range n.columns.gpu {
			n.scratch[column] = min(n.scratch[column], left)
			left -= n.scratch[column]
		}
	}
	return n.scratch
}

// spec is a node for placement, but for its domains. The islands of a node that was known before go on from what was
// thought of them; else its pods are thought to have come one after another.
func (n *Network) spec(kept *node, info *api.NodeInfo, was *Network) placement.NodeSpec {
	spec := placement.NodeSpec{Name: kept.name, Free: slices.Clone(n.amounts(&kept.facts, info.Idle, slots(info)))}
	if len(kept.facts.islands) == 0 {
		return spec
	}
	gpus := n.columns.gpus(spec.Free)
	if id, ok := was.Node(kept.name); ok && slices.Equal(was.nodes[id].facts.islands, kept.facts.islands) {
		kept.past = was.nodes[id].past
		spec.Islands = kept.estimate(was.topology.Islands(id), gpus, true)
		return spec
	}
	for _, size := range kept.facts.islands {
		spec.Islands = append(spec.Islands, placement.Island{Size: size, Free: size})
	}
	for _, taken := range n.columns.running(info) {
		placement.PickIslands(spec.Islands, taken)
	}
	toward(spec.Islands, gpus)
	return spec
}
