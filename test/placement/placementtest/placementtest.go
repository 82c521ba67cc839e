// SPDX-License-Identifier: Apache-2.0

// Package placementtest builds topologies and demands for the tests of the planner's packages.
package placementtest

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// GPUTree returns a topology that has one resource, gpu, and nodes n00, n01, ... with so much of it free, in racks of two and blocks of four.
func GPUTree(test testing.TB, free ...int64) *tree.Topology {
	test.Helper()
	spec := tree.Spec{Resources: []string{"gpu"}, Accelerators: []string{"gpu"}, Tiers: tree.DefaultTiers("rack", "block")}
	for i, n := range free {
		spec.Nodes = append(spec.Nodes, tree.NodeSpec{
			Name: fmt.Sprintf("n%02d", i), Domains: []string{fmt.Sprint("r", i/2), fmt.Sprint("b", i/4)}, Free: []int64{n},
		})
	}
	t, err := tree.New(spec)
	if err != nil {
		test.Fatal(err)
	}
	return t
}

// TightCase returns a random small cluster, a random demand that is somewhat too large for it, as a rule, and the source of
// what else is drawn.
func TightCase(seed int64) (*tree.Topology, *gang.Demand, *rand.Rand) {
	random := rand.New(rand.NewSource(seed))
	tiers := tree.DefaultTiers([][]string{{"rack"}, {"rack", "block"}}[random.Intn(2)]...)
	spec := tree.Spec{Resources: []string{"cpu", "gpu"}, Accelerators: []string{"gpu"}, Tiers: tiers}
	for i := range 2 + random.Intn(7) {
		gpus := random.Intn(9)
		node := tree.NodeSpec{Name: fmt.Sprint("n", i), Free: []int64{int64(random.Intn(19) - 2), int64(gpus)}}
		for tier := range len(tiers) - 2 {
			node.Domains = append(node.Domains, fmt.Sprint(tiers[2+tier].Name, random.Intn(3-tier)))
		}
		if random.Intn(3) == 0 {
			node.Islands = []tree.Island{{Size: 4, Free: gpus / 2}, {Size: 4 + random.Intn(2), Free: gpus - gpus/2}}
			node.Islands[1].Size = max(node.Islands[1].Size, node.Islands[1].Free)
		}
		spec.Nodes = append(spec.Nodes, node)
	}
	t, err := tree.New(spec)
	if err != nil {
		panic(err)
	}
	d := &gang.Demand{Pattern: gang.Pattern(random.Intn(4)), Colocation: gang.Colocation(random.Intn(3)), GroupSize: random.Intn(5)}
	if random.Intn(2) == 0 {
		d.HighestTier = 1 + random.Intn(len(tiers)-1)
	}
	if random.Intn(4) == 0 {
		d.ColocationTier = 1 + random.Intn(len(tiers)-1)
	}
	for r, traffic := range []gang.CommRole{gang.Server, gang.Worker, gang.PipelineWorker, gang.NoTraffic}[:1+random.Intn(4)] {
		d.Roles = append(d.Roles, tightRole(random, t, r, traffic))
	}
	return t, d, random
}

func tightRole(random *rand.Rand, t *tree.Topology, number int, traffic gang.CommRole) gang.Role {
	role := gang.Role{Name: fmt.Sprint("role", number), CommRole: traffic, Stage: 1}
	role.Request = []int64{int64(random.Intn(5)), int64(random.Intn(2) * random.Intn(5))}
	runs := random.Intn(4) == 0
	for i := range 1 + random.Intn(6) {
		if runs && random.Intn(2) == 0 {
			role.Placed = append(role.Placed, gang.Placed{Index: i, Node: tree.NodeID(random.Intn(t.Nodes()))})
		} else {
			role.Pending = append(role.Pending, i)
		}
	}
	role.Minimum = len(role.Pending) + len(role.Placed)
	if random.Intn(4) == 0 {
		role.Minimum = random.Intn(role.Minimum + 1)
	}
	if random.Intn(4) == 0 {
		role.Eligible = tree.NewNodeSet(t)
		for n := range t.Nodes() {
			if random.Intn(2) == 0 {
				role.Eligible.Add(tree.NodeID(n))
			}
		}
	}
	return role
}

// Snapshot returns what is free in all domains and islands of a topology.
func Snapshot(t *tree.Topology) (seen []any) {
	for v := tree.DomainID(0); v <= t.Root(); v++ {
		seen = append(seen, append([]int64(nil), t.Free(v)...))
	}
	for n := range t.Nodes() {
		seen = append(seen, t.Islands(tree.NodeID(n)))
	}
	return seen
}

// RingOf returns a ring of workers of one GPU each. runs has the nodes of those that run, by index.
func RingOf(members int, runs map[int]tree.NodeID) *gang.Demand {
	role := gang.Role{Name: "worker", CommRole: gang.Worker, Request: []int64{1}, Minimum: members}
	for i := range members {
		if node, ok := runs[i]; ok {
			role.Placed = append(role.Placed, gang.Placed{Index: i, Node: node})
		} else {
			role.Pending = append(role.Pending, i)
		}
	}
	return &gang.Demand{Pattern: gang.Collective, Roles: []gang.Role{role}}
}

// ClusterOf builds a topology with the resources cpu and nvidia.com/gpu of lines like "b1/r2/n3 16 8": a path from the
// highest tier down to the node, free cpu, free GPUs. Tiers above the node are named nearest first.
func ClusterOf(t testing.TB, above []string, nodes ...string) *tree.Topology {
	t.Helper()
	spec := tree.Spec{
		Resources: []string{"cpu", "nvidia.com/gpu"}, Accelerators: []string{"nvidia.com/gpu"},
		Tiers: tree.DefaultTiers(above...),
	}
	for _, line := range nodes {
		var path string
		node := tree.NodeSpec{Free: make([]int64, 2)}
		if _, err := fmt.Sscan(line, &path, &node.Free[0], &node.Free[1]); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		parts := strings.Split(path, "/")
		node.Name = parts[len(parts)-1]
		for i := len(parts) - 2; i >= 0; i-- {
			node.Domains = append(node.Domains, parts[i])
		}
		spec.Nodes = append(spec.Nodes, node)
	}
	topology, err := tree.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return topology
}

// RoleOf returns a role of pending members, all of which the gang needs. cpu and gpus are per member.
func RoleOf(name string, traffic gang.CommRole, members int, cpu, gpus int64) gang.Role {
	role := gang.Role{Name: name, CommRole: traffic, Request: []int64{cpu, gpus}, Minimum: members}
	for i := range members {
		role.Pending = append(role.Pending, i)
	}
	return role
}

// Running places the first members of a role on nodes, by name; "" stays pending.
func Running(t testing.TB, topology *tree.Topology, role gang.Role, nodes ...string) gang.Role {
	t.Helper()
	var pending []int
	for _, index := range role.Pending {
		if index >= len(nodes) || nodes[index] == "" {
			pending = append(pending, index)
			continue
		}
		node, ok := topology.Node(nodes[index])
		if !ok {
			t.Fatalf("no node is called %s", nodes[index])
		}
		role.Placed = append(role.Placed, gang.Placed{Index: index, Node: node})
	}
	role.Pending = pending
	return role
}

// IndexesOf returns the indexes of members, in their order.
func IndexesOf(members []gang.Member) (indexes []int) {
	for _, m := range members {
		indexes = append(indexes, m.Index)
	}
	return indexes
}
