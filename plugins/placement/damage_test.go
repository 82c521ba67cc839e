// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHarmOfPodsOnANode(test *testing.T) {
	const left, nearby = leftoverHarm, 1
	for _, c := range []struct {
		name    string
		islands []Island // of n00; none for one island of 8 free GPUs
		gpus    []int64  // of each kind's pods
		count   []int32
		want    int64
	}{
		{"nobody", nil, []int64{2}, []int32{0}, 0},
		{"what is left on the node, and what is free in its rack before", nil, []int64{2}, []int32{3}, 2*left + 11*nearby},
		{"two kinds", nil, []int64{2, 1}, []int32{1, 3}, 3*left + 11},
		{"pods without GPUs", []Island{{4, 4}, {4, 4}}, []int64{0}, []int32{1}, 8*left + 11},
		{"a whole island is broken", []Island{{4, 4}, {4, 4}}, []int64{2}, []int32{1}, brokenHarm + 6*left + 11},
		{"both are", []Island{{4, 4}, {4, 4}}, []int64{3}, []int32{2}, 2*brokenHarm + 2*left + 11},
		{"a whole island is taken", []Island{{4, 4}, {4, 4}}, []int64{2}, []int32{2}, 4*left + 11},
		{"an island that was broken", []Island{{8, 4}, {8, 4}}, []int64{2}, []int32{1}, 6*left + 11},
		{"a pod in two islands that needs one", []Island{{8, 4}, {8, 4}}, []int64{6}, []int32{1}, straddleHarm + 2*left + 11},
		{"a pod in two islands that needs two", []Island{{4, 4}, {4, 4}}, []int64{6}, []int32{1}, brokenHarm + 2*left + 11},
		{"a pod in three islands that needs two", []Island{{4, 3}, {4, 3}, {2, 2}}, []int64{7}, []int32{1}, straddleHarm + brokenHarm + left + 11},
		{"the second pod is in two islands", []Island{{8, 4}, {8, 4}}, []int64{3}, []int32{2}, 2*left + 11},
		{"the third pod is in two islands", []Island{{8, 4}, {8, 4}}, []int64{3, 2}, []int32{2, 1}, straddleHarm + 11},
	} {
		spec := TopologySpec{
			Resources: []string{"cpu", "gpu"}, Accelerators: []string{"gpu"}, Tiers: DefaultTiers("rack"),
			Nodes: []NodeSpec{
				{Name: "n00", Domains: []string{"r0"}, Free: []int64{99, 8}, Islands: c.islands},
				{Name: "n01", Domains: []string{"r0"}, Free: []int64{99, 3}}, {Name: "n02", Domains: []string{"r1"}, Free: []int64{99, 50}},
			},
		}
		t, err := NewTopology(spec)
		require.NoError(test, err)
		p := &problem{t: t}
		for _, n := range c.gpus {
			p.kinds = append(p.kinds, kind{gpus: int(n), request: []int64{1, n}})
		}
		require.Equal(test, c.want, p.harm(0, c.count), c.name)
	}
}

func TestHarmWithoutAccelerators(test *testing.T) {
	// What is left is counted in pods of the first kind: of 20 cpu and 9 of memory, 2 x 3 and 4 are taken; 10 and 1 are left,
	// room for one of (3, 1). In the rack 6 and 2 of them fit.
	t, err := NewTopology(TopologySpec{
		Resources: []string{"cpu", "memory"}, Tiers: DefaultTiers("rack"),
		Nodes: []NodeSpec{{Name: "n00", Domains: []string{"r0"}, Free: []int64{20, 9}}, {Name: "n01", Domains: []string{"r0"}, Free: []int64{6, 9}}},
	})
	require.NoError(test, err)
	p := &problem{t: t}
	p.kinds = []kind{{request: []int64{3, 1}, shape: t.fits.shape([]int64{3, 1})}, {request: []int64{4, 6}}}
	require.EqualValues(test, 1*leftoverHarm+8, p.harm(0, []int32{2, 1}))
	require.EqualValues(test, 4*leftoverHarm+8, p.harm(0, []int32{2, 0}))
	require.EqualValues(test, 0*leftoverHarm+8, p.harm(1, []int32{2, 0}))
}
