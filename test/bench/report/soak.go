// SPDX-License-Identifier: Apache-2.0

package report

import (
	"maps"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/test/bars"
	"github.com/paddle-volcano/paddle-volcano/test/chart"
	"github.com/paddle-volcano/paddle-volcano/test/soak"
)

// soaked shows what was left after each round of random jobs.
func soaked(r *soak.Report) *Section {
	s := &Section{
		Title:   "The soak: nothing is left over, nothing grows",
		About:   "Random jobs are made, deleted, suspended, scaled and killed on a real control plane; after each round everything is deleted and the programs are measured.",
		Command: "make soak", Bars: []bars.Bar{bars.Most("soak: what was not as it should be", float64(len(r.Broken)), 0)},
	}
	s.fact("seed", "%d", r.Seed)
	s.fact("time", "%.0f s in %d rounds", r.Seconds, len(r.Rounds))
	s.fact("jobs", "%d", r.Made)
	for _, operation := range slices.Sorted(maps.Keys(r.Operations)) {
		s.fact(operation, "%d times", r.Operations[operation])
	}
	heap := chart.Curves{Title: "Heap when nothing is left", Unit: "MiB after a garbage collection", Along: "rounds"}
	goroutines := chart.Curves{Title: "Goroutines when nothing is left", Unit: "count", Along: "rounds"}
	curves := map[string][2]*chart.Curve{}
	for i := range r.Rounds {
		for name, size := range r.Rounds[i].Sizes {
			if _, ok := curves[name]; !ok {
				curves[name] = [2]*chart.Curve{{Name: name}, {Name: name}}
			}
			for j, y := range []float64{size.Heap, float64(size.Goroutines)} {
				c := curves[name][j]
				c.X, c.Y = append(c.X, float64(i+1)), append(c.Y, y)
			}
		}
	}
	for i, name := range slices.Sorted(maps.Keys(curves)) {
		kind := []string{chart.Ours, chart.Other}[min(i, 1)]
		curves[name][0].Kind, curves[name][1].Kind = kind, kind
		heap.Curves, goroutines.Curves = append(heap.Curves, *curves[name][0]), append(goroutines.Curves, *curves[name][1])
		s.figure(name+": heap after the last round", "MiB", false, curves[name][0].Y[len(curves[name][0].Y)-1])
		s.figure(name+": goroutines after the last round", "", false, curves[name][1].Y[len(curves[name][1].Y)-1])
	}
	if len(curves) > 0 {
		s.Charts = append(s.Charts, heap.SVG(), goroutines.SVG())
	}
	return s
}
