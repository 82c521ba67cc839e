// SPDX-License-Identifier: Apache-2.0

package site

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/fluid"
	"github.com/paddle-volcano/paddle-volcano/test/placement/lingjun"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
	"github.com/paddle-volcano/paddle-volcano/test/session/quality"
)

func TestTheCutIsWholeRacksOfAllBlocks(t *testing.T) {
	whole := map[string]int{}
	for _, n := range lingjun.Spec().Nodes {
		whole[strings.ToLower(n.Domains[blockOf]+"-"+n.Domains[rackOf])]++
	}
	fleet := Cut(112)
	require.Equal(t, "111 hosts of 8 GPUs in 17 racks of 3 blocks", Describe(fleet))
	require.Equal(t, fleet, Cut(112))
	seen := map[string]bool{}
	for _, rack := range fleet.Racks() {
		require.False(t, seen[rack[0].Rack], "nodes of a rack follow each other")
		seen[rack[0].Rack] = true
		require.Len(t, rack, whole[rack[0].Rack])
	}
	require.GreaterOrEqual(t, len(Cut(128)), 112)
	require.LessOrEqual(t, len(Cut(128)), 128)
}

// Two racks of two nodes in one block, and one rack of one node in another.
//
//	       b0            b1
//	  r0       r1        r2
//	n0  n1   n2  n3      n4
func small(t *testing.T, rings Rings) *Site {
	t.Helper()
	var fleet cluster.Fleet
	for _, place := range [][3]string{{"n0", "r0", "b0"}, {"n1", "r0", "b0"}, {"n2", "r1", "b0"}, {"n3", "r1", "b0"}, {"n4", "r2", "b1"}} {
		fleet = append(fleet, cluster.Node{Name: place[0], Rack: place[1], Block: place[2], Capacity: Machine})
	}
	s, err := New(fleet, Gbps{8, 16, 32}, rings)
	require.NoError(t, err)
	return s
}

// named are the loads by the names of the domains.
func named(s *Site, loads []fluid.Load) map[string]float64 {
	all := map[string]float64{}
	for _, load := range loads {
		all[s.topology.LocalName(placement.DomainID(load.Link))] = load.Bytes
	}
	return all
}

var (
	rank   = cluster.Amounts{CPU: 6, Memory: 32, GPU: 1}
	server = cluster.Amounts{CPU: 8, Memory: 32}
)

func TestWhatPlacedJobsSend(t *testing.T) {
	ring := cluster.Ring("ring", 4, rank)
	ps := cluster.ServersAndWorkers("ps", 1, 4, server, rank)
	for _, c := range []struct {
		name  string
		job   cluster.Job
		nodes []string // servers first
		want  map[string]float64
		bytes [Tiers]float64
	}{
		{"a ring on one node", ring, []string{"n0", "n0", "n0", "n0"}, map[string]float64{}, [Tiers]float64{}},
		// Each node holds one run of ranks: 2 (4-1)/4 of 100 bytes.
		{"a ring on two nodes of a rack", ring, []string{"n0", "n0", "n1", "n1"}, map[string]float64{"n0": 150, "n1": 150}, [Tiers]float64{300}},
		{"a ring whose ranks are mixed up", ring, []string{"n0", "n1", "n0", "n1"}, map[string]float64{"n0": 150, "n1": 150}, [Tiers]float64{300}},
		{
			"a ring in two blocks", ring, []string{"n0", "n0", "n2", "n4"},
			map[string]float64{"n0": 150, "n2": 150, "n4": 150, "r0": 150, "r1": 150, "r2": 150, "b0": 150, "b1": 150}, [Tiers]float64{450, 450, 300},
		},
		// The server sends all parameters to each of the two workers that are elsewhere, and gets as much from each.
		{"a server with half of its workers", ps, []string{"n0", "n0", "n0", "n2", "n2"}, map[string]float64{"n0": 200, "n2": 200, "r0": 200, "r1": 200}, [Tiers]float64{400, 400}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := small(t, ByNode)
			bound := map[string]string{}
			i := 0
			for _, role := range c.job.Roles {
				for index := range role.Pods {
					bound[c.job.PodName(role.Task, index)] = c.nodes[i]
					i++
				}
			}
			placed, err := s.Place(&c.job, 100, bound)
			require.NoError(t, err)
			require.Equal(t, c.want, named(s, placed.Loads))
			require.Equal(t, c.bytes, placed.Bytes)

			assignments, err := quality.Assignments(s.topology, &c.job, bound)
			require.NoError(t, err)
			demand := quality.Demand(&c.job)
			demand.ParameterBytes = 100
			cost, err := placement.Evaluate(s.topology, demand, s.ring(&c.job, assignments))
			require.NoError(t, err)
			for tier := range placed.Bytes {
				require.InDelta(t, cost.Tiers[placement.NodeTier+tier].Bytes, placed.Bytes[tier], 1e-9)
			}
		})
	}
}

// n0 and n1 are in the rack r0, n2 and n3 in r1. By rank a ring goes to and fro between racks and nodes if its ranks do; by node
// only between racks, as the order of the nodes is still that of the ranks.
func TestRings(t *testing.T) {
	const once = 150
	ring := cluster.Ring("ring", 4, rank)
	for _, c := range []struct {
		rings Rings
		nodes []string
		want  map[string]float64
	}{
		{ByRank, []string{"n0", "n2", "n2", "n1"}, map[string]float64{"n0": once, "n1": once, "n2": once, "r0": once, "r1": once}},
		{ByRank, []string{"n0", "n2", "n1", "n2"}, map[string]float64{"n0": once, "n1": once, "n2": 2 * once, "r0": 2 * once, "r1": 2 * once}},
		{ByNode, []string{"n0", "n2", "n1", "n2"}, map[string]float64{"n0": once, "n1": once, "n2": once, "r0": once, "r1": once}},
		{ByNode, []string{"n0", "n2", "n1", "n3"}, map[string]float64{"n0": once, "n1": once, "n2": once, "n3": once, "r0": 2 * once, "r1": 2 * once}},
	} {
		s := small(t, c.rings)
		bound := map[string]string{}
		for i, node := range c.nodes {
			bound[ring.PodName(cluster.WorkerTask, i)] = node
		}
		placed, err := s.Place(&ring, 100, bound)
		require.NoError(t, err)
		require.Equal(t, c.want, named(s, placed.Loads), "rings by %s: %v", c.rings, c.nodes)
	}
	_, err := New(Cut(16), Usual, "colour")
	require.ErrorContains(t, err, "colour")
}

func TestLinksAreAsWideAsTheirTier(t *testing.T) {
	s := small(t, ByNode)
	require.Equal(t, 40, s.GPUs())
	require.Len(t, s.Links(), 5+3+2)
	require.Equal(t, []float64{1e9, 1e9, 1e9, 1e9, 1e9, 2e9, 2e9, 2e9, 4e9, 4e9}, s.Links())
}

func TestJobsHoldRoomUntilTheyLeave(t *testing.T) {
	s := small(t, ByNode)
	job := cluster.Ring("ring", 8, rank)
	bound := map[string]string{}
	for i := range 8 {
		bound[job.PodName(cluster.WorkerTask, i)] = "n0"
	}
	placed, err := s.Place(&job, 100, bound)
	require.NoError(t, err)
	_, err = s.Place(&job, 100, bound)
	require.ErrorContains(t, err, "place job ring")
	s.Leave(placed)
	_, err = s.Place(&job, 100, bound)
	require.NoError(t, err)
	bound["ring-worker-3"] = "nowhere"
	_, err = s.Place(&job, 100, bound)
	require.ErrorContains(t, err, "nowhere")
}
