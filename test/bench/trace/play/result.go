// SPDX-License-Identifier: Apache-2.0

package play

import (
	"math"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/site"
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
	JCTP95      float64 `json:"jct_p95_s"`
	GangJCTMean float64 `json:"gang_jct_mean_s"`
	GangJCTP95  float64 `json:"gang_jct_p95_s"`
	// GangSlowdown is the mean over gangs of the time from start to end by the one that it would be with all on one host.
	GangSlowdown    float64 `json:"gang_slowdown_mean"`
	GangSlowdownP95 float64 `json:"gang_slowdown_p95"`
	// LoadHeld is the load with the durations that the jobs really had: the GPU-seconds that they held by those that the
	// cluster had in the window. Above 1 the queue grows for as long as jobs arrive.
	LoadHeld float64 `json:"load_held"`
	// Makespan is from the window's begin to the end of the last job.
	Makespan float64 `json:"makespan_s"`
	// Wait is from arrival to start.
	WaitMean     float64 `json:"wait_mean_s"`
	WaitP99      float64 `json:"wait_p99_s"`
	GangWaitMean float64 `json:"gang_wait_mean_s"`
	GangWaitP99  float64 `json:"gang_wait_p99_s"`
	// GPUUse is the share of all GPUs that jobs held in the window, GPUComputing the share that computed and did not wait for
	// the network.
	GPUUse       float64 `json:"gpu_use"`
	GPUComputing float64 `json:"gpu_computing"`
	// Shares of free GPUs that gangs of 4 could not use in one node, and gangs of 16 in one rack, over the window.
	FragmentationNode float64 `json:"fragmentation_node"`
	FragmentationRack float64 `json:"fragmentation_rack"`
	// Crossing is what the jobs sent over borders of nodes, racks and blocks together, and over each.
	Crossing      float64 `json:"crossing_bytes"`
	CrossingNode  float64 `json:"crossing_node_bytes"`
	CrossingRack  float64 `json:"crossing_rack_bytes"`
	CrossingBlock float64 `json:"crossing_block_bytes"`
	// Sessions of the scheduler.
	Sessions int `json:"sessions"`
}

func (p *player) result() *Result {
	r := &Result{Window: p.drawn.Window, Sessions: p.sessions}
	var jcts, waits, gangJCTs, gangWaits, slowdowns []float64
	for i := range p.records {
		record := &p.records[i]
		if !record.job.Measured {
			continue
		}
		r.LoadHeld += float64(record.job.GPUs) * (record.end - record.start)
		jct, wait := record.end-record.job.Arrival, record.start-record.job.Arrival
		jcts, waits = append(jcts, jct), append(waits, wait)
		if record.job.GPUs > 1 {
			gangJCTs, gangWaits = append(gangJCTs, jct), append(gangWaits, wait)
			slowdowns = append(slowdowns, (record.end-record.start)/record.job.Ideal())
		}
		r.Makespan = max(r.Makespan, record.end)
		r.CrossingNode += record.bytes[site.Node]
		r.CrossingRack += record.bytes[site.Rack]
		r.CrossingBlock += record.bytes[site.Block]
	}
	r.Crossing = r.CrossingNode + r.CrossingRack + r.CrossingBlock
	r.Jobs, r.Gangs = len(jcts), len(gangJCTs)
	r.JCTMean, r.JCTP95 = stats.Mean(jcts), percentile(jcts, 95)
	r.GangJCTMean, r.GangJCTP95 = stats.Mean(gangJCTs), percentile(gangJCTs, 95)
	r.WaitMean, r.WaitP99 = stats.Mean(waits), percentile(waits, 99)
	r.GangWaitMean, r.GangWaitP99 = stats.Mean(gangWaits), percentile(gangWaits, 99)
	r.GangSlowdown, r.GangSlowdownP95 = stats.Mean(slowdowns), percentile(slowdowns, 95)
	seconds := p.drawn.Window
	all := seconds * float64(p.site.GPUs())
	r.LoadHeld /= all
	r.GPUUse, r.GPUComputing = p.meter.held/all, p.meter.computing/all
	r.FragmentationNode, r.FragmentationRack = p.meter.fragmentedNode/seconds, p.meter.fragmentedRack/seconds
	return r
}

// percentile is the least value that so many percent of all do not exceed; 0 for none.
func percentile(values []float64, percent int) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(float64(len(sorted)*percent) / 100))
	return sorted[max(1, rank)-1]
}
