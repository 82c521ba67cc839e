// SPDX-License-Identifier: Apache-2.0

package flows

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Hosts 0 and 1 are in the rack r0, 2 and 3 in r1, both in the block b0; 4 is in r2 of b1.
//
//	      b0            b1
//	 r0       r1        r2
//	0   1    2   3       4
func small() *Network {
	return NewNetwork([]string{"r0", "r0", "r1", "r1", "r2"}, []string{"b0", "b0", "b0", "b0", "b1"}, [Tiers]float64{1, 2, 4})
}

func TestPaths(t *testing.T) {
	n := small()
	for _, c := range []struct {
		from, to int
		tiers    []int
	}{
		{0, 1, []int{NIC, NIC}},
		{1, 2, []int{NIC, Rack, Rack, NIC}},
		{4, 3, []int{NIC, Rack, Block, Block, Rack, NIC}},
	} {
		path, back := n.path(c.from, c.to), n.path(c.to, c.from)
		require.Len(t, path, len(c.tiers))
		for i, link := range path {
			require.Equal(t, c.tiers[i], n.TierOf(link))
			require.Equal(t, i < len(path)/2, Up(link))
			require.InDelta(t, float64(int(1)<<c.tiers[i]), n.Widths[link], 0)
			require.Equal(t, link^1, back[len(path)-1-i], "the reverse path takes the other direction of the same links")
		}
	}
}

func TestWhatJobsSend(t *testing.T) {
	for _, c := range []struct {
		name      string
		exchanges []Exchange
		flows     int
		crossing  [Tiers]float64
	}{
		{"a ring on one host", Ring([]int{0, 0, 0, 0}, 100), 0, [Tiers]float64{}},
		// Each host sends 2 (4-1)/4 of 100 bytes to the next one.
		{"a ring on two hosts of a rack", Ring([]int{0, 0, 1, 1}, 100), 2, [Tiers]float64{300}},
		{"a ring of mixed ranks", Ring([]int{0, 1, 0, 1}, 100), 2, [Tiers]float64{300}},
		{"a ring of three hosts in two blocks", Ring([]int{0, 0, 2, 4}, 100), 3, [Tiers]float64{450, 450, 300}},
		// By host 0, 2, 1, 3: to and fro between the racks.
		{"a ring whose hosts are mixed", Ring([]int{0, 2, 1, 3}, 100), 4, [Tiers]float64{600, 600}},
		// Two of four workers are elsewhere: 100 bytes to each and from each.
		{"a server with half of its workers", ParameterServers([]int{0}, []int{0, 0, 2, 2}, 100), 2, [Tiers]float64{400, 400}},
		{"two servers apart", ParameterServers([]int{0, 4}, []int{0, 0}, 100), 2, [Tiers]float64{200, 200, 200}},
		// Two copies of a tensor parallel group: each of two ranks has a ring of two with its copy.
		{
			"tensor parallel groups on a host each", Hybrid{Tensor: 2, Pipeline: 1, Gradients: 10, Partial: 1000}.Exchanges([]int{0, 0, 1, 1}),
			2, [Tiers]float64{40},
		},
		// Cut through, each group all-reduces over the NIC, and the copies share hosts.
		{
			"tensor parallel groups apart", Hybrid{Tensor: 2, Pipeline: 1, Gradients: 10, Partial: 1000}.Exchanges([]int{0, 1, 0, 1}),
			2, [Tiers]float64{4000},
		},
		{
			"a stage on a host each", Hybrid{Tensor: 2, Pipeline: 2, Gradients: 10, Activations: 5}.Exchanges([]int{0, 0, 2, 2}),
			2, [Tiers]float64{20, 20},
		},
		// Ring of stage 0: hosts 0 and 2; of stage 1: 1 and 3. Stages: 0 to 1 and 2 to 3, each both ways.
		{
			"two copies of two stages", Hybrid{Tensor: 1, Pipeline: 2, Gradients: 10, Activations: 5}.Exchanges([]int{0, 1, 2, 3}),
			8, [Tiers]float64{40 + 20, 40},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := small()
			all := n.Flows(c.exchanges)
			require.Len(t, all, c.flows)
			require.InDeltaSlice(t, c.crossing[:], toSlice(n.Crossing(all)), 1e-9)
		})
	}
}

func toSlice(a [Tiers]float64) []float64 { return a[:] }

func TestEqualFlowsAreCountedTogether(t *testing.T) {
	n := small()
	all := n.Flows(ParameterServers([]int{0, 0}, []int{1, 1, 1, 0}, 100))
	require.Len(t, all, 2)
	for _, flow := range all {
		require.InDelta(t, 6, flow.Count, 0)
		require.InDelta(t, 50, flow.Bytes, 0)
	}
}
