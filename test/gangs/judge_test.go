// SPDX-License-Identifier: Apache-2.0

package gangs_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

const (
	// longest is for how long a gang may be partly bound while others are bound.
	longest = 5 * time.Second
	// stalled is for how long it may be where nothing is bound that began later: an API server on two busy cores is not slower.
	stalled = time.Minute
)

// partFaults returns the faults in the way in which gangs were bound and, as notes, what was only slow.
func partFaults(gangs []*gang) (faults, notes []string) {
	for _, g := range gangs {
		if len(g.bindings) == 0 {
			continue
		}
		n, whole := g.whole()
		if !whole {
			faults = append(faults, fmt.Sprintf("%s is left partly bound: %d pods are, of %d", g, len(g.bindings), g.members))
		}
		faults = append(faults, g.abandoned()...)
		arrived, stamped := g.took()
		if !whole || min(arrived, stamped) <= longest {
			continue
		}
		boundPartly := fmt.Sprintf("%s was partly bound for %.1f s (%.0f s by the API server's stamps; %d pods)", g, arrived.Seconds(), stamped.Seconds(), n)
		if by := overtaker(g, gangs); by != nil {
			faults = append(faults, boundPartly+": "+by.String()+" began later by more than the bound and was whole earlier")
		} else if min(arrived, stamped) > stalled {
			faults = append(faults, boundPartly+": no gang overtook it, but no API server is as slow")
		} else {
			notes = append(notes, boundPartly+": no gang overtook it, so the API server was slow")
		}
	}
	return faults, notes
}

// abandoned returns the scheduler's messages, from when the gang was partly bound, that a part of its minimum is not schedulable.
func (g *gang) abandoned() []string {
	part := g.minimum()
	first, last := part[0].version, part[len(part)-1].version
	var faults []string
	left := map[string]map[string]bool{}
	for _, r := range g.refusals {
		if r.version < first || r.version > last {
			continue
		}
		if r.pod == "" {
			faults = append(faults, fmt.Sprintf("%s was partly bound when the scheduler said of it: %s", g, r.words))
			continue
		}
		if left[r.task] == nil {
			left[r.task] = map[string]bool{}
		}
		left[r.task][r.pod] = true
		if g.pods[r.task]-len(left[r.task]) < g.tasks[r.task] {
			faults = append(faults, fmt.Sprintf("%s was partly bound when the scheduler said of %s: %s", g, r.pod, r.words))
		}
	}
	return faults
}

// overtaker returns a gang that began when the bound was over for g, and was whole before g was; nil if there is none.
func overtaker(g *gang, gangs []*gang) *gang {
	mine := g.minimum()
	for _, other := range gangs {
		others := other.minimum()
		if _, whole := other.whole(); !whole || other == g {
			continue
		}
		if others[0].arrived.Sub(mine[0].arrived) > longest && others[len(others)-1].version < mine[len(mine)-1].version {
			return other
		}
	}
	return nil
}

// binding is the observed binding of one pod.
type binding struct {
	pod, task, node string
	index           int // in the task
	takes           amounts
	version         uint64    // its resource version
	arrived         time.Time // when the watch reported it
	stamp           time.Time // the API server's own time, in whole seconds
}

// refusal is the scheduler's condition that a gang, or one pod of it, is not schedulable.
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

// whole returns how many bindings it took until the minimum was bound; false if it is not, or if the PodGroup was not seen yet.
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

// minimum returns the bindings up to the one that completed the minimum; all if none did.
func (g *gang) minimum() []binding {
	if n, ok := g.whole(); ok {
		return g.bindings[:n]
	}
	return g.bindings
}

// first returns the bindings of the pods that come first in their tasks, as many as the minimum has: those that the scheduler
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

// summary is what the run showed.
type summary struct {
	// waiting are how many gangs waited when the cluster was full, by their reason, and pending the pods that were refused then.
	waiting map[string]int
	pending int
	empty   *capacity // the cluster before anything was bound
	// spread are gangs that span racks though one rack had capacity, of the early ones, which were bound before anything ended.
	spread        []string
	early         int
	faults, notes []string
	paddle, pods  int // Paddle's gangs, and their pods that were bound
}

