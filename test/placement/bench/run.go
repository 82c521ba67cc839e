// SPDX-License-Identifier: Apache-2.0

// Package bench measures the planner: against brute force, against plain placements, and against the clock; it writes
// _output/bench/placement.json. The packages baselines, bruteforce and instances draw what is measured.
package bench

import (
	"fmt"
	"io"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/test/bench/result"
	"github.com/paddle-volcano/paddle-volcano/test/placement/instances"
)

// Settings of a run.
type Settings struct {
	Seed uint64
	// Instances against brute force; Clusters against the baselines.
	Instances, Clusters int
	// Only these Parts; none means all.
	Only []string
	// NoTenfold leaves out the fleets of ten times the nodes, and what is measured with them.
	NoTenfold bool
	// Folder that the JSON is written to.
	Folder string
}

// Parts of a run.
func Parts() []string { return []string{"optimality", "baselines", "speed", "hybrid"} }

// What a whole run measures.
const (
	DefaultInstances = 20_000
	DefaultClusters  = 2_000
)

func (s Settings) wants(part string) bool { return len(s.Only) == 0 || slices.Contains(s.Only, part) }

// Run measures and writes the report. A missed bar is no error, and only in the report. A violated guarantee of the planner is an error.
func Run(s Settings, progress io.Writer) error {
	report := &Report{Seed: s.Seed, Machine: result.ThisMachine()}
	if s.wants("optimality") {
		report.Optimality = measureOptimality(s, instances.Drawn, progress)
	}
	if s.wants("baselines") {
		report.Overall, report.Baselines = measureBaselines(s, progress)
	}
	if s.wants("speed") {
		var err error
		if report.Speed, err = measureSpeed(s, progress); err != nil {
			return err
		}
		if !s.NoTenfold {
			if report.Allocations, err = measureAllocation(s.Seed); err != nil {
				return err
			}
		}
	}
	if s.wants("hybrid") {
		var err error
		if report.Hybrid, err = measureHybrid(s, progress); err != nil {
			return err
		}
	}
	report.Bars = report.bars()
	if err := result.Write(s.Folder, "placement.json", report); err != nil {
		return err
	}
	return report.broken()
}

// broken is an error if any plan broke a promise.
func (r *Report) broken() error {
	var first []string
	if r.Optimality != nil {
		first = append(first, r.Optimality.BrokenPromises...)
	}
	if r.Overall != nil {
		first = append(first, r.Overall.Broken...)
	}
	if r.Hybrid != nil {
		first = append(first, append(r.Hybrid.Optimality.BrokenPromises, r.Hybrid.Broken...)...)
	}
	if len(first) > 0 {
		return fmt.Errorf("plans broke their promises: %s", first[0])
	}
	return nil
}
