// SPDX-License-Identifier: Apache-2.0

package report

import (
	"maps"
	"slices"
	"strings"

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
	s.sizes("heap", "Heap when nothing is left", "MiB", heaps)
	s.sizes("goroutines", "Goroutines when nothing is left", "", goroutines)
	return s
}

// sizes shows the sizes of each process after each round.
func (s *Section) sizes(what, title, unit string, sizes map[string][]float64) {
	c := Chart{Title: title, Unit: strings.TrimSpace(unit + " after each round")}
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		c.Groups = append(c.Groups, halves(name, kindOurs, sizes[name]))
		s.figure(name+": "+what+" after the last round", unit, false, sizes[name][len(sizes[name])-1])
	}
	s.chart(c)
}
