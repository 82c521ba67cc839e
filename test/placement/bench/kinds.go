// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"maps"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/instances"
	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// kindOf names what makes an instance hard, so that ratios can be told apart by it.
func kindOf(in *instances.Instance) string {
	kind := "ps"
	if in.Demand.Pattern == placement.Collective {
		kind = "collective"
		if in.Demand.GroupSize > 1 {
			kind = "collective in groups"
		}
		if hasIslands(in.Topology) {
			kind += ", islands"
		}
	}
	if slices.ContainsFunc(in.Demand.Roles, func(role placement.Role) bool { return len(role.Placed) > 0 }) {
		kind += ", some placed"
	}
	if in.Options.Objective == placement.BusiestFirst {
		kind += ", busiest first"
	}
	return kind
}

func hasIslands(t *placement.Topology) bool {
	for n := range t.Nodes() {
		if len(t.Islands(placement.NodeID(n))) > 1 {
			return true
		}
	}
	return false
}

// kinds sums up the trials of each kind, by name.
func kinds(trials []outcome) []Kind {
	found := map[string]*Kind{}
	ratios := map[string][]float64{}
	size := map[string]int{}
	for i, t := range trials {
		k := found[t.kind]
		if k == nil {
			k = &Kind{Kind: t.kind, Smallest: -1}
			found[t.kind] = k
		}
		k.Instances++
		k.Missed += count(t.missed)
		if t.ratio > 0 {
			ratios[t.kind] = append(ratios[t.kind], t.ratio)
		}
		if t.missed || t.ratio > 1 {
			k.Worse++
			if k.Smallest < 0 || t.size < size[t.kind] {
				k.Smallest, size[t.kind] = i, t.size
			}
		}
	}
	all := make([]Kind, 0, len(found))
	for _, name := range slices.Sorted(maps.Keys(found)) {
		k := found[name]
		slices.Sort(ratios[name])
		k.Mean, k.P99 = stats.Mean(ratios[name]), p99(ratios[name])
		all = append(all, *k)
	}
	return all
}
