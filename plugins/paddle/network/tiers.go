// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Tier is the placement tier of a networkTopology's highestTierAllowed: a HyperNode's tier, or the place of a label in
// the arguments, 1 being the nearest. Between two tiers the lower one holds; above the highest there is no limit, 0.
func (n *Network) Tier(number int) (int, error) {
	lowest, tier := 1, 0
	for i, level := range slices.Backward(n.tree.levels) {
		if level.nvlink {
			continue
		}
		lowest = level.number
		if tier == 0 && level.number <= number {
			tier = n.tree.tier(i)
		}
	}
	switch {
	case number < lowest:
		return 0, fmt.Errorf("highestTierAllowed %d: the lowest tier is %d", number, lowest)
	case number > n.tree.highest:
		return 0, nil
	default:
		return tier, nil
	}
}

// TierNamed is the placement tier of a networkTopology's highestTierName: the tierName of HyperNodes, the key of a label
// or what people call a tier.
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
