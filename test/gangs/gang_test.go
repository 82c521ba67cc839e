// SPDX-License-Identifier: Apache-2.0

package gangs_test

import (
	"fmt"
	"slices"
	"time"
)

// binding is one pod's, as the API server told of it.
type binding struct {
	pod, task, node string
	index           int // in the task
	takes           amounts
	version         uint64    // its place in the order of all that happened
	arrived         time.Time // when the watch told of it
	stamp           time.Time // the API server's own time, in whole seconds
}

// refusal is the scheduler's word that a gang is not schedulable, or one pod of it.
type refusal struct {
	pod, task string // empty for the gang
	words     string
	version   uint64
}

// gang is one PodGroup with its pods.
type gang struct {
	name, job string
	members   int            // of the minimum
	tasks     map[string]int // of the minimum, by task
	pods      map[string]int // that there are, by task
	bindings  []binding      // in the order in which they happened
	refusals  []refusal
	// session is the number of the scheduler's session that placed the gang, 0 while that is not known.
	session int
	// placed and why are what the condition PaddleScheduled says, why its reason and words.
	placed bool
	why    [2]string
}

// whole is how many bindings it took until the minimum was bound; false if it is not, or if the PodGroup was not seen yet.
func (g *gang) whole() (int, bool) {
	if g.members == 0 {
		return 0, false
	}
	left, open := g.members, len(g.tasks)
	bound := map[string]int{}
	for _, least := range g.tasks {
		if least == 0 {
			open--
		}
	}
	for i, b := range g.bindings {
		left--
		if bound[b.task]++; bound[b.task] == g.tasks[b.task] {
			open--
		}
		if left <= 0 && open == 0 {
			return i + 1, true
		}
	}
	return 0, false
}

// minimum are the bindings up to the one that completed the minimum; all if none did.
func (g *gang) minimum() []binding {
	if n, ok := g.whole(); ok {
		return g.bindings[:n]
	}
	return g.bindings
}

// first are the bindings of the pods that come first in their tasks, as many as the minimum has: those that the scheduler
// places together. Pods beyond the minimum come later, on what other gangs have left.
func (g *gang) first() []binding {
	return slices.DeleteFunc(slices.Clone(g.bindings), func(b binding) bool { return b.index >= g.tasks[b.task] })
}

// took is for how long the gang was partly bound, by both clocks. The stamps are too short by up to a second.
func (g *gang) took() (arrived, stamped time.Duration) {
	part := g.minimum()
	if len(part) == 0 {
		return 0, 0
	}
	first, last := part[0], part[len(part)-1]
	earliest := slices.MinFunc(part, func(a, b binding) int { return a.stamp.Compare(b.stamp) })
	latest := slices.MaxFunc(part, func(a, b binding) int { return a.stamp.Compare(b.stamp) })
	return last.arrived.Sub(first.arrived), latest.stamp.Sub(earliest.stamp)
}

// String names a gang as a failure shows it.
func (g *gang) String() string { return fmt.Sprintf("%s (PodGroup %s)", g.job, g.name) }
