// SPDX-License-Identifier: Apache-2.0

package opponents

import (
	"math"

	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/workload"
)

// Crux places by contention as Crux does paths (Cao et al., SIGCOMM 2024). In a tree there is one path between two hosts, so the choice
// is among domains, and what is taken from the paper is this:
//
//   - GPU intensity of a job is its computation in a step by the seconds that its busiest link is in use (definition 2). Computation is
//     counted in GPU-seconds.
//   - Of all places, the least congested one is taken (4.1). The most congested link of the job decides (3.3).
//   - Two jobs on a link with one priority both lose, each in proportion to its intensity (4.3). So the congestion of a link is the sum
//     of (I + I of k) u of k over its jobs k, where u of k is the share of its step for which k, by itself, uses the link.
//
// Places are each domain of each level that holds the job, filled as tightly as can be, with servers together and with servers apart.
// Of equal ones the first counts: hosts before racks before blocks, and the fullest domain of a level first.
//
// Left out are priorities (4.2, 4.3), which the judge's links do not have, and new paths for running jobs, which would move them.
func Crux(c *Cluster, job *workload.Job) (Placement, error) {
	congested := map[int][]contender{}
	for _, r := range c.Running {
		busy := r.Traffic.Busy()
		most := longest(busy)
		for _, b := range busy {
			congested[b.Link] = append(congested[b.Link], contender{
				intensity: intensity(r.Job, most), share: b.Seconds / (r.Job.Compute + most),
			})
		}
	}
	var best Placement
	least := math.Inf(1)
	for _, at := range places(c, job) {
		traffic, err := c.Network.At(job, at)
		if err != nil {
			return nil, err
		}
		busy, congestion := traffic.Busy(), 0.0
		own := intensity(job, longest(busy))
		for _, b := range busy {
			sum := 0.0
			for _, k := range congested[b.Link] {
				sum += (own + k.intensity) * k.share
			}
			congestion = max(congestion, sum)
		}
		if congestion < least {
			best, least = at, congestion
		}
		if least == 0 {
			break
		}
	}
	return best, nil
}

// contender is a running job on a link.
type contender struct{ intensity, share float64 }

func intensity(job *workload.Job, seconds float64) float64 {
	return float64(job.GPUs) * job.Compute / seconds
}

// longest returns for how long the busiest link is in use.
func longest(busy []Busy) (seconds float64) {
	for _, b := range busy {
		seconds = max(seconds, b.Seconds)
	}
	return seconds
}
