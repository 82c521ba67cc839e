// SPDX-License-Identifier: Apache-2.0

package play

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/philly"
	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/site"
	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/workload"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

func objective(name string) map[string]string { return map[string]string{"objective": name} }

func hosts(n int) cluster.Fleet {
	return cluster.Shape{Nodes: n, PerRack: 2, RacksPerBlock: 1, Capacity: site.Machine}.Fleet()
}

// ring returns a job of some GPUs whose steps take a second.
func ring(id, gpus int, arrival, steps float64) *workload.Job {
	name := string(rune('a' + id))
	return &workload.Job{
		Job: cluster.Ring(name, gpus, workload.Rank), ID: id, Arrival: arrival, Measured: arrival >= 0, GPUs: gpus,
		Compute: 1, Steps: steps, ModelBytes: 1e9,
	}
}

// One host of 8 GPUs. The scheduler runs on full seconds, so the first job starts at 1 and ends at 101. The second one, which
// needs the host as well, waits until then and ends at 151; a job of the warm-up held 2 GPUs until 0.
func TestJobsWaitForFreeCapacity(t *testing.T) {
	jobs := []*workload.Job{ring(0, 2, -9.5, 9), ring(1, 8, 0.5, 100), ring(2, 6, 2.25, 50)}
	r, err := Play(site.New(hosts(1), site.Usual), cluster.Stock(), &workload.Drawn{Jobs: jobs, Window: 40}, 1, 0)
	require.NoError(t, err)
	require.Equal(t, 2, r.Jobs)
	require.InDelta(t, (100.5+148.75)/2, r.JCTMean, 1e-6)
	require.InDelta(t, 98.75, r.GangWaitP99, 1e-6)
	require.InDelta(t, (0.5+98.75)/2, r.GangWaitMean, 1e-6)
	require.InDelta(t, 39.0/40, r.GPUUse, 1e-6, "nothing runs in the first second")
	require.InDelta(t, r.GPUUse, r.GPUComputing, 1e-6, "nothing waits for the network")
	require.InDelta(t, 1, r.GangSlowdown, 1e-6)
	require.InDelta(t, (8*100.0+6*50)/(8*40), r.LoadHeld, 1e-6)
	require.Zero(t, r.Crossing)
	require.Equal(t, 4, r.Sessions, "one for each arrival, and one when the host is free again")
}

// A ring of 16 on two hosts of a rack: of 1e9 bytes each host sends 2 · 15/16 in each step, at 15 Gbps in exactly one second. So
// it takes twice as long, and computes half of its time.
func TestTheNetworkSlowsGangsDown(t *testing.T) {
	jobs := []*workload.Job{ring(0, 16, 0, 100)}
	r, err := Play(site.New(hosts(2), site.Gbps{15, 15, 15}), cluster.Paddle(objective("bytes")), &workload.Drawn{Jobs: jobs, Window: 100}, 1, 0)
	require.NoError(t, err)
	require.InDelta(t, 200, r.GangJCTMean, 1e-6)
	require.InDelta(t, 2, r.GangSlowdown, 1e-9)
	require.InDelta(t, 2, r.LoadHeld, 1e-9, "twice what was offered")
	require.InDelta(t, 2*100*1.875e9, r.Crossing, 1)
	require.InDelta(t, 1, r.GPUUse, 1e-9)
	require.InDelta(t, 0.5, r.GPUComputing, 1e-9)
}

func TestAGangThatFitsNowhereIsAnError(t *testing.T) {
	jobs := []*workload.Job{ring(0, 9, 0, 1)}
	_, err := Play(site.New(hosts(1), site.Usual), cluster.Stock(), &workload.Drawn{Jobs: jobs, Window: 1}, 1, 0)
	require.ErrorContains(t, err, "1 jobs wait forever")
}

// drawn returns a few dozen jobs for a few racks.
func drawn(t *testing.T, s *site.Site, mix workload.Mix) *workload.Drawn {
	t.Helper()
	d, err := workload.Draw(philly.Rows(), workload.Settings{
		Seed: 3, Load: 0.85, GPUs: s.GPUs(), Jobs: 30, Cap: 300, Mix: mix, PSShare: -1, Sparse: 1,
	})
	require.NoError(t, err)
	return d
}

// noise of steps that are simulated for a while only.
const noise = 0.03

// Some set-ups run twice. With the plugin gangs are slowed down less, and less traffic crosses the network, than with each of Volcano's
// set-ups. task-topology takes pods out of its buckets in the order of Go's maps, which is another each time.
func TestASliceIsTheSameEachTimeAndBestWithThePlugin(t *testing.T) {
	var others []*Result
	again := map[string]int{"stock": 2, "task-topology": 1, "network-topology-aware": 1, "paddle": 2}
	for _, setup := range []cluster.Setup{
		cluster.Stock(), cluster.TaskTopology(), cluster.NetworkTopology(), cluster.Paddle(objective("bytes")), cluster.Paddle(objective("max-link-load")),
	} {
		results := []*Result{}
		for range again[setup.Name] {
			s := site.New(site.Cut(16), site.Usual)
			result, err := Play(s, setup, drawn(t, s, workload.OneGPU), 3, 20)
			require.NoError(t, err, setup.Name)
			results = append(results, result)
		}
		r := results[0]
		require.Equal(t, r, results[len(results)-1], setup.Name)
		require.Equal(t, 30, r.Jobs)
		require.Positive(t, r.Gangs)
		require.Equal(t, r.Gangs, r.PaddleGangs)
		require.GreaterOrEqual(t, r.GangSlowdown, 1-noise)
		require.GreaterOrEqual(t, r.GangJCTMean, r.GangWaitMean)
		require.GreaterOrEqual(t, r.GPUUse, r.GPUComputing)
		require.LessOrEqual(t, r.GPUUse, 1.0)
		if !strings.HasPrefix(setup.Name, "paddle") {
			others = append(others, r)
			continue
		}
		for _, other := range others {
			require.LessOrEqual(t, r.GangSlowdown, other.GangSlowdown, setup.Name)
			require.LessOrEqual(t, r.Crossing, other.Crossing, setup.Name)
		}
	}
	require.Len(t, others, 3)
}

// Stock scatters pods, so jobs meet on links all the time: there the formula is near the simulation of flows.
func TestTheFormulaIsComparedWithTheFlows(t *testing.T) {
	s := site.New(site.Cut(16), site.Usual)
	r, err := Play(s, cluster.Stock(), drawn(t, s, workload.OneGPU), 3, 20)
	require.NoError(t, err)
	require.Equal(t, 20, r.Formula.Samples)
	require.Positive(t, r.Formula.Steps)
	require.Less(t, r.Formula.Absolute, 0.15)
	require.Less(t, r.Burst.Absolute, 0.1)
	require.LessOrEqual(t, math.Abs(r.Formula.Mean), r.Formula.Absolute)
}

func TestARealisticMixIsPlayed(t *testing.T) {
	s := site.New(site.Cut(16), site.Usual)
	r, err := Play(s, cluster.Paddle(objective("bytes")), drawn(t, s, workload.Realistic), 3, 0)
	require.NoError(t, err)
	require.GreaterOrEqual(t, r.Jobs, 30)
	require.Positive(t, r.PaddleGangs)
	require.GreaterOrEqual(t, r.GangSlowdown, 1-noise)
	require.Nil(t, r.Formula)
}
