// SPDX-License-Identifier: Apache-2.0

// Package bench measures the planner: against brute force, against plain placements, and against the clock; it writes
// _output/bench/placement.json. What is measured is drawn in the packages beside it.
package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/test/bars"
)

// Settings of a run.
type Settings struct {
	Seed uint64
	// Instances against brute force, each way; Clusters against the baselines.
	Instances, Clusters int
	// Only these Parts; none means all.
	Only []string
	// NoTenfold leaves out the fleets of ten times the nodes, and what is measured with them.
	NoTenfold bool
	// Workers share the instances; 0 means one for each CPU. Results do not depend on it.
	Workers int
	// Folder that the JSON is written to.
	Folder string
}

// Parts of a run.
func Parts() []string { return []string{"optimality", "baselines", "speed"} }

// What a whole run measures.
const (
	DefaultInstances = 20_000
	DefaultClusters  = 2_000
)

func (s Settings) workers() int {
	if s.Workers > 0 {
		return s.Workers
	}
	return runtime.NumCPU()
}

func (s Settings) wants(part string) bool { return len(s.Only) == 0 || slices.Contains(s.Only, part) }

// Run measures and writes. What it finds too slow or too dear is no error, only said; a broken promise of the planner is.
func Run(s Settings, out, progress io.Writer) error {
	report := &Report{Seed: s.Seed, GoVersion: runtime.Version(), CPUs: runtime.NumCPU()}
	if s.wants("optimality") {
		report.Optimality = measureOptimality(s, false, progress)
		say(out, "optimality            %s\n", report.Optimality)
		report.Heuristic = measureOptimality(s, true, progress)
		say(out, "optimality_heuristic  %s\n", report.Heuristic)
	}
	if s.wants("baselines") {
		report.Overall, report.Baselines = measureBaselines(s, progress)
		say(out, "baselines             %s\n", report.Overall)
		for i := range report.Baselines {
			say(out, "  %s\n", &report.Baselines[i])
		}
	}
	if s.wants("speed") {
		var err error
		if report.Speed, err = measureSpeed(s, out, progress); err != nil {
			return err
		}
		if !s.NoTenfold {
			if report.Allocations, err = measureAllocation(s.Seed); err != nil {
				return err
			}
		}
	}
	report.Bars = report.bars()
	if err := bars.Show(report.Bars, out); err != nil {
		return err
	}
	if err := report.write(s.Folder, out); err != nil {
		return err
	}
	return report.broken()
}

func (r *Report) write(folder string, out io.Writer) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	file := filepath.Join(folder, "placement.json")
	if err := os.WriteFile(file, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	say(out, "wrote %s\n", file)
	return nil
}

// broken is an error if any plan broke a promise.
func (r *Report) broken() error {
	var first []string
	for _, o := range []*Optimality{r.Optimality, r.Heuristic} {
		if o != nil {
			first = append(first, o.BrokenPromises...)
		}
	}
	if r.Overall != nil {
		first = append(first, r.Overall.Broken...)
	}
	if len(first) > 0 {
		return fmt.Errorf("plans broke their promises: %s", first[0])
	}
	return nil
}
