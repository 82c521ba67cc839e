// SPDX-License-Identifier: Apache-2.0

package site

import (
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/flows"
	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/workload"
	"github.com/paddle-volcano/paddle-volcano/test/placement/lingjun"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
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
func small() *Site {
	var fleet cluster.Fleet
	for _, place := range [][3]string{{"n0", "r0", "b0"}, {"n1", "r0", "b0"}, {"n2", "r1", "b0"}, {"n3", "r1", "b0"}, {"n4", "r2", "b1"}} {
		fleet = append(fleet, cluster.Node{Name: place[0], Rack: place[1], Block: place[2], Capacity: Machine})
	}
	return New(fleet, Gbps{8, 16, 32})
}

var (
	server = cluster.Amounts{CPU: 8, Memory: 32}
	two    = cluster.Amounts{CPU: 10, Memory: 64, GPU: 2}
	eight  = cluster.Amounts{CPU: 48, Memory: 256, GPU: 8}
)

// bound binds the pods of all roles, in their order.
func bound(job *cluster.Job, nodes ...string) map[string]string {
	all := map[string]string{}
	for _, role := range job.Roles {
		for index := range role.Pods {
			all[job.PodName(role.Task, index)], nodes = nodes[0], nodes[1:]
		}
	}
	return all
}

func TestWhatPlacedJobsSend(t *testing.T) {
	ring := workload.Job{Job: cluster.Ring("ring", 4, workload.Rank), ModelBytes: 100}
	pods := workload.Job{Job: cluster.Ring("pods", 2, eight), ModelBytes: 160}
	ps := workload.Job{Job: cluster.ServersAndWorkers("ps", 1, 4, server, two), ModelBytes: 100}
	nested := workload.Job{Job: cluster.Ring("nested", 2, eight), Hybrid: flows.Hybrid{Tensor: 8, Pipeline: 1, Gradients: 10}}
	for _, c := range []struct {
		name  string
		job   workload.Job
		nodes []string // servers first
		bytes [Tiers]float64
		loads int
	}{
		{"a ring on one node", ring, []string{"n0", "n0", "n0", "n0"}, [Tiers]float64{}, 0},
		{"a ring on two nodes of a rack", ring, []string{"n0", "n0", "n1", "n1"}, [Tiers]float64{300}, 2},
		{"a ring in two blocks", ring, []string{"n0", "n0", "n2", "n4"}, [Tiers]float64{450, 450, 300}, 8},
		// Of 16 ranks each host sends 2 (16-1)/16 of 160 bytes.
		{"a ring of pods of 8 GPUs", pods, []string{"n0", "n2"}, [Tiers]float64{600, 600}, 4},
		// Bytes are by worker, however many GPUs it has.
		{"a server with half of its workers", ps, []string{"n0", "n0", "n0", "n2", "n2"}, [Tiers]float64{400, 400}, 4},
		// Eight rings of two ranks.
		{"a job with hybrid parallelism", nested, []string{"n0", "n1"}, [Tiers]float64{8 * 20}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := small()
			placed, err := s.Place(&c.job, bound(&c.job.Job, c.nodes...))
			require.NoError(t, err)
			require.Equal(t, c.bytes, placed.Bytes)
			loads := Loads(placed.Flows)
			require.Len(t, loads, c.loads)
			sum := 0.0
			for _, load := range loads {
				sum += load.Bytes
			}
			require.InDelta(t, c.bytes[Node]+c.bytes[Rack]+c.bytes[Block], sum, 1e-9)
		})
	}
}

func TestLinksAreAsWideAsTheirTier(t *testing.T) {
	s := small()
	require.Equal(t, 40, s.GPUs())
	links := s.Links()
	require.Len(t, links, 5+3+2)
	sum := 0.0
	for _, width := range links {
		sum += width
	}
	require.InDelta(t, 5*1e9+3*2e9+2*4e9, sum, 1)
}

func TestJobsHoldCapacityUntilTheyLeave(t *testing.T) {
	s := small()
	job := workload.Job{Job: cluster.Ring("ring", 8, workload.Rank)}
	nodes := bound(&job.Job, "n0", "n0", "n0", "n0", "n0", "n0", "n0", "n0")
	placed, err := s.Place(&job, nodes)
	require.NoError(t, err)
	_, err = s.Place(&job, nodes)
	require.ErrorContains(t, err, "place job ring")
	s.Leave(placed)
	wrong := maps.Clone(nodes)
	wrong["ring-worker-3"] = "nowhere"
	_, err = s.Place(&job, wrong)
	require.ErrorContains(t, err, "nowhere")
	_, err = s.Place(&job, nodes)
	require.NoError(t, err, "a job that cannot be placed holds nothing")
}
