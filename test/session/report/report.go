// SPDX-License-Identifier: Apache-2.0

// Package report holds everything that `make bench-session` measured, judges it against what was asked for, and writes it
// down: as JSON, as a table and as a drawing. It measures nothing.
package report

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/test/bars"
	"github.com/paddle-volcano/paddle-volcano/test/session/churn"
	"github.com/paddle-volcano/paddle-volcano/test/session/quality"
	"github.com/paddle-volcano/paddle-volcano/test/session/speed"
)

// Report is what _output/bench/session.json holds. Parts that were not run are left out.
type Report struct {
	Seed    uint64  `json:"seed"`
	Machine Machine `json:"machine"`
	// Seconds that each part took.
	Seconds map[string]float64 `json:"seconds"`

	Speed []speed.Row `json:"speed,omitempty"`
	// OverheadPercent is the worse of the whole session's and allocate's in Overhead.
	OverheadPercent *float64        `json:"other_jobs_overhead_percent,omitempty"`
	Overhead        *speed.Overhead `json:"other_jobs_overhead,omitempty"`

	// Quality is with the plugin's objective bytes, QualityBusiest with its objective busiest.
	Quality               []quality.Row    `json:"quality,omitempty"`
	QualitySummary        *quality.Summary `json:"quality_summary,omitempty"`
	QualityBusiest        []quality.Row    `json:"quality_busiest,omitempty"`
	QualityBusiestSummary *quality.Summary `json:"quality_busiest_summary,omitempty"`
	Queues                *quality.Queues  `json:"queues,omitempty"`

	Optimality *quality.Nearness `json:"optimality,omitempty"`
	Churn      *Churn            `json:"churn,omitempty"`

	// Bars say what was asked for and what was reached; Missed is how many were not.
	Bars   []bars.Bar `json:"bars"`
	Missed int        `json:"missed"`
}

// Churn is the heap over many sessions with both set-ups.
type Churn struct {
	Stock  *churn.Series `json:"stock"`
	Paddle *churn.Series `json:"paddle"`
}

// Machine is what was measured on.
type Machine struct {
	Go        string `json:"go"`
	OS        string `json:"os"`
	CPUs      int    `json:"cpus"`
	Processor string `json:"processor,omitempty"`
	Volcano   string `json:"volcano,omitempty"`
}

// ThisMachine is the one that this runs on.
func ThisMachine() Machine {
	m := Machine{Go: runtime.Version(), OS: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(), Processor: processor()}
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, module := range build.Deps {
			if module.Path == "volcano.sh/volcano" {
				m.Volcano = module.Version
			}
		}
	}
	return m
}

// processor is its name where Linux tells it.
func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for _, line := range strings.Split(string(text), "\n") {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// SetOverhead keeps what the plugin costs other jobs.
func (r *Report) SetOverhead(o *speed.Overhead) {
	percent := o.Worse().Percent
	r.Overhead, r.OverheadPercent = o, &percent
}

// SetQuality keeps the comparisons of both objectives.
func (r *Report) SetQuality(result *quality.Result) {
	r.Quality, r.QualitySummary = result.Bytes.Rows, &result.Bytes.Summary
	r.QualityBusiest, r.QualityBusiestSummary = result.Busiest.Rows, &result.Busiest.Summary
}

// Judge fills in Bars and Missed.
func (r *Report) Judge() {
	r.Bars = r.bars()
	r.Missed = bars.Missed(r.Bars)
}

// Write puts session.json into a folder and returns its path.
func (r *Report) Write(folder string) (path string, err error) {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return "", fmt.Errorf("write the report: %w", err)
	}
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return "", fmt.Errorf("write the report: %w", err)
	}
	path = filepath.Join(folder, "session.json")
	if err := os.WriteFile(path, append(text, '\n'), 0o600); err != nil {
		return "", fmt.Errorf("write the report: %w", err)
	}
	return path, nil
}
