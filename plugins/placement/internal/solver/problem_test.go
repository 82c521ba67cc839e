// SPDX-License-Identifier: Apache-2.0

package solver

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

func TestFragmentationOfPodsOnANode(test *testing.T) {
	const left, nearby = leftoverWeight, 1
	for _, c := range []struct {
		name    string
		islands []tree.Island // of n00; none for one island of 8 free GPUs
		gpus    []int64       // of each pod class's pods
		count   []int32
		want    int64
	}{
		{"no member", nil, []int64{2}, []int32{0}, 0},
		{"what is left on the node, and what is free in its rack before", nil, []int64{2}, []int32{3}, 2*left + 11*nearby},
		{"two kinds", nil, []int64{2, 1}, []int32{1, 3}, 3*left + 11},
		{"pods without GPUs", []tree.Island{{Size: 4, Free: 4}, {Size: 4, Free: 4}}, []int64{0}, []int32{1}, 8*left + 11},
		{"a whole island is broken", []tree.Island{{Size: 4, Free: 4}, {Size: 4, Free: 4}}, []int64{2}, []int32{1}, brokenIslandWeight + 6*left + 11},
		{"both are", []tree.Island{{Size: 4, Free: 4}, {Size: 4, Free: 4}}, []int64{3}, []int32{2}, 2*brokenIslandWeight + 2*left + 11},
		{"a whole island is taken", []tree.Island{{Size: 4, Free: 4}, {Size: 4, Free: 4}}, []int64{2}, []int32{2}, 4*left + 11},
		{"an island that was broken", []tree.Island{{Size: 8, Free: 4}, {Size: 8, Free: 4}}, []int64{2}, []int32{1}, 6*left + 11},
		{"a pod in two islands that needs one", []tree.Island{{Size: 8, Free: 4}, {Size: 8, Free: 4}}, []int64{6}, []int32{1}, straddleWeight + 2*left + 11},
		{"a pod in two islands that needs two", []tree.Island{{Size: 4, Free: 4}, {Size: 4, Free: 4}}, []int64{6}, []int32{1}, brokenIslandWeight + 2*left + 11},
		{"a pod in three islands that needs two", []tree.Island{{Size: 4, Free: 3}, {Size: 4, Free: 3}, {Size: 2, Free: 2}}, []int64{7}, []int32{1}, straddleWeight + brokenIslandWeight + left + 11},
		{"the second pod is in two islands", []tree.Island{{Size: 8, Free: 4}, {Size: 8, Free: 4}}, []int64{3}, []int32{2}, 2*left + 11},
		{"the third pod is in two islands", []tree.Island{{Size: 8, Free: 4}, {Size: 8, Free: 4}}, []int64{3, 2}, []int32{2, 1}, straddleWeight + 11},
	} {
		spec := tree.Spec{
			Resources: []string{"cpu", "gpu"}, Accelerators: []string{"gpu"}, Tiers: tree.DefaultTiers("rack"),
			Nodes: []tree.NodeSpec{
				{Name: "n00", Domains: []string{"r0"}, Free: []int64{99, 8}, Islands: c.islands},
				{Name: "n01", Domains: []string{"r0"}, Free: []int64{99, 3}}, {Name: "n02", Domains: []string{"r1"}, Free: []int64{99, 50}},
			},
		}
		t, err := tree.New(spec)
		require.NoError(test, err)
		p := &problem{t: t}
		for _, n := range c.gpus {
			p.podClasses = append(p.podClasses, podClass{gpus: int(n), request: []int64{1, n}})
		}
		require.Equal(test, c.want, p.fragmentation(0, c.count), c.name)
	}
}

func TestFragmentationWithoutAccelerators(test *testing.T) {
	// What is left is counted in pods of the first pod class: of 20 cpu and 9 of memory, 2 x 3 and 4 are taken; 10 and 1 are left,
	// capacity for one of (3, 1). In the rack 6 and 2 of them fit.
	t, err := tree.New(tree.Spec{
		Resources: []string{"cpu", "memory"}, Tiers: tree.DefaultTiers("rack"),
		Nodes: []tree.NodeSpec{{Name: "n00", Domains: []string{"r0"}, Free: []int64{20, 9}}, {Name: "n01", Domains: []string{"r0"}, Free: []int64{6, 9}}},
	})
	require.NoError(test, err)
	p := &problem{t: t}
	p.podClasses = []podClass{{request: []int64{3, 1}, shape: t.Shape([]int64{3, 1})}, {request: []int64{4, 6}}}
	require.EqualValues(test, 1*leftoverWeight+8, p.fragmentation(0, []int32{2, 1}))
	require.EqualValues(test, 4*leftoverWeight+8, p.fragmentation(0, []int32{2, 0}))
	require.EqualValues(test, 0*leftoverWeight+8, p.fragmentation(1, []int32{2, 0}))
}
