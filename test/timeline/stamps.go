// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"cmp"
	"slices"
	"time"
)

// Stamps are when what belongs to one job happened. What was not seen is zero, and its time is counted to what comes next.
type Stamps struct {
	// Job is what the drawing is called.
	Job string
	// Created is the job's own creation, VolcanoJob that of its Volcano Job.
	Created, VolcanoJob time.Time
	// Enqueued is when the PodGroup became Inqueue, Placed when the scheduler's plugin said that the gang is placed.
	Enqueued, Placed time.Time
	// Plan is how long the scheduler reckoned, where it tells.
	Plan time.Duration
	// Environment is when the ConfigMap with the addresses of all pods was written.
	Environment time.Time
	// Pods are the job's, those of later attempts among them.
	Pods []Pod
}

// Pod is one pod's part.
type Pod struct {
	Name, Role string
	// Addressed is when its IP was known to the API server.
	Created, Bound, Addressed time.Time
	// Named is when DNS could know its name; zero where its peers look for its IP.
	Named time.Time
	// Pulled is when the first image was on the node.
	Pulled time.Time
	// Lacked is when the kubelet failed at last to make a container because the environment was not there. It tries again
	// later and later, whenever the environment comes.
	Lacked time.Time
	// Barrier is the start barrier's container, Main the first of the pod's own.
	Barrier, Main Run
	// FirstStep is when its program told of the first training step.
	FirstStep time.Time
}

// Run is one container's.
type Run struct{ Started, Ended time.Time }

// first are the pods that the job began with, in the order of roles and names: none that was made after the first training
// step, nor one that took the place of another.
func (s *Stamps) first() []Pod {
	pods := slices.Clone(s.Pods)
	slices.SortStableFunc(pods, func(a, b Pod) int {
		return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name), a.Created.Compare(b.Created))
	})
	pods = slices.CompactFunc(pods, func(a, b Pod) bool { return a.Name == b.Name })
	step := s.firstStep()
	return slices.DeleteFunc(pods, func(p Pod) bool { return !step.IsZero() && p.Created.After(step) })
}

func (s *Stamps) firstStep() time.Time {
	var steps []time.Time
	for i := range s.Pods {
		steps = append(steps, s.Pods[i].FirstStep)
	}
	return earliest(steps...)
}

// latest is the last of the times that are known; zero if one is not known at all.
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

// earliest is the first of the times that are known.
func earliest(times ...time.Time) (first time.Time) {
	for _, at := range times {
		if first.IsZero() || !at.IsZero() && at.Before(first) {
			first = at
		}
	}
	return first
}

// starts is when the first of the pod's containers began.
func (p Pod) starts() time.Time { return earliest(p.Barrier.Started, p.Main.Started) }

// backedOff tells whether the kubelet failed for want of the environment.
func (p Pod) backedOff() bool { return !p.Lacked.IsZero() }