// summary begins with what is known once the cluster is full and no pod has finished.
func (r *recorder) summary(t *testing.T, p *plane, all []job) *summary {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &summary{waiting: map[string]int{}, empty: newCapacity(p.nodes)}
	byJob := r.byJob()
	for _, j := range all {
		g := byJob[j.name]
		if !g.isWhole() {
			s.waiting[g.why[0]]++
			continue
		}
		if j.kind.others {
			continue
		}
		s.early++
		part := g.minimum()
		before := s.empty.without(r.uses, part[len(part)-1].version, g.name, r.placedBefore(g))
		if rack, had := before.anyHolds(g.requests()); had && len(g.racks(s.empty)) > 1 {
			s.spread = append(s.spread, fmt.Sprintf("%s of kind %s is spread over %v, and %s had capacity for all of it", g, j.kind.name, g.racks(s.empty), rack))
		}
	}
	for _, pod := range r.pods {
		if pod.node == "" && pod.refused != "" {
			s.pending++
		}
	}
	return s
}

// racks returns those in which the minimum is bound: one, where one holds as many of each task as the minimum has. Which pods
// those are is not asked, because Volcano makes them in no order, and the scheduler places those that it has seen.
func (g *gang) racks(in *capacity) []string {
	inRack := map[string][]binding{}
	for _, b := range g.bindings {
		inRack[in.rack[b.node]] = append(inRack[in.rack[b.node]], b)
	}
	for _, rack := range slices.Sorted(maps.Keys(inRack)) {
		part := *g
		part.bindings = inRack[rack]
		if part.isWhole() {
			return []string{rack}
		}
	}
	racks := map[string]bool{}
	for _, b := range g.first() {
		racks[in.rack[b.node]] = true
	}
	return slices.Sorted(maps.Keys(racks))
}

// requests returns what the pods of the minimum take.
func (g *gang) requests() []amounts {
	var pods []amounts
	for _, b := range g.first() {
		pods = append(pods, b.takes)
	}
	return pods
}

// finish adds what is known at the end.
func (s *summary) finish(r *recorder, all []job) {
	var faults []string
	faults, s.notes = partFaults(r.list())
	s.faults = slices.Concat(r.faults, faults, s.empty.overfull(r.uses))
	byJob := r.byJob()
	for _, j := range all {
		g := byJob[j.name]
		switch racks := g.racks(s.empty); {
		case j.kind.tooWide && len(g.bindings) > 0:
			s.faults = append(s.faults, fmt.Sprintf("%s fits no rack, and %d of its pods are bound", g, len(g.bindings)))
		case j.kind.tooWide:
			continue
		case g.session == 0:
			s.faults = append(s.faults, fmt.Sprintf("%s is bound, and no session of the scheduler said that it placed the gang", g))
		case j.kind.oneRack && len(racks) != 1:
			s.faults = append(s.faults, fmt.Sprintf("%s may not leave a rack, and is in %v", g, racks))
		}
		if !j.kind.others {
			s.paddle++
			s.pods += len(g.bindings)
		}
	}
}

// judge fails the test for each fault.
func (s *summary) judge(t *testing.T, p *plane) {
	t.Helper()
	t.Logf("%d gangs were bound before anything had ended; then waited %v, with %d pods; notes: %s", s.early, s.waiting, s.pending, strings.Join(s.notes, "\n"))
	logs := "logs in " + p.StateDir()
	require.Empty(t, s.faults, logs)
	require.Empty(t, s.spread, logs)
	require.Positive(t, s.pending, "pods that wait are what must not be nominated")
	metrics, err := p.Metrics(t.Context(), sandbox.Scheduler)
	require.NoError(t, err)
	require.GreaterOrEqual(t, metrics[`volcano_paddle_plans_total{outcome="placed"}`], float64(s.paddle), "each gang of Paddle's was planned")
	require.GreaterOrEqual(t, metrics[`volcano_paddle_hints_total{result="taken"}`], 0.9*float64(s.pods), "nearly all pods went where the plan wanted them")
	require.Zero(t, metrics["volcano_paddle_argument_errors"])
}
