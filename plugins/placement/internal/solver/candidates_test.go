// SPDX-License-Identifier: Apache-2.0

package solver

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// twinNodes has n0 and n1, which are alike, and in the same rack others that differ from them in one thing each.
func twinNodes(test *testing.T) *problem {
	islands := []tree.Island{{Size: 4, Free: 1}, {Size: 4, Free: 3}}
	spec := tree.Spec{
		Resources: []string{"cpu", "gpu"}, Accelerators: []string{"gpu"}, Tiers: tree.DefaultTiers("rack"),
	}
	add := func(name, rack string, cpu int64, islands ...tree.Island) {
		spec.Nodes = append(spec.Nodes, tree.NodeSpec{Name: name, Domains: []string{rack}, Free: []int64{cpu, 4}, Islands: islands})
	}
	add("n0", "r1", 8, islands...)
	add("n1", "r1", 8, islands...)
	add("n2", "r1", 8)
	add("n3", "r1", 8, islands...) // with a penalty
	add("n4", "r1", 8, islands...) // not eligible
	add("n5", "r1", 9, islands...)
	add("n6", "r1", 8, tree.Island{Size: 4, Free: 2}, tree.Island{Size: 4, Free: 2})
	add("n7", "r1", 8, tree.Island{Size: 4, Free: 1}, tree.Island{Size: 5, Free: 3})
	add("n8", "r1", 8, islands...) // a member runs here
	add("n9", "r2", 8, islands...)
	t, err := tree.New(spec)
	require.NoError(test, err)
	eligible := tree.NewNodeSet(t)
	for n := range tree.NodeID(t.Nodes()) {
		eligible.Add(n)
	}
	eligible.Remove(4)
	penalty := make([]int32, t.Nodes())
	penalty[3] = 1
	d := &gang.Demand{Pattern: gang.ParameterServer, Roles: []gang.Role{
		{Name: "ps", CommRole: gang.Server, Request: []int64{1, 0}, Pending: []int{0}, Penalty: penalty},
		{Name: "worker", CommRole: gang.Worker, Request: []int64{3, 1}, Pending: []int{0}, Placed: []gang.Placed{{Index: 1, Node: 8}}, Eligible: eligible},
	}}
	return newProblem(t, d, Options{}, []int{1, 1})
}

func TestInterchangeableNodes(test *testing.T) {
	p := twinNodes(test)
	require.True(test, p.interchangeable(0, 1))
	for _, n := range []tree.NodeID{2, 3, 4, 5, 6, 7, 9} {
		require.False(test, p.interchangeable(0, n), p.t.NodeName(n))
		require.False(test, p.interchangeable(n, 0), p.t.NodeName(n))
	}
}

func TestOneNodeOfEachClassForEachMember(test *testing.T) {
	p := twinNodes(test)
	for _, c := range []struct {
		members int
		want    []tree.NodeID
	}{
		{1, []tree.NodeID{0, 2, 3, 4, 5, 6, 7, 8, 9}}, // where a member runs is a class of its own
		{2, []tree.NodeID{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
	} {
		classes := p.newClasses()
		classes.members = c.members
		var needed []tree.NodeID
		for n := range tree.NodeID(p.t.Nodes()) {
			if classes.needs(n) {
				needed = append(needed, n)
			}
		}
		require.Equal(test, c.want, needed)
	}
}
