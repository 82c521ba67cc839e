// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"slices"

	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// A second, and a terabyte, are next to nothing: each of the measures counts as that much at least when it is divided.
const (
	second   = 1.0
	terabyte = 1e12
)

const (
	gangJCT  = "gang_jct_mean_s"
	crossing = "crossing_bytes"
)

func (r *Run) of(measure string) float64 {
	if measure == crossing {
		return max(terabyte, r.Crossing)
	}
	return max(second, r.GangJCTMean)
}

// Compared is how one scheduler's figure stands to ours over the seeds that both were played with.
type Compared struct {
	Load     float64 `json:"load"`
	Measure  string  `json:"measure"`
	Ours     string  `json:"ours"`
	Baseline string  `json:"baseline"`
	// Ratios are the baseline's figure by ours, seed by seed: above 1 ours is better.
	Ratios []float64 `json:"ratios"`
	Median float64   `json:"median"`
	// Low and High are bounds of the median: it lies between them with this probability (stats.MedianBounds). Of five seeds
	// they are the least and the greatest.
	Low         float64 `json:"low"`
	High        float64 `json:"high"`
	Probability float64 `json:"probability"`
}

// level of the bounds, where there are seeds enough for it.
const level = 0.95

// compare ours with every baseline, and the two objectives with each other, at each load.
func compare(s *Settings, runs []Run) []Compared {
	found := map[Case]*Run{}
	for i := range runs {
		found[runs[i].Case] = &runs[i]
	}
	var all []Compared
	for _, load := range s.Loads {
		for _, ours := range []string{bytesFirst, busiestFirst} {
			for _, baseline := range s.Schedulers {
				if !slices.Contains(s.Schedulers, ours) || isOurs(baseline) && (ours != bytesFirst || baseline == ours) {
					continue
				}
				for _, measure := range []string{gangJCT, crossing} {
					c := Compared{Load: load, Measure: measure, Ours: ours, Baseline: baseline}
					for _, seed := range s.Seeds {
						us, them := found[Case{load, ours, seed}], found[Case{load, baseline, seed}]
						if us != nil && them != nil {
							c.Ratios = append(c.Ratios, them.of(measure)/us.of(measure))
						}
					}
					if len(c.Ratios) == 0 {
						continue // nothing is played yet
					}
					c.Median = stats.Median(c.Ratios)
					c.Low, c.High, c.Probability = stats.MedianBounds(c.Ratios, level)
					all = append(all, c)
				}
			}
		}
	}
	return all
}
