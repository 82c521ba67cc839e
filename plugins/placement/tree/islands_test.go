// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGPUsComeFromFewIslands(test *testing.T) {
	for _, c := range []struct {
		name string
		free []int16
		gpus int
		want []uint8
	}{
		{"the fullest island that holds all", []int16{4, 2, 3}, 2, []uint8{1, 1}},
		{"the first of two that are alike", []int16{4, 3, 3}, 3, []uint8{1, 1, 1}},
		{"none holds all: the emptiest one, then the fullest for the rest", []int16{1, 3, 4}, 5, []uint8{2, 2, 2, 2, 0}},
		{"none holds all: the first of two that are alike", []int16{2, 3, 3}, 5, []uint8{1, 1, 1, 0, 0}},
		{"as few as will do", []int16{1, 1, 3, 2}, 5, []uint8{2, 2, 2, 3, 3}},
		{"a full island is passed over", []int16{0, 1}, 1, []uint8{1}},
		{"no more than there are", []int16{1, 2}, 9, []uint8{1, 1, 0}},
		{"nothing", []int16{1, 2}, 0, nil},
		{"no islands", nil, 2, nil},
	} {
		test.Run(c.name, func(test *testing.T) {
			left := slices.Clone(c.free)
			require.Equal(test, c.want, AssignGPUs(left, c.gpus, nil))
			for _, i := range c.want {
				left[i]++
			}
			require.Equal(test, c.free, left)
			require.Equal(test, append([]uint8{9}, c.want...), AssignGPUs(slices.Clone(c.free), c.gpus, []uint8{9}))
		})
	}
}

func TestIslandsNeeded(test *testing.T) {
	sizes := []int16{2, 4, 1}
	for gpus, want := range []int{0, 1, 1, 1, 1, 2, 2, 3, 3} {
		require.Equal(test, want, IslandsNeeded(sizes, gpus), "%d GPUs", gpus)
	}
	require.Equal(test, []int16{2, 4, 1}, sizes)
}

func TestWhichNodesHaveIslands(test *testing.T) {
	spec := Spec{
		Resources: []string{"gpu"}, Accelerators: []string{"gpu"}, Tiers: DefaultTiers(),
		Nodes: []NodeSpec{
			{Name: "n1", Free: []int64{4}, Islands: []Island{{4, 1}, {4, 3}}},
			{Name: "n2", Free: []int64{8}, Islands: []Island{{8, 8}}},
			{Name: "n3", Free: []int64{3}},
			{Name: "n4", Free: []int64{6}, Islands: []Island{{2, 2}, {3, 0}, {4, 4}}},
		},
	}
	t, err := New(spec)
	require.NoError(test, err)
	require.Equal(test, []int16{1, 3}, t.FreeIslands(0))
	require.Empty(test, t.FreeIslands(1), "one island is the node itself")
	require.Empty(test, t.FreeIslands(2))
	require.Equal(test, []int16{2, 0, 4}, t.FreeIslands(3))
	require.Equal(test, []int16{2, 3, 4}, t.IslandSizes(3))

	// Without accelerators there is nothing that islands could join.
	spec.Accelerators = nil
	for i := range spec.Nodes {
		for j := range spec.Nodes[i].Islands {
			spec.Nodes[i].Islands[j].Free = 0
		}
	}
	t, err = New(spec)
	require.NoError(test, err)
	require.Empty(test, t.AllIslands())
}
