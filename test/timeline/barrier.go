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
	// Known is when every peer's address was there, counted from the job's creation: in the environment, or as an IP of
	// the pod that a name stands for.
	Known time.Duration
	// Late is how much later the last barrier started, for which the barrier can do nothing: the kubelet paused, or was slow.
	Late time.Duration
	// Added is from then until the last main container had started. It is more than what the barrier adds, because a
	// container takes its time to start without one, too.
	Added time.Duration
	// Shortest and Longest are of the barrier's own containers.
	Shortest, Longest time.Duration
}

// Barrier works out what the start barrier took. It is false where a pod's part was not seen, or there is none.
func (s *Stamps) Barrier() (BarrierCost, bool) {
	pods := s.first()
	known := s.Environment
	if last := latest(pods, func(p Pod) time.Time { return p.Addressed }); last.After(known) {
		known = last
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
	}
	return cost, true
}

// Sentences say it, in lines of a reader's length.
func (c BarrierCost) Sentences() []string {
	said := []string{fmt.Sprintf("the barrier adds at most %s: from when every peer's address was there until the last main container started", seconds(c.Added))}
	if c.Late > 0 {
		said[0] = fmt.Sprintf("the barrier adds at most %s: from when the last barrier ran until the last main container started", seconds(c.Added))
		said = append(said, fmt.Sprintf("it ran %s after every peer's address was there, by the kubelet's own pace", seconds(c.Late)))
	}
	return append(said, fmt.Sprintf("the %d init containers themselves took %s to %s", c.Pods, seconds(c.Shortest), seconds(c.Longest)))
}
