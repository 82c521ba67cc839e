// SPDX-License-Identifier: Apache-2.0

package play

import (
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// Result is what a run came to. Times are in seconds; of jobs that arrived in the window only.
type Result struct {
	// Jobs that were measured, those of them with several pods, and those of these that are Paddle's.
	Jobs        int `json:"jobs"`
	Gangs       int `json:"gangs"`
	PaddleGangs int `json:"paddle_gangs"`
	// Window in which they arrived.
	Window float64 `json:"window_s"`
	// JCT is from arrival to end.
	JCTMean     float64 `json:"jct_mean_s"`
	GangJCTMean float64 `json:"gang_jct_mean_s"`
	GangJCTP95  float64 `json:"gang_jct_p95_s"`
	// GangSlowdown is the mean over gangs of the time from start to end by the one that it would be with all on one host.
	GangSlowdown   float64 `json:"gang_slowdown_mean"`
	GangSlowdown95 float64 `json:"gang_slowdown_p95"`
	// PaddleSlowdown is the same mean of Paddle's gangs, GPUsSlowdown that of all jobs of several GPUs, also those of one pod.
	PaddleSlowdown float64 `json:"paddle_gang_slowdown_mean"`
	GPUsSlowdown   float64 `json:"gpus_slowdown_mean"`
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
	// Formula and Burst are compared with long simulations of samples; nothing without samples.
	Formula *Apart `json:"formula,omitempty"`
	Burst   *Apart `json:"burst,omitempty"`
}

func (p *player) result() *Result {
	r := &Result{Window: p.drawn.Window, Sessions: p.sessions}
	var jcts, gangJCTs, gangWaits, slowdowns, paddle, several []float64
	for i := range p.records {
		record := &p.records[i]
		if !record.job.Measured {
			continue
		}
		r.LoadHeld += float64(record.job.GPUs) * (record.end - record.start)
		jct, wait := record.end-record.job.Arrival, record.start-record.job.Arrival
		jcts = append(jcts, jct)
		slowdown := (record.end - record.start) / record.job.Ideal()
		if record.job.GPUs > 1 {
			several = append(several, slowdown)
		}
		if record.job.Gang() {
			gangJCTs, gangWaits, slowdowns = append(gangJCTs, jct), append(gangWaits, wait), append(slowdowns, slowdown)
			if record.job.Mode != cluster.Other {
				paddle = append(paddle, slowdown)
			}
		}
		for _, bytes := range record.bytes {
			r.Crossing += bytes
		}
	}
	r.Jobs, r.Gangs, r.PaddleGangs = len(jcts), len(gangJCTs), len(paddle)
	r.JCTMean = stats.Mean(jcts)
	r.GangJCTMean, r.GangJCTP95 = stats.Mean(gangJCTs), stats.Percentile(gangJCTs, 95)
	r.GangWaitMean, r.GangWaitP99 = stats.Mean(gangWaits), stats.Percentile(gangWaits, 99)
	r.GangSlowdown, r.GangSlowdown95 = stats.Mean(slowdowns), stats.Percentile(slowdowns, 95)
	r.PaddleSlowdown, r.GPUsSlowdown = stats.Mean(paddle), stats.Mean(several)
	r.Formula, r.Burst = apart(p.site, p.engine)
	all := p.drawn.Window * float64(p.site.GPUs())
	r.LoadHeld /= all
	r.GPUUse, r.GPUComputing = p.held/all, p.computing/all
	return r
}
