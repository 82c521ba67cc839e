// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// tally gathers what a baseline's means are made of.
type tally struct {
	cost, rack, node, busiest        []float64
	racks, ourRacks, nodes, ourNodes float64
	fragmentation                    [blockTier + 1]float64
	found, notAbove                  int
	exact                            []float64
}

// unit is one size of the model of every job on a loaded cluster, in bytes.
const unit = 1e9

// floored is a ratio of two amounts that are at least one unit each.
func floored(theirs, ours float64) float64 { return max(theirs, unit) / max(ours, unit) }

// add one cluster; nil if the baseline found no room. Without a plan of ours the baseline is infinitely better.
func (r *BaselineResult) add(i int, ours, other *Placing) *Rival {
	if other.Cornered {
		r.Cornered++
		return nil
	}
	rival := &Rival{Instance: i, Baseline: r.Name}
	r.tally.found++
	for tier, f := range other.Fragmentation {
		r.tally.fragmentation[tier] += f
	}
	if ours == nil {
		r.Worse++
		return rival
	}
	rival.Ratio = costRatio(other.Cost.Priced, ours.Cost.Priced)
	r.tally.exact = append(r.tally.exact, rival.Ratio)
	switch {
	case rival.Ratio < 1:
		r.Worse++
	case rival.Ratio == 1:
		r.Equal++
		r.tally.notAbove += count(!busier(ours, other))
	}
	r.tally.measure(ours.Cost, other.Cost)
	r.Worst = append(r.Worst, *rival)
	return rival
}

// costRatio of theirs by ours: 1 if they are equal, so that above and below 1 say who is better even where one is 0.
func costRatio(theirs, ours float64) float64 {
	switch {
	case same(theirs, ours):
		return 1
	case ours == 0:
		return max(zeroRatio, theirs/unit)
	default:
		return theirs / ours
	}
}

func (t *tally) measure(ours, theirs placement.Cost) {
	t.cost = append(t.cost, floored(theirs.Priced, ours.Priced))
	t.rack = append(t.rack, floored(theirs.Tiers[rackTier].Bytes, ours.Tiers[rackTier].Bytes))
	t.node = append(t.node, floored(theirs.Tiers[placement.NodeTier].Bytes, ours.Tiers[placement.NodeTier].Bytes))
	if ours.BusiestSeconds > 0 && theirs.BusiestSeconds > 0 {
		t.busiest = append(t.busiest, theirs.BusiestSeconds/ours.BusiestSeconds)
	}
	t.racks += theirs.Tiers[rackTier].Bytes
	t.ourRacks += ours.Tiers[rackTier].Bytes
	t.nodes += theirs.Tiers[placement.NodeTier].Bytes
	t.ourNodes += ours.Tiers[placement.NodeTier].Bytes
}

func (r *BaselineResult) finish() {
	t := r.tally
	r.CostRatio, r.RackBytes, r.NodeBytes, r.Busiest = stats.Geomean(t.cost), stats.Geomean(t.rack), stats.Geomean(t.node), stats.Geomean(t.busiest)
	r.RackBytesSum, r.NodeBytesSum = t.racks/max(t.ourRacks, unit), t.nodes/max(t.ourNodes, unit)
	r.Fragmentation = meanFragmentation(t.fragmentation, t.found)
	r.BusiestNotAbove = share(t.notAbove, r.Equal)
	r.Worst = nearest(r.Worst)
	slices.Sort(t.exact)
	r.Distribution = distribution(t.exact)
}

func meanFragmentation(sums [blockTier + 1]float64, n int) Fragmentation {
	if n == 0 {
		return Fragmentation{}
	}
	return Fragmentation{
		Nodes: sums[placement.NodeTier] / float64(n), Racks: sums[rackTier] / float64(n), Blocks: sums[blockTier] / float64(n),
	}
}
