// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFits(test *testing.T) {
	for _, c := range []struct {
		free, request []int64
		want          int32
	}{
		{[]int64{7, 9}, []int64{2, 4}, 2},
		{[]int64{7, 16}, []int64{2, 4}, 3},
		{[]int64{8, 16}, []int64{2, 4}, 4},
		{[]int64{8, 3}, []int64{2, 4}, 0},
		{[]int64{8, 4}, []int64{2, 4}, 1},
		{[]int64{8, -1}, []int64{2, 0}, 4},
		{[]int64{-8, 4}, []int64{2, 4}, 0},
		{[]int64{0, 0}, []int64{0, 0}, MaxFit},
		{[]int64{math.MaxInt64 / 1024, 1}, []int64{1, 0}, MaxFit},
		{[]int64{1, MaxAmount}, []int64{0, MaxAmount}, 1},
	} {
		require.Equal(test, c.want, Fits(c.free, c.request), "%v of %v", c.request, c.free)
	}
}

func TestShape(test *testing.T) {
	//	r0: 5 0    r1: 40 1    (b0)
	//	r2: 2                  (b1)
	t := gpuTree(test, 5, 0, 40, 1, 2)
	rack, block, root := DomainID(5), DomainID(8), t.Root()
	s := NewShape(t, []int64{1}, nil)
	require.Equal(test, []int32{5, 0, 40, 1, 2}, s.fit)
	for d, want := range map[DomainID]int64{0: 5, 1: 0, rack: 5, rack + 1: 41, rack + 2: 2, block: 46, block + 1: 2, root: 48} {
		require.Equal(test, want, s.Sum(d), t.DomainName(d))
	}
	// Fits of 32 and more are one bucket.
	for d, want := range map[DomainID]int{0: 5, 1: 0, 2: 32, rack: 5, rack + 1: 32, rack + 2: 2, block: 32, block + 1: 2, root: 32} {
		require.Equal(test, want, s.MostOnNode(d), t.DomainName(d))
	}
	for fit, want := range map[int]int32{0: 1, 1: 1, 2: 1, 5: 1, 32: 1, 3: 0} {
		require.Equal(test, want, s.NodesHolding(root, fit), "%d", fit)
	}
	require.EqualValues(test, 1, s.NodesHolding(2, 32))
	require.EqualValues(test, 0, s.NodesHolding(2, 31))
	require.EqualValues(test, 2, s.NodesFor(root, 34), "32 and 2, of 5")
	require.EqualValues(test, 1, s.NodesFor(rack, 3))
	require.EqualValues(test, 4, s.NodesFor(root, 40), "32, 5, 2 and 1")
	require.EqualValues(test, 0, s.NodesFor(root, 0))

	full := NewShape(gpuTree(test, 0, 0), []int64{1}, nil)
	require.Zero(test, full.MostOnNode(2))
}

func TestShapeOfEligibleNodes(test *testing.T) {
	t := gpuTree(test, 5, 3, 4)
	eligible := NewNodeSet(t)
	eligible.Add(1)
	s := NewShape(t, []int64{1}, eligible)
	require.Equal(test, []int32{0, 3, 0}, s.fit)
	require.EqualValues(test, 3, s.Sum(t.Root()))
	require.EqualValues(test, 2, s.NodesHolding(t.Root(), 0))
	// It is not kept for demands that may use all nodes.
	require.Empty(test, t.index.shapes)
}

func TestShapesUsedLastAreKept(test *testing.T) {
	t := gpuTree(test, 64, 3)
	first := t.Shape([]int64{1})
	require.Same(test, first, t.Shape([]int64{1}))
	second := t.Shape([]int64{2})
	for n := range int64(maxShapes - 2) {
		t.Shape([]int64{3 + n})
	}
	require.Same(test, first, t.Shape([]int64{1}))
	require.Len(test, t.index.shapes, maxShapes)
	t.Shape([]int64{50}) // the second is the one not used for longest
	require.Len(test, t.index.shapes, maxShapes)
	require.Same(test, first, t.Shape([]int64{1}))
	require.NotSame(test, second, t.Shape([]int64{2}))
}

func TestAShapeKeepsItsRequest(test *testing.T) {
	t := gpuTree(test, 8)
	request := []int64{2}
	s := t.Shape(request)
	request[0] = 4
	_, err := t.Take(0, []int64{4})
	require.NoError(test, err)
	require.EqualValues(test, 2, s.Sum(t.Root()))
}

// gpuTree has one resource, gpu, and nodes n00, n01, ... with so much of it free, in racks of two and blocks of four.
func gpuTree(test testing.TB, free ...int64) *Topology {
	test.Helper()
	spec := Spec{Resources: []string{"gpu"}, Accelerators: []string{"gpu"}, Tiers: DefaultTiers("rack", "block")}
	for i, n := range free {
		spec.Nodes = append(spec.Nodes, NodeSpec{
			Name: fmt.Sprintf("n%02d", i), Domains: []string{fmt.Sprint("r", i/2), fmt.Sprint("b", i/4)}, Free: []int64{n},
		})
	}
	t, err := New(spec)
	require.NoError(test, err)
	return t
}
