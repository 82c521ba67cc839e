// SPDX-License-Identifier: Apache-2.0

package gangs_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// summary is what the run showed.
type summary struct {
	// waiting are how many gangs waited when the cluster was full, by their reason, and pending the pods that were refused then.
	waiting map[string]int
	pending int
	empty   *room // the cluster before anything was bound
	// spread are gangs that left a rack though one had room, of the early ones, which were bound before anything ended.
	spread        []string
	early         int
	faults, notes []string
	paddle, pods  int // Paddle's gangs, and their pods that were bound
}

// summary begins with what is known once the cluster is full and nothing has ended yet.
func (r *recorder) summary(t *testing.T, p *plane, all []job) *summary {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &summary{waiting: map[string]int{}, empty: newRoom(p.nodes)}
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
			s.spread = append(s.spread, fmt.Sprintf("%s of kind %s is spread over %v, and %s had room for all of it", g, j.kind.name, g.racks(s.empty), rack))
		}
	}
	for _, pod := range r.pods {
		if pod.node == "" && pod.refused != "" {
			s.pending++
		}
	}
	return s
}

// racks are those in which the minimum is bound: one, where one holds as many of each task as the minimum has. Which pods
// those are is not asked, because Volcano makes them in no order, and the scheduler places those that it has seen.
func (g *gang) racks(in *room) []string {
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

// requests are what the pods of the minimum take.
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

// judge fails the test for what is wrong.
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
