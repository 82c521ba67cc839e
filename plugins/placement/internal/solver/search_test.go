// SPDX-License-Identifier: Apache-2.0

package solver

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
	"github.com/paddle-volcano/paddle-volcano/test/placement/placementtest"
)

// racks of eight nodes, eight to a block, that others use so much of that no rack holds a job of 4 servers and 16 workers.
//
//	b0: r0 [n000 .. n007] .. r7      b1: r8 .. r15
func racks(test testing.TB, random *rand.Rand) (*tree.Topology, *gang.Demand) {
	test.Helper()
	spec := tree.Spec{Resources: []string{"cpu", "gpu"}, Accelerators: []string{"gpu"}, Tiers: tree.DefaultTiers("rack", "block")}
	for i := range 128 {
		gpus := []int64{0, 0, 0, 1, 1, 1, 2, 2, 3}[random.Intn(9)]
		spec.Nodes = append(spec.Nodes, tree.NodeSpec{
			Name: fmt.Sprintf("n%03d", i), Domains: []string{fmt.Sprintf("r%02d", i/8), fmt.Sprint("b", i/64)},
			Free: []int64{6*gpus + 8*random.Int63n(3), gpus},
		})
	}
	t, err := tree.New(spec)
	require.NoError(test, err)
	return t, &gang.Demand{Pattern: gang.ParameterServer, Roles: []gang.Role{members("ps", gang.Server, 4, 8, 0), members("worker", gang.Worker, 16, 5, 1)}}
}

func TestRefineExactFindsTheRacks(test *testing.T) {
	for _, objective := range []Objective{BytesFirst, BusiestFirst} {
		better := 0
		for seed := range int64(20) {
			t, d := racks(test, rand.New(rand.NewSource(seed)))
			b, _ := assignmentOf(t, d, Options{Objective: objective})
			p := b.p
			b.close()
			everything := make([]tree.NodeID, t.Nodes())
			for n := range everything {
				everything[n] = tree.NodeID(n)
			}
			counts, ok := newExact(p).solve(everything)
			require.True(test, ok)
			b = newPartialAssignment(p)
			b.set(everything, counts)
			best := b.value()
			b.close()

			found, ok := p.search(0, tree.NodeID(t.Nodes()))
			require.True(test, ok)
			require.Equal(test, best.bytes, found.value.bytes, "seed %d", seed)
			require.InDelta(test, best.busy, found.value.busy, 1e-9, "seed %d", seed)
			p.noExact = true
			if found, _ = p.search(0, tree.NodeID(t.Nodes())); found.value.bytes > best.bytes || found.value.busy > best.busy {
				better++
			}
		}
		require.Greater(test, better, 2, "starts and steps alone find most of them already")
	}
}

func TestRefineDomains(test *testing.T) {
	//  b0: r0 [n00 6][n01 6] r1 [n02 6][n03 6]   b1: r2 [n04 8][n05 8] r3 [n06 1][n07 1]   b2: r4 [n08 2][n09 2]
	t := placementtest.GPUTree(test, 6, 6, 6, 6, 8, 8, 1, 1, 2, 2)
	d := &gang.Demand{Pattern: gang.ParameterServer, Roles: []gang.Role{members("ps", gang.Server, 2, 1), members("worker", gang.Worker, 16, 1)}}
	b, _ := assignmentOf(t, d, Options{})
	defer b.close()
	names := func(domains []tree.DomainID) (names []string) {
		for _, domain := range domains {
			names = append(names, t.DomainName(domain))
		}
		return names
	}
	root := t.Root()
	require.Equal(test, []string{"b0", "b1"}, names(b.p.refineDomains(t.Ancestor(0, 3), 3, 0, 10)), "b2 has too little capacity")
	require.Equal(test, []string{"b0"}, names(b.p.refineDomains(t.Ancestor(0, 3), 3, 0, 4)), "b0 must not be left")
	require.Equal(test, []string{t.DomainName(root)}, names(b.p.refineDomains(root, 4, 0, 10)))

	require.Equal(test, []tree.NodeID{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, b.p.refineNodes(root, []tree.NodeID{0}, 100))
	require.Equal(test, []tree.NodeID{4, 5, 9}, b.p.refineNodes(root, []tree.NodeID{9}, 2), "the rack with most capacity, and what is in use")
	require.Equal(test, []tree.NodeID{0, 1, 2, 3}, b.p.refineNodes(t.Ancestor(0, 3), []tree.NodeID{0, 9}, 100), "others are not in the block")
}

func TestExactWithABound(test *testing.T) {
	bounded := 0
	for seed := range int64(3000) {
		t, d, o := tightCase(seed)
		b, ok := assignmentOf(t, d, o)
		p := b.p
		b.close()
		if !ok || p.byBusy || p.states() == 0 {
			continue
		}
		var nodes []tree.NodeID
		for n := range tree.NodeID(t.Nodes()) {
			nodes = append(nodes, n)
		}
		free := newExact(p)
		want, ok := free.solve(nodes)
		if !ok {
			continue
		}
		root, best := newExact(p).whole(nodes)
		require.NotNil(test, root)
		x := newExact(p)
		x.bound = best.bytes
		counts, ok := x.solve(nodes)
		require.True(test, ok, "seed %d", seed)
		require.Equal(test, want, counts, "seed %d", seed)
		require.LessOrEqual(test, free.work, x.work, "seed %d: a bound is no more work", seed)
		if x.work > free.work {
			bounded++
		}

		x = newExact(p)
		x.bound = best.bytes - 1
		_, ok = x.solve(nodes)
		require.False(test, ok, "seed %d: nothing is as good as that", seed)
		if spent := newExact(p).work - free.work; spent > 0 {
			x = newExact(p)
			x.work = spent - 1
			_, ok = x.solve(nodes)
			require.False(test, ok, "seed %d: the work is used up", seed)
		}
	}
	require.Greater(test, bounded, 100)
}
