// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Stamps are when one job was created and run. A moment that was not seen is zero.
type Stamps struct {
	// Environment is when the ConfigMap with the addresses of all pods was written.
	Environment time.Time
	// Pods are those of all attempts.
	Pods []Pod
}

// Pod is one pod's part.
type Pod struct {
	Name, Role string
	// Addressed is when the API server had its IP.
	Created, Addressed time.Time
	// Named is when DNS could know its name. It is zero where peers use its IP.
	Named time.Time
	// Barrier is the container of the start barrier, Main the first of the pod's own.
	Barrier, Main Run
}

// Run is one container's.
type Run struct{ Started, Ended time.Time }

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

// first returns the pods that the job began with, in the order of roles and names: not those that were created after a program
// of the job had started, nor those that replaced another.
func (s *Stamps) first() []Pod {
	pods := slices.Clone(s.Pods)
	slices.SortStableFunc(pods, func(a, b Pod) int {
		return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(a.Name, b.Name), a.Created.Compare(b.Created))
	})
	pods = slices.CompactFunc(pods, func(a, b Pod) bool { return a.Name == b.Name })
	var started time.Time
	for i := range pods {
		if at := pods[i].Main.Started; !at.IsZero() {
			note(&started, at)
		}
	}
	return slices.DeleteFunc(pods, func(p Pod) bool { return !started.IsZero() && p.Created.After(started) })
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
