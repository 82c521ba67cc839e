// SPDX-License-Identifier: Apache-2.0

// Package fluid is how fast training jobs go that share links, by a formula: pure arithmetic of seconds, steps and bytes. Package
// flows simulates the same; the trace publishes how far the two are apart.
package fluid

// Load is what a job sends over one link in each step, in one direction; the other carries as much.
type Load struct {
	Link  int
	Bytes float64
}

// Job is a training job as the links see it: in each step it computes, and then sends over all of its links at once.
type Job struct {
	Compute float64 // seconds
	Loads   []Load
}

// Steps returns the seconds that one step of each job takes while all of them run.
//
//	s_j  = c_j + max over links e of j of r_je
//	r_je = (b_je / B_e) (1 + sum over other jobs k on e of q_ke)        q_ke = r_ke / s_k
//
// A job that begins to send over a link finds another one there with the probability q_ke, the share of its time that k spends on
// that link. All jobs that send share a link equally. This is the mean-value analysis of closed queueing networks (Reiser and
// Lavenberg 1980, with Bard's approximation, that a job sees the others as they are in the mean). So a job alone takes c + b/B. Jobs
// that only send over one link take n times as long if there are n. No link ever carries more than its bandwidth. A job counts on a
// link only while it sends there, even if another of its links takes longer.
func Steps(bandwidth []float64, jobs []Job) []float64 {
	sending := make([]float64, len(bandwidth)) // sum of q over the jobs on a link
	steps := make([]float64, len(jobs))
	shares := make([][]float64, len(jobs)) // q by job and load
	for j := range jobs {
		steps[j] = jobs[j].Compute
		shares[j] = make([]float64, len(jobs[j].Loads))
	}
	for range rounds {
		clear(sending)
		for j := range jobs {
			for i, load := range jobs[j].Loads {
				sending[load.Link] += shares[j][i]
			}
		}
		worst := 0.0
		for j := range jobs {
			longest := 0.0
			stays := make([]float64, len(jobs[j].Loads)) // r
			for i, load := range jobs[j].Loads {
				stays[i] = load.Bytes / bandwidth[load.Link] * (1 + max(0, sending[load.Link]-shares[j][i]))
				longest = max(longest, stays[i])
			}
			steps[j] = jobs[j].Compute + longest
			for i, stay := range stays {
				if steps[j] > 0 {
					change := stay/steps[j] - shares[j][i]
					shares[j][i] += damping * change
					worst = max(worst, change, -change)
				}
			}
		}
		if worst < precision {
			break
		}
	}
	return steps
}

// precision of the shares of time, the part of a round's change that is taken, and the rounds after which they are left as they are.
const (
	precision = 1e-9
	damping   = 0.7
	rounds    = 10_000
)
