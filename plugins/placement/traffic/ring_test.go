// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
	"github.com/paddle-volcano/paddle-volcano/test/placement/placementtest"
)

// TestCutsOfAGap: r0 is n00 and n01, r1 is n02 and n03; ends of runs at the border of r0 and of n02.
func TestCutsOfAGap(test *testing.T) {
	t := placementtest.GPUTree(test, 9, 9, 9, 9)
	const rack, node = 4, 2
	for _, c := range []struct {
		name   string
		d      *gang.Demand
		rack   []int64 // ends for 0, 1, ... members in r0
		node   []int64 // on n02
		groups int
	}{
		{"a whole ring", placementtest.RingOf(3, nil), []int64{0, 2, 2, 0}, []int64{0, 2, 2, 0}, 0},
		{"both ends held", placementtest.RingOf(4, map[int]tree.NodeID{0: 0, 3: 1}), []int64{2, 2, 0}, []int64{0, 2, 2}, 0},
		{"one end held", placementtest.RingOf(4, map[int]tree.NodeID{0: 0, 3: 2}), []int64{2, 2, 2}, []int64{2, 2, 2}, 0},
		{"no end held", placementtest.RingOf(4, map[int]tree.NodeID{0: 3, 3: 3}), []int64{0, 2, 2}, []int64{0, 2, 2}, 0},
		// Two that run are neighbors too: the way over the end of the ring.
		{"the last and the first run apart", placementtest.RingOf(3, map[int]tree.NodeID{0: 0, 2: 2}), []int64{2, 2}, []int64{2, 2}, 0},
		// A cut inside a group of two adds the two ends of a ring of its own, of weight 64 each.
		{"a whole ring of groups", placementtest.RingOf(4, nil), []int64{0, 2 + 128, 2, 2 + 128, 0}, []int64{0, 2 + 128, 2, 2 + 128, 0}, 2},
		// Members 1 and 2 are pending: from n00, one of them ends a group at its second member, 1.
		{"one end held, in groups", placementtest.RingOf(4, map[int]tree.NodeID{0: 0, 3: 2}), []int64{2 + 128, 2, 2 + 128}, []int64{2 + 128, 2, 2 + 128}, 2},
	} {
		c.d.GroupSize = c.groups
		ring := NewRing(t, c.d, []int{len(c.d.Roles[0].Pending)})
		for _, v := range []struct {
			domain tree.DomainID
			want   []int64
		}{{rack, c.rack}, {node, c.node}} {
			var ends []int64
			for k := range v.want {
				ends = append(ends, ring.Load(v.domain, []int32{int32(k)}))
			}
			require.Equal(test, v.want, ends, "%s, %s", c.name, t.DomainName(v.domain))
		}
	}
}

func TestEndsInIslands(test *testing.T) {
	//	n0: islands of 4, with 2 and 3 GPUs free    n1: one island
	t, err := tree.New(tree.Spec{
		Resources: []string{"gpu"}, Accelerators: []string{"gpu"}, Tiers: tree.DefaultTiers(),
		Nodes: []tree.NodeSpec{{Name: "n0", Free: []int64{5}, Islands: []tree.Island{{Size: 4, Free: 2}, {Size: 4, Free: 3}}}, {Name: "n1", Free: []int64{5}}},
	})
	require.NoError(test, err)
	for _, c := range []struct {
		name      string
		d         *gang.Demand
		members   int32
		gpus      int
		sum, most int64
	}{
		{"the whole ring in one island", placementtest.RingOf(2, nil), 2, 1, 0, 0},
		{"a part of it in one island", placementtest.RingOf(3, nil), 2, 1, 2, 2},
		// Ranks 0 and 1 in island 0, 2 and 3 in island 1: closed, each has two ends.
		{"the whole ring in two", placementtest.RingOf(2, nil), 2, 2, 4, 2},
		{"a part of it in two", placementtest.RingOf(3, nil), 2, 2, 4, 2},
		{"members that run elsewhere keep the ring open", placementtest.RingOf(3, map[int]tree.NodeID{0: 1}), 2, 1, 2, 2},
		{"no member", placementtest.RingOf(3, nil), 0, 1, 0, 0},
		// Groups of three ranks: 0 0 1, and 1 alone in its last group. The first group has 2 x 64 ends in either.
		{"a group in two islands", placementtest.RingOf(2, nil), 2, 2, 4 + 256, 2 + 128},
	} {
		if c.sum > 4 {
			c.d.GroupSize = 3
		}
		c.d.Roles[0].Request[0] = int64(c.gpus)
		sum, most := NewRing(t, c.d, []int{len(c.d.Roles[0].Pending)}).Island(0, []int32{c.members})
		require.Equal(test, c.sum, sum, c.name)
		require.Equal(test, c.most, most, c.name)
	}
	// Without islands, and for pods without GPUs, the node's own load stands for its island's.
	for node, gpus := range []int64{0, 1} {
		d := placementtest.RingOf(3, nil)
		d.Roles[0].Request[0] = gpus
		sum, most := NewRing(t, d, []int{3}).Island(tree.NodeID(node), []int32{2})
		require.EqualValues(test, 2, sum)
		require.EqualValues(test, 2, most)
	}
}
