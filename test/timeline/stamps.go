// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Stamps are when one job was created and run. A moment that was not seen is zero.
type Stamps struct {
	Created time.Time
	// Scheduled is when the PodGroup became Running: the scheduler had placed the gang.
	Scheduled time.Time
	// Environment is when the ConfigMap with the addresses of all pods was written.
	Environment time.Time
	// Pods are those of all attempts.
	Pods []Pod
}

// Pod is one pod's part.
type Pod struct {
	Name, Role string
	// Addressed is when the API server had its IP.
	Created, Bound, Addressed time.Time
	// Named is when DNS could know its name. It is zero where peers use its IP.
	Named time.Time
	// Barrier is the container of the start barrier, Main the first of the pod's own.
	Barrier, Main Run
	// FirstStep is when its program logged the first training step.
	FirstStep time.Time
}

// Run is one container's.
type Run struct{ Started, Ended time.Time }

// Table has a line for each moment: how long after the job's creation it was reached by the last of the pods. The first training step
// is the first that any pod logged.
func (s *Stamps) Table() string {
	pods := s.first()
	var text strings.Builder
	fmt.Fprintf(&text, "%9s  %s\n", "AFTER", "MOMENT")
	for _, moment := range []struct {
		what string
		at   time.Time
	}{
		{"PodGroup scheduled", s.Scheduled},
		{fmt.Sprintf("all %d pods bound", len(pods)), latest(pods, func(p Pod) time.Time { return p.Bound })},
		{"all pods running", latest(pods, func(p Pod) time.Time { return p.Main.Started })},
		{"first training step", s.firstStep()},
	} {
		if !moment.at.IsZero() {
			fmt.Fprintf(&text, "%8.2fs  %s\n", max(0, moment.at.Sub(s.Created).Seconds()), moment.what) // the watch of another kind may be ahead
		}
	}
	return text.String()
}

// BarrierCost is what the start barrier took of a job's time.
type BarrierCost struct {
	// Added is from when every peer could be found, or the last barrier started if that was later, until the last main container
	// started. A container takes its time to start without a barrier, too.
	Added time.Duration
	// Idle is the longest that a barrier still ran when it had started and every peer could be found. This depends on how often the
	// barrier looks; the rest of Added is the pace of the kubelet.
	Idle time.Duration
}

// String implements [fmt.Stringer].
func (c BarrierCost) String() string {
	return fmt.Sprintf("start barrier: main containers started %.2fs after it could end; it ran %.2fs longer than needed", c.Added.Seconds(), c.Idle.Seconds())
}

// Barrier computes the cost of the start barrier. It reports false where a pod's part was not seen, or has no barrier.
func (s *Stamps) Barrier() (BarrierCost, bool) {
	pods := s.first()
	known := s.Environment
	for _, of := range []func(Pod) time.Time{func(p Pod) time.Time { return p.Addressed }, func(p Pod) time.Time { return p.Named }} {
		if last := latest(pods, of); last.After(known) {
			known = last
		}
	}
	begun := latest(pods, func(p Pod) time.Time { return p.Barrier.Started })
	passed := latest(pods, func(p Pod) time.Time { return p.Barrier.Ended })
	through := latest(pods, func(p Pod) time.Time { return p.Main.Started })
	if known.IsZero() || begun.IsZero() || passed.IsZero() || through.IsZero() {
		return BarrierCost{}, false
	}
	cost := BarrierCost{Added: min(through.Sub(known), through.Sub(begun))}
	for _, pod := range pods {
		own := pod.Barrier.Ended.Sub(pod.Barrier.Started)
		cost.Idle = max(cost.Idle, min(own, pod.Barrier.Ended.Sub(known)))
	}
	return cost, true
}

// first returns the pods that the job began with, in the order of roles and names: not those that were created after the first
// training step, nor those that replaced another.
func (s *Stamps) first() []Pod {
	pods := slices.Clone(s.Pods)
	slices.SortStableFunc(pods, func(a, b Pod) int {
		return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name), a.Created.Compare(b.Created))
	})
	pods = slices.CompactFunc(pods, func(a, b Pod) bool { return a.Name == b.Name })
	step := s.firstStep()
	return slices.DeleteFunc(pods, func(p Pod) bool { return !step.IsZero() && p.Created.After(step) })
}

func (s *Stamps) firstStep() (first time.Time) {
	for i := range s.Pods {
		if at := s.Pods[i].FirstStep; !at.IsZero() {
			note(&first, at)
		}
	}
	return first
}

// latest is the last of the pods' times; zero if one is not known.
func latest(pods []Pod, of func(Pod) time.Time) (last time.Time) {
	for _, pod := range pods {
		at := of(pod)
		if at.IsZero() {
			return at
		}
		if at.After(last) {
			last = at
		}
	}
	return last
}

// note keeps the first time.
func note(stamp *time.Time, at time.Time) {
	if stamp.IsZero() || at.Before(*stamp) {
		*stamp = at
	}
}
