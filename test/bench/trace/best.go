// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"fmt"

	"github.com/paddle-volcano/paddle-volcano/test/bars"
	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// Best compares the plugin with the strongest opponent and with the references.
type Best struct {
	Load    float64 `json:"load"`
	Measure string  `json:"measure"`
	Plugin  string  `json:"plugin"`
	// Opponent is the scheduler of others with the least median of the measure over the seeds.
	Opponent string `json:"opponent"`
	// Is are the figures of the plugin, OpponentIs those of the opponent.
	Is         Spread `json:"is"`
	OpponentIs Spread `json:"opponent_is"`
	// Ratio is the opponent's figure by the plugin's: above 1 the plugin is better.
	Ratio Spread `json:"ratio"`
	// Excess is what the plugin is above 1 by what the opponent is above 1: of slowdowns only.
	Excess *Spread `json:"excess,omitempty"`
	// Oracle and Alone are the plugin's figures by those of the references.
	Oracle *Spread `json:"by_oracle,omitempty"`
	Alone  *Spread `json:"by_alone,omitempty"`
}

// Spread is a figure of each seed, their median, and bounds of it as Compared has them.
type Spread struct {
	Seeds       []float64 `json:"seeds"`
	Median      float64   `json:"median"`
	Low         float64   `json:"low"`
	High        float64   `json:"high"`
	Probability float64   `json:"probability"`
}

func spread(seeds []float64) Spread {
	s := Spread{Seeds: seeds, Median: stats.Median(seeds)}
	s.Low, s.High, s.Probability = stats.MedianBounds(seeds, level)
	return s
}

// least excess of a slowdown that counts when it is divided by.
const leastExcess = 1e-3

// strongest compares the plugin with the best of the others, at each load and by each measure. Seeds count that all of the others, and
// the plugin, were played with.
func strongest(s *Settings, runs []Run) []Best {
	figures := map[Case]*Run{}
	for i := range runs {
		figures[runs[i].Case] = &runs[i]
	}
	all := []Best{}
	for _, load := range s.Loads {
		seeds := s.whole(load, figures)
		for _, paddle := range s.Schedulers {
			for _, measure := range measures() {
				of := func(scheduler string) (seconds []float64) {
					for _, seed := range seeds {
						if r := figures[Case{load, scheduler, seed}]; r != nil {
							seconds = append(seconds, r.of(measure))
						}
					}
					return seconds
				}
				opponent := s.opponent(of)
				if !isPaddle(paddle) || opponent == "" || len(seeds) == 0 {
					continue
				}
				b := Best{Load: load, Measure: measure, Plugin: paddle, Opponent: opponent, Is: spread(of(paddle)), OpponentIs: spread(of(opponent))}
				b.Ratio = spread(divide(b.OpponentIs.Seeds, b.Is.Seeds, 0, 0))
				if measure == gangSlowdown {
					excess := spread(divide(b.Is.Seeds, b.OpponentIs.Seeds, 1, leastExcess))
					b.Excess = &excess
				}
				b.Oracle, b.Alone = by(b.Is.Seeds, of(oracle)), by(b.Is.Seeds, of(alone))
				all = append(all, b)
			}
		}
	}
	return all
}

// whole returns the seeds of a load that all schedulers were played with.
func (s *Settings) whole(load float64, figures map[Case]*Run) (seeds []uint64) {
	for _, seed := range s.Seeds {
		missing := false
		for _, scheduler := range s.Schedulers {
			missing = missing || figures[Case{load, scheduler, seed}] == nil
		}
		if !missing {
			seeds = append(seeds, seed)
		}
	}
	return seeds
}

// opponent returns the scheduler of others with the least median of a measure; none if no other is played.
func (s *Settings) opponent(of func(string) []float64) (best string) {
	for _, scheduler := range s.Schedulers {
		if isPaddle(scheduler) || isReference(scheduler) || len(of(scheduler)) == 0 {
			continue
		}
		if best == "" || stats.Median(of(scheduler)) < stats.Median(of(best)) {
			best = scheduler
		}
	}
	return best
}

// divide figures by others, each less a base. A divisor is least at least.
func divide(figures, others []float64, base, least float64) []float64 {
	ratios := make([]float64, len(figures))
	for i := range figures {
		ratios[i] = (figures[i] - base) / max(least, others[i]-base)
	}
	return ratios
}

// by divides figures by those of a reference, if it was played.
func by(figures, reference []float64) *Spread {
	if len(reference) == 0 {
		return nil
	}
	s := spread(divide(figures, reference, 0, 0))
	return &s
}

// What is aimed for: the mean slowdown of gangs, its excess by that of the best opponent, and its distance to the oracle.
const (
	mostSlowdown = 1.05
	mostExcess   = 0.5
	mostByOracle = 1.1
)

// judge the plugin as it is by default.
func (r *Report) judge() []bars.Bar {
	all := []bars.Bar{}
	for i := range r.Best {
		b := &r.Best[i]
		if b.Load != judgedLoad || b.Plugin != byDefault {
			continue
		}
		name := func(what string) string { return fmt.Sprintf("trace at 85 %%: %s, %s", b.Measure, what) }
		judged := []bars.Bar{bars.Above(name(fmt.Sprintf("%s by the plugin, lower bound of %d seeds", b.Opponent, len(b.Ratio.Seeds))), b.Ratio.Low, 1)}
		if b.Measure == gangSlowdown {
			judged = append(judged, bars.Most(name("median"), b.Is.Median, mostSlowdown),
				bars.Most(name("excess by that of "+b.Opponent+", median"), b.Excess.Median, mostExcess))
			if b.Oracle != nil {
				judged = append(judged, bars.Most(name("by the oracle's, median"), b.Oracle.Median, mostByOracle))
			}
		}
		all = append(all, bars.OfSlice(r.Settings.Jobs >= judgedJobs && len(b.Ratio.Seeds) >= judgedSeeds, judged...)...)
	}
	return all
}
