// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/paddle-volcano/paddle-volcano/test/bars"
	"github.com/paddle-volcano/paddle-volcano/test/bench/result"
	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/site"
	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// Report is what trace.json holds. On one machine, the same settings give the same report.
type Report struct {
	Machine  result.Machine `json:"machine"`
	Cluster  string         `json:"cluster"`
	Settings Settings       `json:"settings"`
	Runs     []Run          `json:"runs"`
	// Unplayed are the cases that have no run yet.
	Unplayed int        `json:"unplayed"`
	Compared []Compared `json:"compared"`
	Best     []Best     `json:"best"`
	Bars     []bars.Bar `json:"bars"`
}

// The load, the jobs and the least number of seeds that bars are for; longestRun is how long a run may take.
const (
	judgedLoad  = 0.85
	judgedJobs  = 1000
	judgedSeeds = 5
	longestRun  = 5 * time.Minute
)

// Bench plays all cases, writes trace.json whenever one is done, and prints how long the longest run of them took.
func Bench(ctx context.Context, s Settings, out, progress io.Writer) error {
	if err := s.check(); err != nil {
		return err
	}
	r := newReport(s, nil)
	longest, err := s.playAll(ctx, progress, func(runs []Run) error {
		r = newReport(s, runs)
		return result.Write(s.Folder, file, r)
	})
	if err != nil {
		return err
	}
	if longest == 0 {
		return nil
	}
	// How long a run takes is not in the file: it is another each time. Processor time, as others may use the machine.
	return bars.Show([]bars.Bar{bars.Most("trace: processor seconds of the longest run", longest.Seconds(), longestRun.Seconds())}, out)
}

func newReport(s Settings, runs []Run) *Report {
	r := &Report{
		Machine: result.ThisMachine(), Cluster: site.Describe(site.Cut(s.Hosts)), Settings: s,
		Runs: runs, Unplayed: len(s.cases()) - len(runs), Compared: compare(&s, runs),
	}
	r.Best = strongest(&s, runs)
	r.Bars = r.judge()
	return r
}

// kept are the runs of an earlier trace.json that were played with the same settings, by case; none if none shall be kept or
// nothing was written yet.
func (s *Settings) kept() (map[Case]Run, error) {
	kept := map[Case]Run{}
	if !s.Keep {
		return kept, nil
	}
	text, err := os.ReadFile(filepath.Join(s.Folder, file))
	if errors.Is(err, fs.ErrNotExist) {
		return kept, nil
	}
	if err != nil {
		return nil, err
	}
	var r Report
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	if earlier := r.Settings; earlier.game() != s.game() {
		return nil, fmt.Errorf("%s was played with %s: write to another folder, or leave out --keep", file, earlier.game())
	}
	for i := range r.Runs {
		kept[r.Runs[i].Case] = r.Runs[i]
	}
	return kept, nil
}

// game is what runs must have in common to be compared, as text.
func (s *Settings) game() string {
	same := *s
	same.Loads, same.Schedulers, same.Seeds, same.Folder, same.Keep, same.Command, same.Workers = nil, nil, nil, "", false, nil, 0
	return fmt.Sprintf("%+v", same)
}

// file of the report, in the folder.
const file = "trace.json"

// A second, and a terabyte, are next to nothing: each of the measures counts as that much at least when it is divided.
const (
	second   = 1.0
	terabyte = 1e12
)

const (
	gangJCT      = "gang_jct_mean_s"
	gangSlowdown = "gang_slowdown_mean"
	crossing     = "crossing_bytes"
)

// measures by which schedulers are compared. Of each, less is better.
func measures() []string { return []string{gangJCT, gangSlowdown, crossing} }

func (r *Run) of(measure string) float64 {
	switch measure {
	case crossing:
		return max(terabyte, r.Crossing)
	case gangSlowdown:
		return max(1, r.GangSlowdown)
	}
	return max(second, r.GangJCTMean)
}

// Compared compares a scheduler's figure with the plugin's over the seeds that both were played with.
type Compared struct {
	Load     float64 `json:"load"`
	Measure  string  `json:"measure"`
	Plugin   string  `json:"plugin"`
	Baseline string  `json:"baseline"`
	// Ratios are the baseline's figure by the plugin's, seed by seed: above 1 the plugin is better.
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

// compare the plugin with every baseline, and the two objectives with each other, at each load.
func compare(s *Settings, runs []Run) []Compared {
	found := map[Case]*Run{}
	for i := range runs {
		found[runs[i].Case] = &runs[i]
	}
	var all []Compared
	for _, load := range s.Loads {
		for _, paddle := range []string{bytesFirst, busiestFirst} {
			for _, baseline := range s.Schedulers {
				if !slices.Contains(s.Schedulers, paddle) || isPaddle(baseline) && (paddle != bytesFirst || baseline == paddle) {
					continue
				}
				for _, measure := range measures() {
					c := Compared{Load: load, Measure: measure, Plugin: paddle, Baseline: baseline}
					for _, seed := range s.Seeds {
						us, them := found[Case{load, paddle, seed}], found[Case{load, baseline, seed}]
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
