// SPDX-License-Identifier: Apache-2.0

// Package fluid is how fast training jobs go that share links: pure arithmetic of seconds, steps and bytes, which knows
// nothing of clusters, schedulers or where the jobs come from.
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

// Steps gives the seconds that one step of each job takes while all of them run.
//
//	s_j = c_j + max over links e of j of (b_je / B_e) (1 + sum over other jobs k on e of q_k)        q_k = (s_k - c_k) / s_k
//
// A job that begins to send finds another one sending with the probability q_k, the share of its time that k sends, and
// all that send share a link equally: the mean-value analysis of closed queueing networks (Reiser and Lavenberg 1980, with
// Bard's approximation, that a job sees the others as they are in the mean). So a job alone takes c + b/B, n jobs
// that do nothing but send take n times as long, and no link ever carries more than its bandwidth.
//
// The right side grows with each s_k, but slower than it (a standard interference function, Yates 1995): there is one
// solution, and iteration from below ends there.
func Steps(bandwidth []float64, jobs []Job) []float64 {
	sending := make([]float64, len(bandwidth)) // sum of q over the jobs on a link
	steps := make([]float64, len(jobs))
	for j := range jobs {
		steps[j] = jobs[j].Compute
	}
	for range rounds {
		clear(sending)
		for j := range jobs {
			for _, load := range jobs[j].Loads {
				sending[load.Link] += share(steps[j], jobs[j].Compute)
			}
		}
		worst := 0.0
		for j := range jobs {
			next := jobs[j].Compute + jobs[j].busiest(bandwidth, sending, share(steps[j], jobs[j].Compute))
			if next > 0 {
				worst = max(worst, (next-steps[j])/next)
			}
			steps[j] = next
		}
		if worst < precision {
			break
		}
	}
	return steps
}

// precision of a step relative to itself, and the rounds after which it is left as it is.
const (
	precision = 1e-9
	rounds    = 10_000
)

// share of its time that a job sends.
func share(step, compute float64) float64 {
	if step <= compute {
		return 0
	}
	return (step - compute) / step
}

// busiest is the longest of the times that the job's links take, where its own share is among those that send.
func (j *Job) busiest(bandwidth, sending []float64, own float64) float64 {
	most := 0.0
	for _, load := range j.Loads {
		most = max(most, load.Bytes/bandwidth[load.Link]*(1+max(0, sending[load.Link]-own)))
	}
	return most
}
