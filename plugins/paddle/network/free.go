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
	amounts := make([]int64, len(n.columns.names))
	n.columns.free(amounts, idle, slots)
	n.set(id, amounts, lasts)
}

func (n *Network) set(id placement.NodeID, amounts []int64, lasts bool) {
	kept := &n.nodes[id]
	n.columns.clamp(amounts, kept.facts.islands)
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

// clamp lets no more GPUs be free than there are in several islands.
func (c *columns) clamp(amounts []int64, islands []int) {
	if len(islands) == 0 {
		return
	}
	left := int64(sum(islands))
	for _, column := range c.gpu {
		amounts[column] = min(amounts[column], left)
		left -= amounts[column]
	}
}

// spec is a node for placement, but for its domains. The islands of a node that was known before go on from what was
// thought of them; else its pods are thought to have come one after another.
func (n *Network) spec(kept *node, info *api.NodeInfo, was *Network) placement.NodeSpec {
	spec := placement.NodeSpec{Name: kept.name, Free: make([]int64, len(n.columns.names))}
	n.columns.free(spec.Free, info.Idle, slots(info))
	n.columns.clamp(spec.Free, kept.facts.islands)
	if len(kept.facts.islands) == 0 {
		return spec
	}
	gpus := n.columns.gpus(spec.Free)
	if id, ok := was.Node(kept.name); ok && slices.Equal(was.nodes[id].facts.islands, kept.facts.islands) {
		kept.past = slices.Clone(was.nodes[id].past)
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
