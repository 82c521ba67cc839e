// SPDX-License-Identifier: Apache-2.0

package fluid

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func on(link int, bytes float64) Load { return Load{Link: link, Bytes: bytes} }

func job(compute float64, loads ...Load) Job { return Job{Compute: compute, Loads: loads} }

func TestSteps(t *testing.T) {
	// Two equal jobs with c = b/B = 1: s = 1 + 1 + (s-1)/s, so s = (3 + sqrt 5) / 2.
	golden := (3 + math.Sqrt(5)) / 2
	for _, c := range []struct {
		name string
		jobs []Job
		want []float64
	}{
		{"none", nil, []float64{}},
		{"one that sends nothing", []Job{job(2)}, []float64{2}},
		{"one alone", []Job{job(2, on(0, 3))}, []float64{5}},
		{"the busiest of its links counts", []Job{job(2, on(0, 3), on(1, 8))}, []float64{6}},
		{"on separate links", []Job{job(2, on(0, 3)), job(1, on(2, 1))}, []float64{5, 1.5}},
		{"three that do nothing but send", []Job{job(0, on(0, 1)), job(0, on(0, 1)), job(0, on(0, 5))}, []float64{3, 3, 15}},
		{"two equal ones", []Job{job(1, on(0, 1)), job(1, on(0, 1))}, []float64{golden, golden}},
		// The first waits for link 0, which it has for itself, and is on link 2 for 2 of 4 seconds, as it finds the second there.
		{"shared link that is not the busiest", []Job{job(0, on(0, 4), on(2, 2)), job(0, on(2, 2))}, []float64{4, 1.5}},
		{"a busy one that is not on the other's link", []Job{job(1, on(0, 4), on(2, 0)), job(1, on(2, 2))}, []float64{5, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Steps([]float64{1, 2, 2}, c.jobs)
			require.Len(t, got, len(c.want))
			for i := range got {
				require.InDelta(t, c.want[i], got[i], 1e-6)
			}
		})
	}
}

// drawn returns random jobs on random links.
func drawn(rng *rand.Rand) (bandwidth []float64, jobs []Job) {
	for range 1 + rng.IntN(5) {
		bandwidth = append(bandwidth, 0.5+rng.Float64())
	}
	for range 1 + rng.IntN(8) {
		j := job(rng.Float64() * float64(rng.IntN(3)))
		for link := range bandwidth {
			if rng.IntN(2) == 0 {
				j.Loads = append(j.Loads, on(link, rng.ExpFloat64()))
			}
		}
		if j.Compute == 0 {
			j.Compute = 1e-3
		}
		jobs = append(jobs, j)
	}
	return bandwidth, jobs
}

func TestPropertiesOfSteps(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		bandwidth, jobs := drawn(rng)
		steps := Steps(bandwidth, jobs)
		carried, users := make([]float64, len(bandwidth)), make([]float64, len(bandwidth))
		for j := range jobs {
			for _, load := range jobs[j].Loads {
				carried[load.Link] += load.Bytes / steps[j]
				users[load.Link]++
			}
		}
		for link := range bandwidth {
			require.LessOrEqual(t, carried[link], bandwidth[link]*(1+1e-6), "no link carries more than its bandwidth")
		}
		for j := range jobs {
			alone, crowded := 0.0, 0.0
			for _, load := range jobs[j].Loads {
				seconds := load.Bytes / bandwidth[load.Link]
				alone = max(alone, seconds)
				crowded = max(crowded, seconds*users[load.Link])
			}
			require.GreaterOrEqual(t, steps[j], (jobs[j].Compute+alone)*(1-1e-9))
			require.LessOrEqual(t, steps[j], (jobs[j].Compute+crowded)*(1+1e-9))
		}
	}
}

// Jobs that compute for random times and then send over one link that all who send share equally, step by step: the formula
// is an approximation of that, good to some percent.
func TestStepsAreThoseOfJobsThatMeetAtRandom(t *testing.T) {
	for _, jobs := range [][]Job{
		{job(1, on(0, 1)), job(1, on(0, 1))},
		{job(1, on(0, 0.3)), job(0.5, on(0, 0.2)), job(2, on(0, 1)), job(0.2, on(0, 0.1))},
		{job(1, on(0, 0.1)), job(1, on(0, 0.1)), job(1, on(0, 0.1)), job(1, on(0, 0.1)), job(10, on(0, 5))},
	} {
		want := meet(jobs, 200_000)
		for j, step := range Steps([]float64{1}, jobs) {
			require.InEpsilon(t, want[j], step, 0.08, "job %d of %v", j, jobs)
		}
	}
}

// meet plays the jobs on one link of bandwidth 1 for some seconds: seconds per step of each.
func meet(jobs []Job, seconds float64) []float64 {
	rng := rand.New(rand.NewPCG(2, 2))
	computing, left, done := make([]float64, len(jobs)), make([]float64, len(jobs)), make([]float64, len(jobs))
	for j := range jobs {
		computing[j] = jobs[j].Compute * rng.ExpFloat64()
	}
	for now := 0.0; now < seconds; {
		senders := 0.0
		for j := range jobs {
			if computing[j] <= 0 {
				senders++
			}
		}
		pass := math.Inf(1)
		for j := range jobs {
			if computing[j] > 0 {
				pass = min(pass, computing[j])
			} else {
				pass = min(pass, left[j]*senders)
			}
		}
		now += pass
		for j := range jobs {
			switch {
			case computing[j] > 0:
				if computing[j] -= pass; computing[j] < 1e-12 {
					computing[j], left[j] = 0, jobs[j].Loads[0].Bytes
				}
			default:
				if left[j] -= pass / senders; left[j] < 1e-12 {
					done[j]++
					computing[j] = jobs[j].Compute * rng.ExpFloat64()
				}
			}
		}
	}
	for j := range done {
		done[j] = seconds / done[j]
	}
	return done
}
