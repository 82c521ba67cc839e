// SPDX-License-Identifier: Apache-2.0

package times

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// Stage is when one step of the way to running pods was taken, in seconds from the first request in the namespace: for a tenth of the
// objects, for half, for nine tenths, and for the last.
type Stage struct {
	What  string  `json:"what"`
	Count int     `json:"count"`
	P10   float64 `json:"p10_s"`
	P50   float64 `json:"p50_s"`
	P90   float64 `json:"p90_s"`
	Last  float64 `json:"last_s"`
}

// Timeline returns the creations of objects of each kind and the steps of pods, in the order of their medians.
func (s *History) Timeline() []Stage {
	steps := map[string][]time.Time{}
	for resource, created := range s.creations {
		steps[resource+" created"] = created
	}
	for _, pod := range s.Pods {
		for what, at := range map[string]time.Time{"pods bound": pod.Bound, "pods have an IP": pod.Addressed, "pods running": pod.Running} {
			if !at.IsZero() {
				steps[what] = append(steps[what], at)
			}
		}
	}
	stages := make([]Stage, 0, len(steps))
	for what, times := range steps {
		seconds := make([]float64, len(times))
		for i, at := range times {
			seconds[i] = at.Sub(s.First).Seconds()
		}
		stages = append(stages, Stage{
			What: what, Count: len(seconds), P10: stats.Percentile(seconds, 10), P50: stats.Percentile(seconds, 50),
			P90: stats.Percentile(seconds, 90), Last: slices.Max(seconds),
		})
	}
	slices.SortFunc(stages, func(a, b Stage) int { return cmp.Or(cmp.Compare(a.P50, b.P50), strings.Compare(a.What, b.What)) })
	return stages
}
