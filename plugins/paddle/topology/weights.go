// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"fmt"
	"math"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// maxWeight is placement's limit.
const maxWeight = 1 << 14

// tiers returns placement's tiers for a tree. The options do not name NVLink domains: where the weights around theirs are
// given, theirs is the geometric mean, and as they have no uplink but those of their nodes, theirs is as wide as these.
func (o Options) tiers(t *tree) ([]placement.Tier, []warning) {
	tiers := placement.DefaultTiers(t.name()...)
	if o.IntraNodeWeight > 0 {
		tiers[placement.IslandTier].Weight = o.IntraNodeWeight
	}
	highest := 0
	weight := func(tier, place int) {
		highest = max(highest, place)
		if place < len(o.Weights) {
			tiers[tier].Weight = o.Weights[place]
		}
	}
	weight(placement.NodeTier, 0)
	for i, level := range t.levels {
		tier := t.tier(i)
		tiers[tier].Weight = min(4*tiers[tier-1].Weight, maxWeight)
		if !level.nvlink {
			weight(tier, t.place(i))
		} else if len(t.levels) > 1 && t.place(1) < len(o.Weights) {
			tiers[tier].Weight = math.Sqrt(tiers[tier-1].Weight * o.Weights[t.place(1)])
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
