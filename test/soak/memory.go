// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"fmt"

	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// Size is what a program takes when it has nothing to do.
type Size struct {
	Goroutines int `json:"goroutines"`
	// Heap is what is live on it, in MiB: what was left by a garbage collection after the work.
	Heap float64 `json:"heap_mib"`
	// RSS is the resident memory, in MiB. Go gives memory back to the system slowly.
	RSS float64 `json:"rss_mib"`
}

func (s Size) String() string {
	return fmt.Sprintf("%d goroutines, heap %.1f MiB, RSS %.1f MiB", s.Goroutines, s.Heap, s.RSS)
}

// measured are the programs whose memory may not grow: the controller, and the scheduler with the plugin.
var measured = []string{sandbox.Controller, sandbox.Scheduler}

// collections are how many garbage collections must have begun after the work, so that one has begun and ended.
const collections = 2

// sizes measures the programs. Asking for metrics makes garbage, so that a collection comes soon.
func sizes(ctx context.Context, p *live.Plane) (map[string]Size, error) {
	all := map[string]Size{}
	for _, name := range measured {
		before, seen := -1.0, 0
		var values map[string]float64
		err := p.Until(ctx, "garbage collections of "+name, func(ctx context.Context) error {
			for range 20 {
				var err error
				if values, err = p.Metrics(ctx, name); err != nil {
					return err
				}
				if last := values["go_memstats_last_gc_time_seconds"]; last != before {
					before, seen = last, seen+1
				}
			}
			if seen <= collections {
				return fmt.Errorf("there were %d", seen-1)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		rss, _, err := p.Memory(name)
		if err != nil {
			return nil, err
		}
		// The next collection is due when the heap has grown by this percentage over what the last one left.
		live := values["go_memstats_next_gc_bytes"] / (1 + values["go_gc_gogc_percent"]/100)
		all[name] = Size{Goroutines: int(values["go_goroutines"]), Heap: live / (1 << 20), RSS: rss}
	}
	return all, nil
}

// What counts as growth from one third of the rounds to the next: more than is left to chance.
const (
	moreGoroutines = 10
	heapFactor     = 1.10
	moreHeap       = 1.5 // MiB
)

// growth compares the last third of the rounds with the one before, by medians, in sentences. The first third is warming
// up: client-go remembers the last 4096 events of a program, which takes about 1,000 jobs and 4 MiB.
func growth(rounds []Round) (broken []string) {
	n := max(len(rounds)/3, 1)
	for _, name := range measured {
		before, last := middle(rounds[len(rounds)-2*n:len(rounds)-n], name), middle(rounds[len(rounds)-n:], name)
		if last.Goroutines > before.Goroutines+moreGoroutines {
			broken = append(broken, fmt.Sprintf("%s has %d goroutines, and had %d before", name, last.Goroutines, before.Goroutines))
		}
		if last.Heap > before.Heap*heapFactor+moreHeap {
			broken = append(broken, fmt.Sprintf("%s has %.1f MiB on its heap, and had %.1f before", name, last.Heap, before.Heap))
		}
	}
	return broken
}

func middle(rounds []Round, name string) Size {
	var goroutines, heap, rss []float64
	for _, r := range rounds {
		size := r.Sizes[name]
		goroutines, heap, rss = append(goroutines, float64(size.Goroutines)), append(heap, size.Heap), append(rss, size.RSS)
	}
	return Size{Goroutines: int(stats.Median(goroutines)), Heap: stats.Median(heap), RSS: stats.Median(rss)}
}
