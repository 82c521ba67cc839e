// SPDX-License-Identifier: Apache-2.0

package flows

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/fluid"
)

// pair sends bytes from one host to another, and nothing back.
func pair(n *Network, compute float64, from, to int, bytes float64) Job {
	return Job{Compute: compute, Flows: n.Flows([]Exchange{{from, to, bytes}})}
}

func steps(t *testing.T, n *Network, jobs ...Job) []float64 {
	t.Helper()
	var all []float64
	for _, mean := range Steps(n, jobs, 2000, 1e5, 1) {
		all = append(all, mean.Step)
	}
	return all
}

func TestSteps(t *testing.T) {
	n := small()
	for _, c := range []struct {
		name string
		jobs []Job
		want []float64
	}{
		{"one alone", []Job{pair(n, 2, 0, 1, 3)}, []float64{5}},
		{"the last flow ends the step", []Job{{1, n.Flows([]Exchange{{0, 1, 1}, {2, 3, 4}})}}, []float64{5}},
		// Both leave host 0 at half of its width; then the longer one has it for itself.
		{"two flows of one job", []Job{{1, n.Flows([]Exchange{{0, 1, 1}, {0, 2, 3}})}}, []float64{5}},
		{"on separate links", []Job{pair(n, 2, 0, 1, 3), pair(n, 1, 2, 3, 1)}, []float64{5, 2}},
		{"the other direction is another link", []Job{pair(n, 1, 0, 1, 3), pair(n, 1, 1, 0, 3)}, []float64{4, 4}},
		{"three that do nothing but send", []Job{pair(n, 0, 0, 1, 1), pair(n, 0, 0, 1, 1), pair(n, 0, 0, 2, 5)}, []float64{3, 3, 15}},
		// The uplink of the rack carries 2: both NICs can be full at once.
		{"an uplink that cannot be full", []Job{pair(n, 1, 0, 2, 3), pair(n, 1, 1, 3, 3)}, []float64{4, 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.InEpsilonSlice(t, c.want, steps(t, n, c.jobs...), 0.01)
		})
	}
}

// Three jobs that only send leave a rack whose uplink carries two: each gets two thirds of its NIC.
func TestAnUplinkIsShared(t *testing.T) {
	n := NewNetwork([]string{"a", "a", "a", "b", "b", "b"}, []string{"x", "x", "x", "x", "x", "x"}, [Tiers]float64{1, 2, 9})
	got := steps(t, n, pair(n, 0, 0, 3, 2), pair(n, 0, 1, 4, 2), pair(n, 0, 2, 5, 2))
	require.InEpsilonSlice(t, []float64{3, 3, 3}, got, 1e-6)
}

// Over many steps no link carries more than its width, no step is shorter than alone, and none longer than if the others sent all
// the time on every one of the job's links.
func TestPropertiesOfSteps(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	n := small()
	for range 100 {
		jobs := make([]Job, 2+random.IntN(4))
		for i := range jobs {
			hosts := make([]int, 2+random.IntN(4))
			for at := range hosts {
				hosts[at] = (at + random.IntN(2)) % 5
			}
			exchanges := Ring(hosts, 0.1+random.ExpFloat64())
			if random.IntN(2) == 0 || len(exchanges) == 0 {
				exchanges = ParameterServers([]int{0, 4}, []int{1, 2, 3}[:1+random.IntN(3)], 0.1+random.ExpFloat64())
			}
			jobs[i] = Job{random.Float64() * float64(random.IntN(3)), n.Flows(exchanges)}
		}
		means := Steps(n, jobs, 100, 1e4, 1)
		carried := make([]float64, len(n.Widths))
		for i, job := range jobs {
			alone := Steps(n, []Job{job}, 1, 1, 1)[0]
			require.Zero(t, alone.Seen)
			require.GreaterOrEqual(t, means[i].Step, alone.Step*0.97, "jitter")
			for _, flow := range job.Flows {
				for _, link := range flow.Links {
					carried[link] += flow.Count * flow.Bytes / means[i].Step
				}
			}
		}
		for link := range carried {
			require.LessOrEqual(t, carried[link], n.Widths[link]*1.05)
		}
	}
}

// A job with parameter servers spends much time on its servers' NICs and little on a worker's, which a ring shares. The formula
// agrees with the simulation only if the job counts on each link for the time that it sends there.
func TestTheFormulaAgreesOnSeveralLinks(t *testing.T) {
	n := NewNetwork([]string{"a", "a", "a", "a"}, []string{"x", "x", "x", "x"}, [Tiers]float64{1, 9, 9})
	jobs := []Job{
		{0.5, n.Flows(ParameterServers([]int{0}, []int{1, 2, 3}, 0.5))},
		{1, n.Flows(Ring([]int{2, 3}, 0.5))},
	}
	fluids := make([]fluid.Job, len(jobs))
	for i, job := range jobs {
		fluids[i].Compute = job.Compute
		loads := map[int32]float64{}
		for _, flow := range job.Flows {
			loads[flow.Links[0]] += flow.Count * flow.Bytes
		}
		for link := range int32(len(n.Widths)) {
			if loads[link] > 0 {
				fluids[i].Loads = append(fluids[i].Loads, fluid.Load{Link: int(link), Bytes: loads[link]})
			}
		}
	}
	require.InEpsilonSlice(t, steps(t, n, jobs...), fluid.Steps(n.Widths, fluids), 0.05)
}

func TestAJobAlone(t *testing.T) {
	n := small()
	e := NewEngine(n, -10, 1, 0)
	require.True(t, math.IsInf(e.Next(), 1))
	e.Start(7, pair(n, 1, 0, 1, 1), 10)
	require.InDelta(t, 10, e.Next(), 1e-6)
	require.Empty(t, e.Advance(3))
	require.InDelta(t, 10, e.Next(), 1e-6, "the time that passes changes nothing")
	e.Computing(func(_ int, share float64) { require.InDelta(t, 0.5, share, 1e-6) })
	require.Equal(t, []int{7}, e.Advance(e.Next()))
	require.True(t, math.IsInf(e.Next(), 1))
}

// The first does 5 of its 10 steps of 1 s, then shares the NIC until the second has done its 4 steps of 2 s, and has 1 step left.
func TestJobsThatStartAndEndChangeThePaceOfOthers(t *testing.T) {
	n := small()
	e := NewEngine(n, 0, 1, 10)
	e.Start(0, pair(n, 0, 0, 1, 1), 10)
	require.Empty(t, e.Advance(5))
	e.Start(1, pair(n, 0, 0, 2, 1), 4)
	require.InEpsilon(t, 13, e.Next(), 1e-6)
	require.Equal(t, []int{1}, e.Advance(e.Next()))
	require.InEpsilon(t, 14, e.Next(), 1e-6)
	require.Equal(t, []int{0}, e.Advance(e.Next()))
	require.Len(t, e.Frozen, 1, "two jobs ran at one time")
	require.InDelta(t, 2, e.Frozen[0][0].Step, 1e-6)
}

func TestJobsThatSendNothingKeepTheirPace(t *testing.T) {
	n := small()
	e := NewEngine(n, 0, 1, 0)
	e.Start(0, Job{Compute: 1}, 10)
	e.Start(1, pair(n, 1, 0, 1, 1), 5)
	e.Start(2, Job{Compute: 2}, 5)
	require.InDelta(t, 10, e.Next(), 1e-6)
	require.Equal(t, []int{0, 1, 2}, e.Advance(10+1e-6), "in the order of their starts")
}
