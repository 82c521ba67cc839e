// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// maxPrice is placement's limit.
const maxPrice = 1 << 14

// Tier is the placement tier of a networkTopology's highestTierAllowed: a HyperNode's tier, or the place of a label in
// the arguments, 1 being the nearest. Between two tiers the lower one holds; above the highest there is no limit, 0.
func (n *Network) Tier(number int) (int, error) {
	if number < 1 {
		return 0, fmt.Errorf("highestTierAllowed %d: want 1 or more", number)
	}
	lowest, tier := 0, 0
	for i, level := range n.tree.levels {
		switch {
		case level.number == 0:
			continue
		case lowest == 0:
			lowest = level.number
		}
		if level.number <= number {
			tier = n.tree.tier(i)
		}
		if i == len(n.tree.levels)-1 && level.number < number {
			return 0, nil
		}
	}
	if lowest > 0 && tier == 0 {
		return 0, fmt.Errorf("highestTierAllowed %d: the lowest tier of the cluster is %d", number, lowest)
	}
	return tier, nil
}

// TierNamed is the placement tier of a networkTopology's highestTierName: the tierName of HyperNodes, the key of a label
// or the name of a tier.
func (n *Network) TierNamed(name string) (int, error) {
	if tier, ok := n.tree.names[name]; ok {
		return tier, nil
	}
	if len(n.tree.names) == 0 {
		return 0, fmt.Errorf("highestTierName %q is not known: the cluster has no tiers above its nodes", name)
	}
	return 0, fmt.Errorf("highestTierName %q is not known: there are %s", name, strings.Join(slices.Sorted(maps.Keys(n.tree.names)), ", "))
}

// TierNames are what people call the tiers, from the island up; nil before the first Follow.
func (n *Network) TierNames() []string {
	if n.topology == nil {
		return nil
	}
	var names []string
	for _, tier := range n.topology.Tiers() {
		names = append(names, tier.Name)
	}
	return names
}

// checked is the options without what no topology could be built with.
func (o Options) checked() (Options, []warning) {
	var found []warning
	price := func(p float64) bool { return p >= 0 && p <= maxPrice }
	width := func(b float64) bool { return b > 0 && !math.IsInf(b, 0) }
	if i := slices.IndexFunc(o.Prices, func(p float64) bool { return !price(p) }); i >= 0 {
		found = append(found, warning{what: fmt.Sprintf("price %v is not one from 0 to %d, the default prices hold", o.Prices[i], maxPrice)})
		o.Prices = nil
	}
	if !price(o.IslandPrice) {
		found = append(found, warning{what: fmt.Sprintf("island price %v is not one from 0 to %d, the default holds", o.IslandPrice, maxPrice)})
		o.IslandPrice = 0
	}
	if i := slices.IndexFunc(o.Bandwidths, func(b float64) bool { return !width(b) }); i >= 0 {
		found = append(found, warning{what: fmt.Sprintf("bandwidth %v is not more than 0 bytes per second, all uplinks count as equally wide", o.Bandwidths[i])})
		o.Bandwidths = nil
	}
	var labels []string
	for _, key := range o.Labels {
		if key == "" || slices.Contains(labels, key) {
			found = append(found, warning{what: fmt.Sprintf("label %q is named twice or empty, the first counts", key)})
			continue
		}
		labels = append(labels, key)
	}
	o.Labels = labels
	o.Prices, o.Bandwidths, o.Accelerators = slices.Clone(o.Prices), slices.Clone(o.Bandwidths), slices.Clone(o.Accelerators)
	return o, found
}

// tiers are the tree's tiers for placement. NVLink domains have no price of their own in the options: theirs is the
// geometric mean of what is below and above, and their uplinks are those of their nodes.
func (o Options) tiers(names []string, levels []level) ([]placement.Tier, []warning) {
	tiers := placement.DefaultTiers(names...)
	if o.IslandPrice > 0 {
		tiers[placement.IslandTier].Price = o.IslandPrice
	}
	numbered := []int{placement.NodeTier}
	nvlink := 0
	for i, level := range levels {
		if level.number != 0 {
			numbered = append(numbered, placement.NodeTier+1+i)
		} else {
			nvlink = placement.NodeTier + 1 + i
		}
	}
	price := 1.0
	for i, tier := range numbered {
		if i < len(o.Prices) {
			price = o.Prices[i]
		} else if i > 0 {
			price = min(4*price, maxPrice)
		}
		tiers[tier].Price = price
	}
	if nvlink > 0 {
		tiers[nvlink].Price = 2 * tiers[nvlink-1].Price
		if nvlink+1 < len(tiers) {
			tiers[nvlink].Price = math.Sqrt(tiers[nvlink-1].Price * tiers[nvlink+1].Price)
		}
	}
	if len(o.Bandwidths) == 0 {
		return tiers, nil
	}
	if len(o.Bandwidths) < len(numbered) {
		return tiers, []warning{{what: fmt.Sprintf("%d bandwidths for %d tiers, all uplinks count as equally wide", len(o.Bandwidths), len(numbered))}}
	}
	for i, tier := range numbered {
		tiers[tier].Bandwidth = o.Bandwidths[i]
	}
	if nvlink > 0 {
		tiers[nvlink].Bandwidth = tiers[min(nvlink+1, len(tiers)-1)].Bandwidth
		if nvlink+1 == len(tiers) {
			tiers[nvlink].Bandwidth = tiers[placement.NodeTier].Bandwidth
		}
	}
	return tiers, nil
}
