// SPDX-License-Identifier: Apache-2.0

package speed

import (
	"io"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/paddle-volcano/paddle-volcano/test/bench/result"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// Scale is one session with the plugin that places all pods of a large cluster at once. Times are seconds.
type Scale struct {
	Nodes int    `json:"nodes"`
	Pods  int    `json:"pods"`
	Gang  int    `json:"gang"`
	Mode  string `json:"mode"`
	// Runs are those of allocate, Sessions those of whole sessions; Allocate and Session are their medians.
	Runs     []float64 `json:"allocate_runs_s"`
	Sessions []float64 `json:"session_runs_s"`
	Allocate float64   `json:"allocate_s"`
	Session  float64   `json:"session_s"`
	// Rate is pods by allocate.
	Rate  float64 `json:"pods_s"`
	Bound int     `json:"bound"`
	// Memory is the most that Go's runtime held of the machine's memory, of all runs: the cluster, the cache and the session.
	Memory float64 `json:"memory_mib"`
}

// scales double the pods, then the nodes, then the pods.
func scales() []Case {
	var cases []Case
	for _, size := range [][2]int{{15_000, 25_000}, {15_000, 50_000}, {30_000, 50_000}, {30_000, 100_000}} {
		cases = append(cases, Case{Nodes: size[0], Pods: size[1], Gang: 20, Mode: modeMixed, jobs: mixed})
	}
	return cases
}

// scaleRuns bound a median of sessions that take seconds.
const scaleRuns = 3

// MeasureScale runs the session of each size.
func MeasureScale(s Settings, progress io.Writer) ([]Scale, error) {
	var rows []Scale
	for _, c := range scales() {
		row, err := c.scale(min(s.Runs, scaleRuns), s.Seed, progress)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func (c Case) scale(runs int, seed uint64, progress io.Writer) (Scale, error) {
	row := Scale{Nodes: c.Nodes, Pods: c.Pods, Gang: c.Gang, Mode: c.Mode}
	for range runs {
		debug.FreeOSMemory()
		stop := make(chan struct{})
		most := make(chan float64)
		go func() { most <- mostMemory(stop) }()
		r, err := c.run(cluster.Paddle(nil), 0, seed, progress)
		close(stop)
		row.Memory = max(row.Memory, <-most)
		if err != nil {
			return row, err
		}
		row.Runs, row.Sessions, row.Bound = append(row.Runs, r.took.Allocate.Seconds()), append(row.Sessions, r.took.Whole().Seconds()), r.bound
	}
	row.Allocate, row.Session = stats.Median(row.Runs), stats.Median(row.Sessions)
	row.Rate = float64(c.Pods) / row.Allocate
	result.Say(progress, "scale: %d nodes, %d pods: a session takes %.1f s, %.0f pods/s are placed, %.0f MiB", c.Nodes, c.Pods, row.Session, row.Rate, row.Memory)
	return row, nil
}

// mostMemory returns the most memory, in MiB, that Go's runtime held until stop is closed.
func mostMemory(stop <-chan struct{}) (most float64) {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		metrics.Read(samples)
		most = max(most, float64(samples[0].Value.Uint64()-samples[1].Value.Uint64())/(1<<20))
		select {
		case <-ticker.C:
		case <-stop:
			return most
		}
	}
}
