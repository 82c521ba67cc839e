// SPDX-License-Identifier: Apache-2.0

package play

import (
	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// Result is what a run came to. Times are in seconds; of jobs that arrived in the window only.
type Result struct {
	// Jobs that were measured, and those of them with several GPUs: the gangs.
	Jobs  int `json:"jobs"`
	Gangs int `json:"gangs"`
	// Window in which they arrived.
	Window float64 `json:"window_s"`
	// JCT is from arrival to end.
	JCTMean     float64 `json:"jct_mean_s"`
	GangJCTMean float64 `json:"gang_jct_mean_s"`
	GangJCTP95  float64 `json:"gang_jct_p95_s"`
	// GangSlowdown is the mean over gangs of the time from start to end by the one that it would be with all on one host.
	GangSlowdown float64 `json:"gang_slowdown_mean"`
	// LoadHeld is the load with the durations that the jobs really had: the GPU-seconds that they held by those that the
	// cluster had in the window. Above 1 the queue grows for as long as jobs arrive.
	LoadHeld float64 `json:"load_held"`
	// Wait is from arrival to start.
	GangWaitMean float64 `json:"gang_wait_mean_s"`
	GangWaitP99  float64 `json:"gang_wait_p99_s"`
	// GPUUse is the share of all GPUs that jobs held in the window, GPUComputing the share that computed and did not wait for
	// the network.
	GPUUse       float64 `json:"gpu_use"`
	GPUComputing float64 `json:"gpu_computing"`
	// Crossing is what the jobs sent over borders of nodes, racks and blocks together.
	Crossing float64 `json:"crossing_bytes"`
	// Sessions of the scheduler.
	Sessions int `json:"sessions"`
}

func (p *player) result() *Result {
	r := &Result{Window: p.drawn.Window, Sessions: p.sessions}
	var jcts, gangJCTs, gangWaits, slowdowns []float64
	for i := range p.records {
		record := &p.records[i]
		if !record.job.Measured {
			continue
		}
		r.LoadHeld += float64(record.job.GPUs) * (record.end - record.start)
		jct, wait := record.end-record.job.Arrival, record.start-record.job.Arrival
		jcts = append(jcts, jct)
		if record.job.GPUs > 1 {
			gangJCTs, gangWaits = append(gangJCTs, jct), append(gangWaits, wait)
			slowdowns = append(slowdowns, (record.end-record.start)/record.job.Ideal())
		}
		for _, bytes := range record.bytes {
			r.Crossing += bytes
		}
	}
	r.Jobs, r.Gangs = len(jcts), len(gangJCTs)
	r.JCTMean = stats.Mean(jcts)
	r.GangJCTMean, r.GangJCTP95 = stats.Mean(gangJCTs), stats.Percentile(gangJCTs, 95)
	r.GangWaitMean, r.GangWaitP99 = stats.Mean(gangWaits), stats.Percentile(gangWaits, 99)
	r.GangSlowdown = stats.Mean(slowdowns)
	all := p.drawn.Window * float64(p.site.GPUs())
	r.LoadHeld /= all
	r.GPUUse, r.GPUComputing = p.held/all, p.computing/all
	return r
}
