// SPDX-License-Identifier: Apache-2.0

package placement_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

const (
	rackTier  = placement.NodeTier + 1
	blockTier = placement.NodeTier + 2
)

// clusterOf builds a topology with the resources cpu and nvidia.com/gpu of lines like "b1/r2/n3 16 8": a path from the
// highest tier down to the node, free cpu, free GPUs. Tiers above the node are named nearest first.
func clusterOf(t testing.TB, above []string, nodes ...string) *placement.Topology {
	t.Helper()
	spec := placement.TopologySpec{
		Resources: []string{"cpu", "nvidia.com/gpu"}, Accelerators: []string{"nvidia.com/gpu"},
		Tiers: placement.DefaultTiers(above...),
	}
	for _, line := range nodes {
		var path string
		node := placement.NodeSpec{Free: make([]int64, 2)}
		_, err := fmt.Sscan(line, &path, &node.Free[0], &node.Free[1])
		require.NoError(t, err, line)
		parts := strings.Split(path, "/")
		node.Name = parts[len(parts)-1]
		for i := len(parts) - 2; i >= 0; i-- {
			node.Domains = append(node.Domains, parts[i])
		}
		spec.Nodes = append(spec.Nodes, node)
	}
	topology, err := placement.NewTopology(spec)
	require.NoError(t, err)
	return topology
}

// gangRole has so many pending members, all of which it needs, each with so much cpu and so many GPUs.
func gangRole(name string, traffic placement.Traffic, members int, cpu, gpus int64) placement.Role {
	role := placement.Role{Name: name, Traffic: traffic, Request: []int64{cpu, gpus}, Minimum: members}
	for i := range members {
		role.Pending = append(role.Pending, i)
	}
	return role
}

// running gives the first members of a role their nodes, by name; "" stays pending.
func running(t testing.TB, topology *placement.Topology, role placement.Role, nodes ...string) placement.Role {
	t.Helper()
	var pending []int
	for _, index := range role.Pending {
		if index >= len(nodes) || nodes[index] == "" {
			pending = append(pending, index)
			continue
		}
		node, ok := topology.Node(nodes[index])
		require.True(t, ok, nodes[index])
		role.Placed = append(role.Placed, placement.Placed{Index: index, Node: node})
	}
	role.Pending = pending
	return role
}

// nodesOf names the nodes of a plan's members, in their order.
func nodesOf(topology *placement.Topology, plan *placement.Plan) (names []string) {
	for _, a := range plan.Assignments {
		names = append(names, topology.NodeName(a.Node))
	}
	return names
}

// indexesOf members, in their order.
func indexesOf(members []placement.Member) (indexes []int) {
	for _, m := range members {
		indexes = append(indexes, m.Index)
	}
	return indexes
}
