// SPDX-License-Identifier: Apache-2.0

package solver

import (
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
	"github.com/paddle-volcano/paddle-volcano/test/placement/placementtest"
)

// assignmentOf a case with all pending members wanted; ok is false if there is nothing to place.
func assignmentOf(t *tree.Topology, d *gang.Demand, o Options) (b *partialAssignment, ok bool) {
	take := make([]int, len(d.Roles))
	for r := range d.Roles {
		take[r] = len(d.Roles[r].Pending)
	}
	p := newProblem(t, d, o, take)
	return newPartialAssignment(p), len(p.podClasses) > 0
}

// scatter puts members on random nodes with capacity, and takes some off again.
func scatter(random *rand.Rand, b *partialAssignment, steps int) {
	for range steps {
		node, k := tree.NodeID(random.Intn(b.p.t.Nodes())), random.Intn(b.podClasses)
		switch {
		case random.Intn(4) == 0 && b.countOn(node, k) > 0:
			b.add(node, k, -1)
		case b.waiting[k] > 0 && b.capacity(node, k) > 0:
			b.add(node, k, 1+int32(random.Intn(int(min(b.waiting[k], b.capacity(node, k))))))
		}
	}
}

// again is the value of what is on an assignment, worked out on an empty one.
func recomputed(b *partialAssignment) value {
	fresh := &partialAssignment{p: b.p, podClasses: b.podClasses, position: make([]int32, b.p.t.DomainCount()), scratch: make([]int32, len(b.scratch)), waiting: make([]int32, b.podClasses)}
	fresh.base()
	fresh.lazy = true
	fresh.set(b.nodes())
	fresh.recompute()
	return fresh.value()
}

func TestAPartialAssignmentKeepsItsCost(test *testing.T) {
	for seed := range int64(300) {
		random := rand.New(rand.NewSource(seed))
		t, d, o := tightCase(seed)
		b, ok := assignmentOf(t, d, o)
		if !ok {
			continue
		}
		for range 10 {
			scatter(random, b, 3)
			require.Equal(test, recomputed(b), b.value(), "seed %d", seed)
			node, k := tree.NodeID(random.Intn(t.Nodes())), random.Intn(b.podClasses)
			n := min(b.capacity(node, k), b.waiting[k])
			if n < 1 {
				continue
			}
			was, gain := b.value(), b.gain(node, k, n)
			b.add(node, k, n)
			is := b.value()
			require.Equal(test, is.bytes-was.bytes+(is.workersWithoutServer-was.workersWithoutServer)<<40, gain, "seed %d", seed)
			b.add(node, k, -n)
			require.Equal(test, was, b.value(), "seed %d: taken back", seed)
		}
		b.close()
		require.True(test, allReturned(t))
	}
}

func TestCapacityOfAPartialAssignment(test *testing.T) {
	for seed := range int64(300) {
		random := rand.New(rand.NewSource(seed))
		t, d, o := tightCase(seed)
		b, ok := assignmentOf(t, d, o)
		if !ok {
			continue
		}
		scatter(random, b, 12)
		for n := range tree.NodeID(t.Nodes()) {
			left := append([]int64(nil), t.Free(tree.DomainID(n))...)
			for k := range b.podClasses {
				for r, amount := range b.p.podClasses[k].request {
					left[r] -= int64(b.countOn(n, k)) * amount
				}
			}
			for k := range b.podClasses {
				want := int32(0)
				if of := d.Roles[b.p.podClasses[k].role].Eligible; of == nil || of.Has(n) {
					want = tree.Fits(left, b.p.podClasses[k].request)
				}
				require.Equal(test, want, b.capacity(n, k), "seed %d", seed)
			}
		}
		b.close()
	}
}

func TestImprovingNeverHurts(test *testing.T) {
	improved := 0
	for seed := range int64(500) {
		random := rand.New(rand.NewSource(seed))
		t, d, o := tightCase(seed)
		b, ok := assignmentOf(t, d, o)
		if !ok {
			continue
		}
		scatter(random, b, 40)
		if b.complete() && b.p.limit == 0 {
			var all []tree.NodeID
			for n := range tree.NodeID(t.Nodes()) {
				all = append(all, n)
			}
			was := b.value()
			b.improve(all, 1<<12)
			is := b.value()
			require.False(test, was.less(is, b.p.byBusy), "seed %d", seed)
			require.Equal(test, recomputed(b), is, "seed %d", seed)
			require.True(test, b.complete(), "seed %d", seed)
			nodes, counts := b.nodes()
			for i, n := range nodes {
				require.True(test, b.p.holds(n, t.Free(tree.DomainID(n)), counts[i*b.podClasses:(i+1)*b.podClasses]), "seed %d", seed)
			}
			if is.less(was, b.p.byBusy) {
				improved++
			}
		}
		b.close()
	}
	require.Greater(test, improved, 40)
}

func TestImproveBringsTogether(test *testing.T) {
	//	r0: n00 (2 GPUs), n01 (1)    r1: n02 (2)
	t := placementtest.GPUTree(test, 2, 1, 2)
	d := &gang.Demand{Pattern: gang.ParameterServer, Roles: []gang.Role{
		{Name: "ps", CommRole: gang.Server, Request: []int64{1}, Pending: []int{0}}, {Name: "worker", CommRole: gang.Worker, Request: []int64{1}, Pending: []int{0, 1}},
	}}
	all := []tree.NodeID{0, 1, 2}
	for _, c := range []struct {
		name   string
		on     [][2]int // node and pod class
		bytes  float64
		counts []int32 // of n00, n01 and n02: servers and workers
	}{
		// A worker goes to the server's node; then the other into its rack.
		{"moves", [][2]int{{0, 0}, {2, 1}, {2, 1}}, 2, []int32{1, 1, 0, 1, 0, 0}},
		// n00 is full of workers: the server on n01 changes places with one of them.
		{"swaps", [][2]int{{0, 1}, {0, 1}, {1, 0}}, 2, []int32{1, 1, 0, 1, 0, 0}},
	} {
		b, _ := assignmentOf(t, d, Options{})
		for _, at := range c.on {
			b.add(tree.NodeID(at[0]), at[1], 1)
		}
		b.improve(all, 1<<12)
		require.InDelta(test, c.bytes, float64(b.value().bytes)/tree.WeightUnit, 1e-9, c.name)
		var counts []int32
		for _, n := range all {
			counts = append(counts, b.countOn(n, 0), b.countOn(n, 1))
		}
		require.Equal(test, c.counts, counts, c.name)
		b.close()
	}
}

// tightCase is a case that is often too large, with and without the exact search.
func tightCase(seed int64) (*tree.Topology, *gang.Demand, Options) {
	t, d, random := placementtest.TightCase(seed)
	return t, d, Options{noExact: random.Intn(4) == 0, Objective: Objective(random.Intn(2))}
}

// allReturned reports whether what was borrowed of a topology is all 0 again.
func allReturned(t *tree.Topology) bool {
	numbers := t.Borrow()
	defer t.Return(numbers)
	return !slices.ContainsFunc(numbers, func(n int32) bool { return n != 0 })
}
