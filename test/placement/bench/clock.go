// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"cmp"
	"io"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/bench/result"
	"github.com/paddle-volcano/paddle-volcano/test/placement/instances"
	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// yardstick is the sort that times are compared with: of the ids of a topology's nodes by their free GPUs, which lie
// ready in an array.
type yardstick struct {
	ids, scratch []int32
	keys         []int64
}

func newYardstick(f *instances.Fleet, t *placement.Topology) *yardstick {
	y := &yardstick{}
	y.ids, y.keys = f.Keys(t)
	y.scratch = make([]int32, len(y.ids))
	return y
}

// sort measures once, in milliseconds.
func (y *yardstick) sort() float64 {
	copy(y.scratch, y.ids)
	start := time.Now()
	slices.SortFunc(y.scratch, func(a, b int32) int { return cmp.Compare(y.keys[a], y.keys[b]) })
	return milliseconds(time.Since(start))
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// reading is one measurement, by the clock and in processor time, and what a sort took before and after.
type reading struct{ ms, cpu, bytes, sort float64 }

// measure times work once, and counts the bytes that it allocates. Garbage of before is collected first.
func measure(work func()) reading {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start, used := time.Now(), result.Processor()
	work()
	elapsed := time.Since(start)
	used = result.Processor() - used
	runtime.ReadMemStats(&after)
	return reading{ms: milliseconds(elapsed), cpu: milliseconds(used), bytes: float64(after.TotalAlloc - before.TotalAlloc)}
}

// sortsAround are measured before a reading, and as many after it: the machine may be slower at times.
const sortsAround = 5

// between measures work with sorts around it.
func (y *yardstick) between(work func()) reading {
	var sorts []float64
	for range sortsAround {
		sorts = append(sorts, y.sort())
	}
	r := measure(work)
	for range sortsAround {
		sorts = append(sorts, y.sort())
	}
	r.sort = stats.Median(sorts)
	return r
}

func medianOf(readings []reading, what func(reading) float64) float64 {
	var values []float64
	for _, r := range readings {
		values = append(values, what(r))
	}
	return stats.Median(values)
}

func leastOf(readings []reading, what func(reading) float64) float64 {
	least := what(readings[0])
	for _, r := range readings {
		least = min(least, what(r))
	}
	return least
}

// spread runs n pieces of work, one for each processor at a time; what it returns does not depend on their number.
func spread[T any](n int, name string, progress io.Writer, work func(i int) T) []T {
	results := make([]T, n)
	var group errgroup.Group
	group.SetLimit(runtime.NumCPU())
	said := time.Now()
	for i := range n {
		group.Go(func() error {
			results[i] = work(i)
			return nil
		})
		if time.Since(said) > 5*time.Second {
			said = time.Now()
			result.Say(progress, "%s: %d of %d", name, i, n)
		}
	}
	_ = group.Wait() // no piece of work fails
	return results
}
