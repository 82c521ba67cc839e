// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// likeNodes has n0 and n1, which are alike, and in the same rack others that differ from them in one thing each.
func likeNodes(test *testing.T) *problem {
	islands := []Island{{4, 1}, {4, 3}}
	spec := TopologySpec{
		Resources: []string{"cpu", "gpu"}, Accelerators: []string{"gpu"}, Tiers: DefaultTiers("rack"),
		Uplinks: []Uplink{{NodeTier, "r1/n2", 9}},
	}
	add := func(name, rack string, cpu int64, islands ...Island) {
		spec.Nodes = append(spec.Nodes, NodeSpec{Name: name, Domains: []string{rack}, Free: []int64{cpu, 4}, Islands: islands})
	}
	for _, name := range []string{"n0", "n1", "n2-bandwidth", "n3-penalty", "n4-eligible"} {
		add(name[:2], "r1", 8, islands...)
	}
	add("n5", "r1", 9, islands...)
	add("n6", "r1", 8, Island{4, 2}, Island{4, 2})
	add("n7", "r1", 8, Island{4, 1}, Island{5, 3})
	add("n8", "r1", 8, islands...) // a member runs here
	add("n9", "r2", 8, islands...)
	t, err := NewTopology(spec)
	require.NoError(test, err)
	eligible := NewNodeSet(t)
	for n := range NodeID(t.Nodes()) {
		eligible.Add(n)
	}
	eligible.Remove(4)
	penalty := make([]int32, t.Nodes())
	penalty[3] = 1
	d := &Demand{Pattern: ParameterServer, Roles: []Role{
		{Name: "ps", Traffic: Server, Request: []int64{1, 0}, Pending: []int{0}, Penalty: penalty},
		{Name: "worker", Traffic: Worker, Request: []int64{3, 1}, Pending: []int{0}, Placed: []Placed{{1, 8}}, Eligible: eligible},
	}}
	return newProblem(t, d, Options{}, []int{1, 1})
}

func TestNodesThatAreAlike(test *testing.T) {
	p := likeNodes(test)
	require.True(test, p.alike(0, 1))
	for _, n := range []NodeID{2, 3, 4, 5, 6, 7, 9} {
		require.False(test, p.alike(0, n), p.t.NodeName(n))
		require.False(test, p.alike(n, 0), p.t.NodeName(n))
	}
}

func TestOneNodeOfEachClassForEachMember(test *testing.T) {
	p := likeNodes(test)
	for _, c := range []struct {
		members int
		want    []NodeID
	}{
		{1, []NodeID{0, 2, 3, 4, 5, 6, 7, 8, 9}}, // where a member runs is a class of its own
		{2, []NodeID{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
	} {
		classes := classes{p: p, members: c.members}
		var needed []NodeID
		for n := range NodeID(p.t.Nodes()) {
			if classes.needs(n) {
				needed = append(needed, n)
			}
		}
		require.Equal(test, c.want, needed)
	}
}
