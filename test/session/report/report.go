// SPDX-License-Identifier: Apache-2.0

// Package report holds everything that `make bench-session` measured, and judges it against what was asked for. It measures
// nothing.
package report

import (
	"github.com/paddle-volcano/paddle-volcano/test/bars"
	"github.com/paddle-volcano/paddle-volcano/test/bench/result"
	"github.com/paddle-volcano/paddle-volcano/test/session/churn"
	"github.com/paddle-volcano/paddle-volcano/test/session/quality"
	"github.com/paddle-volcano/paddle-volcano/test/session/speed"
)

// Report is what _output/bench/session.json holds. Parts that were not run are left out.
type Report struct {
	Seed    uint64         `json:"seed"`
	Machine result.Machine `json:"machine"`
	// Seconds that each part took.
	Seconds map[string]float64 `json:"seconds"`

	Speed []speed.Row `json:"speed,omitempty"`
	// OverheadPercent is the worse of the whole session's and allocate's in Overhead.
	OverheadPercent *float64        `json:"other_jobs_overhead_percent,omitempty"`
	Overhead        *speed.Overhead `json:"other_jobs_overhead,omitempty"`

	Quality        []quality.Row    `json:"quality,omitempty"`
	QualitySummary *quality.Summary `json:"quality_summary,omitempty"`
	Queues         *quality.Queues  `json:"queues,omitempty"`

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

// SetOverhead keeps what the plugin costs other jobs.
func (r *Report) SetOverhead(o *speed.Overhead) {
	percent := o.Worse().Percent
	r.Overhead, r.OverheadPercent = o, &percent
}

// Judge fills in Bars and Missed.
func (r *Report) Judge() {
	r.Bars = r.bars()
	r.Missed = bars.Missed(r.Bars)
}
