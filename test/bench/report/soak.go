// SPDX-License-Identifier: Apache-2.0

package report

import (
	"maps"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/test/bars"
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
	heaps, goroutines := map[string][]float64{}, map[string][]float64{}
	for i := range r.Rounds {
		for name, size := range r.Rounds[i].Sizes {
			heaps[name], goroutines[name] = append(heaps[name], size.Heap), append(goroutines[name], float64(size.Goroutines))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(heaps)) {
		s.halves(name+": heap when nothing is left", "MiB", heaps[name])
	}
	for _, name := range slices.Sorted(maps.Keys(goroutines)) {
		s.halves(name+": goroutines when nothing is left", "", goroutines[name])
	}
	return s
}
