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
	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/site"
	"github.com/paddle-volcano/paddle-volcano/test/session/report"
)

// Report is what trace.json holds. On one machine, the same settings give the same report.
type Report struct {
	Machine  report.Machine `json:"machine"`
	Cluster  string         `json:"cluster"`
	Settings Settings       `json:"settings"`
	Runs     []Run          `json:"runs"`
	// Unplayed are the cases that have no run yet.
	Unplayed int        `json:"unplayed"`
	Compared []Compared `json:"compared"`
	Bars     []bars.Bar `json:"bars"`
	Missed   int        `json:"missed"`
}

// The load, the jobs and the least number of seeds that bars are for; longestRun is how long a run may take.
const (
	judgedLoad  = 0.85
	judgedJobs  = 1000
	judgedSeeds = 5
	longestRun  = 5 * time.Minute
)

// Bench plays all cases, writes trace.json, and tells what was asked for and what it is. A bar that is missed is no error.
func Bench(ctx context.Context, s Settings, out, progress io.Writer) error {
	if err := s.check(); err != nil {
		return err
	}
	r := newReport(s, nil)
	longest, err := s.playAll(ctx, progress, func(runs []Run) error {
		r = newReport(s, runs)
		return r.write(s.Folder)
	})
	if err != nil {
		return err
	}
	if err := r.show(out); err != nil {
		return fmt.Errorf("show the report: %w", err)
	}
	shown := slices.Clone(r.Bars)
	if longest > 0 {
		// How long a run takes is not in the file: it is another each time. Processor time, as others may use the machine.
		shown = append(shown, bars.Most("trace: processor seconds of the longest run", longest.Seconds(), longestRun.Seconds()))
	}
	if err := bars.Show(shown, out); err != nil {
		return fmt.Errorf("show the report: %w", err)
	}
	_, err = fmt.Fprintf(out, "wrote %s\n", filepath.Join(s.Folder, file))
	return err
}

func newReport(s Settings, runs []Run) *Report {
	r := &Report{
		Machine: report.ThisMachine(), Cluster: site.Describe(site.Cut(s.Hosts)), Settings: s,
		Runs: runs, Unplayed: len(s.cases()) - len(runs), Compared: compare(&s, runs),
	}
	r.Bars = r.judge()
	r.Missed = bars.Missed(r.Bars)
	return r
}

// judge the plugin as it is by default.
func (r *Report) judge() []bars.Bar {
	all := []bars.Bar{}
	for i := range r.Compared {
		c := &r.Compared[i]
		if c.Load != judgedLoad || c.Ours != byDefault || isOurs(c.Baseline) || c.Measure != gangJCT && c.Measure != crossing {
			continue
		}
		bar := bars.Above(fmt.Sprintf("trace at 85 %%: %s, %s by ours, lower bound of %d seeds", c.Measure, c.Baseline, len(c.Ratios)), c.Low, 1)
		all = append(all, bars.OfSlice(r.Settings.Jobs >= judgedJobs && len(c.Ratios) >= judgedSeeds, bar)...)
	}
	return all
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
	earlier := r.Settings
	if earlier.Jobs != s.Jobs || earlier.Hosts != s.Hosts || earlier.Cap != s.Cap || earlier.Gbps != s.Gbps || earlier.Rings != s.Rings || earlier.Foreign != s.Foreign {
		return nil, fmt.Errorf("%s has %d jobs, %d hosts, a cap of %g s, uplinks of %v Gbps, rings by %q, and foreign is %t: write to another folder",
			file, earlier.Jobs, earlier.Hosts, earlier.Cap, earlier.Gbps, earlier.Rings, earlier.Foreign)
	}
	for i := range r.Runs {
		kept[r.Runs[i].Case] = r.Runs[i]
	}
	return kept, nil
}

// file of the report, in the folder.
const file = "trace.json"

// write the file, whole or not at all: whoever stops a run keeps what is done.
func (r *Report) write(folder string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	unfinished := filepath.Join(folder, "."+file+".unfinished")
	if err := os.WriteFile(unfinished, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	if err := os.Rename(unfinished, filepath.Join(folder, file)); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}
