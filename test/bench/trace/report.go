// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
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
	Compared []Compared     `json:"compared"`
	Bars     []bars.Bar     `json:"bars"`
	Missed   int            `json:"missed"`
}

// judgedLoad is the one that issue 7 has bars for; longestRun is how long a run may take.
const (
	judgedLoad = 0.85
	longestRun = 5 * time.Minute
)

// Bench plays all cases, writes trace.json, and tells what was asked for and what it is. A bar that is missed is no error.
func Bench(ctx context.Context, s Settings, out, progress io.Writer) error {
	if err := s.check(); err != nil {
		return err
	}
	runs, longest, err := s.playAll(ctx, progress)
	if err != nil {
		return err
	}
	r := newReport(s, runs)
	if err := r.show(out); err != nil {
		return fmt.Errorf("show the report: %w", err)
	}
	// How long a run takes is not in the file: it is another each time.
	long := bars.Most("trace: seconds of the longest run", longest.Seconds(), longestRun.Seconds())
	if err := bars.Show(append(slices.Clone(r.Bars), long), out); err != nil {
		return fmt.Errorf("show the report: %w", err)
	}
	path, err := r.write(s.Folder)
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	_, err = fmt.Fprintf(out, "wrote %s\n", path)
	return err
}

func newReport(s Settings, runs []Run) *Report {
	r := &Report{
		Machine: report.ThisMachine(), Cluster: site.Describe(site.Cut(s.Hosts)), Settings: s,
		Runs: runs, Compared: compare(&s, runs),
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
		all = append(all, bars.Above(fmt.Sprintf("trace at 85 %%: %s, %s by ours, lower bound of %d seeds", c.Measure, c.Baseline, len(c.Ratios)), c.Low, 1))
	}
	return all
}

// keep gives the runs of an earlier trace.json that were played with the same settings, by case.
func (s *Settings) keep() (map[Case]Run, error) {
	text, err := os.ReadFile(filepath.Join(s.Folder, file))
	if err != nil {
		return nil, err
	}
	var r Report
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, err
	}
	earlier := r.Settings
	if earlier.Jobs != s.Jobs || earlier.Hosts != s.Hosts || earlier.Cap != s.Cap || earlier.Gbps != s.Gbps {
		return nil, fmt.Errorf("it has %d jobs, %d hosts, a cap of %g s and uplinks of %v Gbps", earlier.Jobs, earlier.Hosts, earlier.Cap, earlier.Gbps)
	}
	kept := map[Case]Run{}
	for i := range r.Runs {
		kept[r.Runs[i].Case] = r.Runs[i]
	}
	return kept, nil
}

// file of the report, in the folder.
const file = "trace.json"

func (r *Report) write(folder string) (path string, err error) {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return "", err
	}
	path = filepath.Join(folder, file)
	return path, os.WriteFile(path, append(text, '\n'), 0o600)
}
