// SPDX-License-Identifier: Apache-2.0

package gangs_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/stretchr/testify/require"
)

// summary is what the run showed.
type summary struct {
	// fill is the time from the first job until nothing more had room, rest from then until every gang was bound.
	fill, rest time.Duration
	// waiting are the reasons for which gangs waited when the cluster was full, with one of their messages.
	waiting map[string]string
	counts  map[string]int // of them
	pending int            // pods that were refused and waited then
	full    *room          // at the beginning
	rows    map[string]*row
	// spread are gangs that left a rack though one had room. early are those that were judged so.
	spread       []string
	early        int
	faults       []string
	notes        []string
	bindings     []binding
	metrics      map[string]float64
	events       int
	reason       string // for which a gang that fits no rack waits at the end
	paddle, pods int    // Paddle's gangs, and their pods that were bound
}

// row is what the run showed of one kind.
type row struct {
	jobs, pods, waiting       int
	fit, within               int // gangs that fit an empty rack, and of those the ones that were bound in one
	arrived, stamped, silence time.Duration
	between, racks            int
}

// summary begins with what is known once the cluster is full and nothing has ended yet.
func (r *recorder) summary(t *testing.T, p *plane, all []job) *summary {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &summary{waiting: map[string]string{}, counts: map[string]int{}, full: newRoom(p.nodes), rows: map[string]*row{}}
	byJob := r.byJob()
	for _, j := range all {
		g := byJob[j.name]
		if s.rows[j.kind.name] == nil {
			s.rows[j.kind.name] = &row{}
		}
		if !g.isWhole() {
			s.rows[j.kind.name].waiting++
			reason := g.why[0]
			if j.kind.others {
				reason = "(not Paddle's)"
			}
			s.counts[reason]++
			s.waiting[reason], _, _ = strings.Cut(g.why[1], "\n")
			continue
		}
		if j.kind.others {
			continue
		}
		s.early++
		part := g.minimum()
		before := s.full.without(r.uses, part[len(part)-1].version, g.name, r.placedBefore(g))
		if rack, had := before.anyHolds(g.requests()); had && len(g.racks(s.full)) > 1 {
			s.spread = append(s.spread, fmt.Sprintf("%s of kind %s is spread over %v, and %s had room for all of it", g, j.kind.name, g.racks(s.full), rack))
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
	s.bindings, s.events = r.bindings(), r.events
	var faults []string
	faults, s.notes = partFaults(r.list())
	s.faults = slices.Concat(r.faults, faults, s.full.overfull(r.uses))
	byJob := r.byJob()
	for _, j := range all {
		g := byJob[j.name]
		s.rows[j.kind.name].add(g, s.bindings)
		if j.kind.tooWide {
			if len(g.bindings) > 0 {
				s.faults = append(s.faults, fmt.Sprintf("%s fits no rack, and %d of its pods are bound", g, len(g.bindings)))
			}
			s.reason = g.why[1]
			continue
		}
		if g.session == 0 {
			s.faults = append(s.faults, fmt.Sprintf("%s is bound, and no session of the scheduler said that it placed the gang", g))
		}
		if !j.kind.others {
			s.paddle++
			s.pods += len(g.bindings)
		}
		racks := g.racks(s.full)
		s.rows[j.kind.name].racks = max(s.rows[j.kind.name].racks, len(racks))
		if _, fits := s.full.anyHolds(g.requests()); fits {
			s.rows[j.kind.name].fit++
			if len(racks) == 1 {
				s.rows[j.kind.name].within++
			}
		}
		if j.kind.oneRack && len(racks) != 1 {
			s.faults = append(s.faults, fmt.Sprintf("%s may not leave a rack, and is in %v", g, racks))
		}
	}
}

func (r *row) add(g *gang, all []binding) {
	r.jobs++
	r.pods += len(g.bindings)
	arrived, stamped := g.took()
	r.arrived = max(r.arrived, arrived)
	r.stamped, r.silence, r.between = max(r.stamped, stamped), max(r.silence, g.silence()), max(r.between, g.between(all))
}

// table shows all of it.
func (s *summary) table(kinds []*kind) string {
	var out strings.Builder
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	line := func(format string, args ...any) { fmt.Fprintf(table, format+"\n", args...) } //nolint:errcheck // into memory
	line("kind\tjobs\tpods bound\twaiting when full\tpartly bound for at most\tby stamps\tsilence\tothers' bindings meanwhile\tracks\tin one rack\tof those that fit one")
	total := row{}
	for _, k := range kinds {
		r := s.rows[k.name]
		line("%s\t%d\t%d\t%d\t%.2f s\t%.0f s\t%.2f s\t%d\t%d\t%d\t%d", k.name, r.jobs, r.pods, r.waiting,
			r.arrived.Seconds(), r.stamped.Seconds(), r.silence.Seconds(), r.between, r.racks, r.within, r.fit)
		total.jobs, total.pods, total.waiting, total.fit, total.within = total.jobs+r.jobs, total.pods+r.pods, total.waiting+r.waiting, total.fit+r.fit, total.within+r.within
		total.arrived, total.stamped, total.silence, total.between = max(total.arrived, r.arrived), max(total.stamped, r.stamped), max(total.silence, r.silence), max(total.between, r.between)
	}
	line("all\t%d\t%d\t%d\t%.2f s\t%.0f s\t%.2f s\t%d\t\t%d\t%d", total.jobs, total.pods, total.waiting,
		total.arrived.Seconds(), total.stamped.Seconds(), total.silence.Seconds(), total.between, total.within, total.fit)
	line("%.0f s until full, %.0f s until every gang was bound; %d pods waited when it was full; %d events", s.fill.Seconds(), s.rest.Seconds(), s.pending, s.events)
	line("%d gangs judged while nothing had ended: %d left a rack though one had room", s.early, len(s.spread))
	for _, reason := range slices.Sorted(maps.Keys(s.counts)) {
		line("%d waited when it was full: %s: %s", s.counts[reason], reason, s.waiting[reason])
	}
	for _, name := range slices.Sorted(maps.Keys(s.metrics)) {
		if strings.HasPrefix(name, "volcano_paddle_") && !strings.Contains(name, "_bucket") {
			line("%s %g", name, s.metrics[name])
		}
	}
	line("too wide: %s", strings.ReplaceAll(s.reason, "\n", " / "))
	for _, note := range s.notes {
		line("%s", note)
	}
	table.Flush() //nolint:errcheck // into memory
	return out.String()
}

// judge fails the test for what is wrong.
func (s *summary) judge(t *testing.T, p *plane) {
	t.Helper()
	logs := "logs in " + p.StateDir()
	require.Empty(t, s.faults, logs)
	require.Empty(t, s.spread, logs)
	require.Positive(t, s.pending, "pods that wait are what must not be nominated")
	require.GreaterOrEqual(t, s.metrics[`volcano_paddle_plans_total{outcome="placed"}`], float64(s.paddle), "each gang of Paddle's was planned")
	require.GreaterOrEqual(t, s.metrics[`volcano_paddle_hints_total{result="taken"}`], 0.9*float64(s.pods), "nearly all pods went where the plan wanted them")
	require.Zero(t, s.metrics["volcano_paddle_argument_errors"])
}
