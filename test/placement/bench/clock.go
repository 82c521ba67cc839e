// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"cmp"
	"runtime"
	"slices"
	"time"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/instances"
)

// yardstick is the sort that times are compared with: of the ids of a topology's nodes by their free GPUs, which lie
// ready in an array.
type yardstick struct {
	ids, scratch []int32
	keys         []int64
	times        []float64
}

func newYardstick(f *instances.Fleet, t *placement.Topology) *yardstick {
	y := &yardstick{}
	y.ids, y.keys = f.Keys(t)
	y.scratch = make([]int32, len(y.ids))
	return y
}

// sort measures once.
func (y *yardstick) sort() {
	copy(y.scratch, y.ids)
	start := time.Now()
	slices.SortFunc(y.scratch, func(a, b int32) int { return cmp.Compare(y.keys[a], y.keys[b]) })
	y.times = append(y.times, milliseconds(time.Since(start)))
}

func (y *yardstick) ms() float64 { return median(y.times) }

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// reading is one measurement.
type reading struct{ ms, allocs, bytes float64 }

// measure times work once, and counts what it allocates. Garbage of before is collected first.
func measure(work func()) reading {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := time.Now()
	work()
	elapsed := time.Since(start)
	runtime.ReadMemStats(&after)
	return reading{ms: milliseconds(elapsed), allocs: float64(after.Mallocs - before.Mallocs), bytes: float64(after.TotalAlloc - before.TotalAlloc)}
}

// middle reading of each column.
func middle(readings []reading) reading {
	var ms, allocs, bytes []float64
	for _, r := range readings {
		ms, allocs, bytes = append(ms, r.ms), append(allocs, r.allocs), append(bytes, r.bytes)
	}
	return reading{median(ms), median(allocs), median(bytes)}
}
