// SPDX-License-Identifier: Apache-2.0

package bench

import "github.com/paddle-volcano/paddle-volcano/test/stats"

// unit is one size of the model of every job on a loaded cluster, in bytes.
const unit = 1e9

func compare(duels []*Duel) (*Comparison, []BaselineResult) {
	o := &Comparison{Clusters: len(duels)}
	var results []BaselineResult
	notAbove := 0
	for i, duel := range duels {
		if results == nil {
			for _, other := range duel.Others {
				results = append(results, BaselineResult{Name: other.Name})
			}
		}
		if duel.Broken != nil {
			o.Broken = append(o.Broken, duel.Broken.Error())
		}
		if duel.Ours == nil {
			o.NoPlan++
		}
		placed, worse, equal, above := false, false, false, false
		for b, other := range duel.Others {
			if other.Cornered {
				results[b].Cornered++
				continue
			}
			placed = true
			if duel.Ours == nil {
				worse = true
				continue
			}
			theirs, ours := other.Cost, duel.Ours.Cost
			results[b].ratios = append(results[b].ratios, max(theirs.WeightedBytes, unit)/max(ours.WeightedBytes, unit))
			switch {
			case same(theirs.WeightedBytes, ours.WeightedBytes):
				equal = true
				above = above || !same(ours.BusiestSeconds, theirs.BusiestSeconds) && ours.BusiestSeconds > theirs.BusiestSeconds
			case theirs.WeightedBytes < ours.WeightedBytes:
				worse = true
			}
		}
		switch {
		case !placed:
		case worse:
			o.Worse++
			o.WorseInstances = append(o.WorseInstances, i)
		case equal && above:
			o.Equal++
			o.BusiestAbove = append(o.BusiestAbove, i)
		case equal:
			o.Equal++
			notAbove++
		}
	}
	o.BusiestNotAbove = 1
	if o.Equal > 0 {
		o.BusiestNotAbove = float64(notAbove) / float64(o.Equal)
	}
	for b := range results {
		results[b].CostRatio = stats.Geomean(results[b].ratios)
	}
	return o, results
}
