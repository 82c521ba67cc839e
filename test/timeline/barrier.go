// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"fmt"
	"time"
)

// BarrierCost is what a job's start barrier took of its time.
type BarrierCost struct {
	// Pods is how many pods had one; none where there is no barrier, or where it was not seen.
	Pods int
	// Known is when every peer could be found, counted from the job's creation: its address was in the environment or, where
	// that holds names, DNS could know whose they are.
	Known time.Duration
	// Late is how much later the last barrier started, for which the barrier can do nothing: the kubelet paused, or was slow.
	Late time.Duration
	// Added is from then until the last main container had started. It is more than what the barrier adds, because a
	// container takes its time to start without one, too.
	Added time.Duration
	// Shortest and Longest are of the barrier's own containers.
	Shortest, Longest time.Duration
	// Idle is the longest that one of them still ran when it did and every peer could be found. It is what the barrier's own
	// rule adds, how often it looks; the rest of Added is the kubelet's pace.
	Idle time.Duration
}

// Barrier works out what the start barrier took. It is false where a pod's part was not seen, or there is none.
func (s *Stamps) Barrier() (BarrierCost, bool) {
	pods := s.first()
	known := s.Environment
	for _, of := range []func(Pod) time.Time{func(p Pod) time.Time { return p.Addressed }, func(p Pod) time.Time { return p.Named }} {
		if last := latest(pods, of); last.After(known) {
			known = last
		}
	}
	begun := latest(pods, func(p Pod) time.Time { return p.Barrier.Started })
	through := latest(pods, func(p Pod) time.Time { return p.Main.Started })
	passed := latest(pods, func(p Pod) time.Time { return p.Barrier.Ended })
	if known.IsZero() || begun.IsZero() || passed.IsZero() || through.IsZero() {
		return BarrierCost{}, false
	}
	cost := BarrierCost{Pods: len(pods), Known: known.Sub(s.Created), Late: max(0, begun.Sub(known)), Shortest: time.Duration(1<<63 - 1)}
	cost.Added = through.Sub(known) - cost.Late
	for _, pod := range pods {
		own := max(0, pod.Barrier.Ended.Sub(pod.Barrier.Started))
		cost.Shortest, cost.Longest = min(cost.Shortest, own), max(cost.Longest, own)
		cost.Idle = max(cost.Idle, min(own, pod.Barrier.Ended.Sub(known)))
	}
	return cost, true
}

// Sentences say it, in lines of a reader's length.
func (c BarrierCost) Sentences() []string {
	said := []string{fmt.Sprintf("the barrier adds at most %s: from when every peer could be found until the last main container started", seconds(c.Added))}
	if c.Late > 0 {
		said[0] = fmt.Sprintf("the barrier adds at most %s: from when the last barrier ran until the last main container started", seconds(c.Added))
		said = append(said, fmt.Sprintf("it ran %s after every peer could be found, by the kubelet's own pace", seconds(c.Late)))
	}
	return append(said, fmt.Sprintf("the %d init containers themselves took %s to %s, at most %s of it when every peer could be found",
		c.Pods, seconds(c.Shortest), seconds(c.Longest), seconds(c.Idle)))
}
