// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"
	"math"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// maxWeight is placement's limit.
const maxWeight = 1 << 14

// checked is the options without what no topology could be built with.
func (o Options) checked() (Options, []warning) {
	var found []warning
	refuse := func(format string, args ...any) { found = append(found, warning{what: fmt.Sprintf(format, args...)}) }
	weight := func(p float64) bool { return p >= 0 && p <= maxWeight }
	if i := slices.IndexFunc(o.Weights, func(p float64) bool { return !weight(p) }); i >= 0 {
		refuse("weight %v is not one from 0 to %d, the default weights hold", o.Weights[i], maxWeight)
		o.Weights = nil
	}
	if !weight(o.IntraNodeWeight) {
		refuse("intra-node weight %v is not one from 0 to %d, the default holds", o.IntraNodeWeight, maxWeight)
		o.IntraNodeWeight = 0
	}
	width := func(b float64) bool { return b > 0 && !math.IsInf(b, 0) }
	if i := slices.IndexFunc(o.Bandwidths, func(b float64) bool { return !width(b) }); i >= 0 {
		refuse("bandwidth %v is not more than 0 bytes per second, all uplinks count as equally wide", o.Bandwidths[i])
		o.Bandwidths = nil
	}
	var labels []string
	for _, key := range o.Labels {
		if key == "" || slices.Contains(labels, key) {
			refuse("label %q is empty or there twice, it counts where it is nearest", key)
			continue
		}
		labels = append(labels, key)
	}
	o.Labels = labels
	o.Weights, o.Bandwidths, o.Accelerators = slices.Clone(o.Weights), slices.Clone(o.Bandwidths), slices.Clone(o.Accelerators)
	return o, found
}

// tiers are placement's tiers for a tree. The options know nothing of NVLink domains: where the weights around theirs are
// given, theirs is the geometric mean, and as they have no uplink but those of their nodes, theirs is as wide as these.
func (o Options) tiers(t *tree) ([]placement.Tier, []warning) {
	tiers := placement.DefaultTiers(t.name()...)
	if o.IntraNodeWeight > 0 {
		tiers[placement.IslandTier].Price = o.IntraNodeWeight
	}
	highest := 0
	weight := func(tier, place int) {
		highest = max(highest, place)
		if place < len(o.Weights) {
			tiers[tier].Price = o.Weights[place]
		}
	}
	weight(placement.NodeTier, 0)
	for i, level := range t.levels {
		tier := t.tier(i)
		tiers[tier].Price = min(4*tiers[tier-1].Price, maxWeight)
		if !level.nvlink {
			weight(tier, t.place(i))
		} else if len(t.levels) > 1 && t.place(1) < len(o.Weights) {
			tiers[tier].Price = math.Sqrt(tiers[tier-1].Price * o.Weights[t.place(1)])
		}
	}
	switch {
	case len(o.Bandwidths) == 0:
		return tiers, nil
	case len(o.Bandwidths) <= highest:
		return tiers, []warning{{what: fmt.Sprintf("%d bandwidths are too few, %d are needed: all uplinks count as equally wide", len(o.Bandwidths), highest+1)}}
	}
	tiers[placement.NodeTier].Bandwidth = o.Bandwidths[0]
	for i, level := range t.levels {
		if level.nvlink {
			tiers[t.tier(i)].Bandwidth = o.Bandwidths[0] * float64(level.largest)
		} else {
			tiers[t.tier(i)].Bandwidth = o.Bandwidths[t.place(i)]
		}
	}
	return tiers, nil
}
