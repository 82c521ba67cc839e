// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"slices"
	"strings"
)

// Evaluate is the cost of any assignment of pending members, ordered by role and index, with the members placed before.
// It counts member by member and looks at no capacity and no limit; Check does.
func Evaluate(t *Topology, d *Demand, assignments []Assignment) (Cost, error) {
	if err := d.check(t); err != nil {
		return Cost{}, err
	}
	for _, a := range assignments {
		if a.Node < 0 || int(a.Node) >= t.Nodes() {
			return Cost{}, fmt.Errorf("evaluate an assignment: node %d is not in the topology", a.Node)
		}
	}
	seats, err := d.seats(assignments)
	if err != nil {
		return Cost{}, fmt.Errorf("evaluate an assignment: %w", err)
	}
	return evaluate(t, d, seats), nil
}

func evaluate(t *Topology, d *Demand, seats []seat) Cost {
	loads, islands, unit := map[DomainID]int64{}, map[islandKey]int64{}, 0.0
	if d.Pattern == Collective {
		walk := walkRing(t, d, d.ranked(seats))
		loads, islands, unit = walk.ends, walk.inside, endBytes(len(walk.node), d.parameterBytes())
	} else if d.Pattern != Single {
		loads, unit = flowLoads(t, d, seats)
	}
	cost := Cost{BusiestUplink: NoDomain}
	for _, tier := range t.tiers {
		cost.Tiers = append(cost.Tiers, TierCost{Tier: tier})
	}
	held := map[DomainID]bool{}
	keys := map[islandKey]bool{}
	for _, s := range seats {
		keys[islandKey{node: s.node}] = true
		for v := DomainID(s.node); t.parent[v] != NoDomain; v = t.parent[v] {
			held[v] = true
		}
		if penalties := d.Roles[s.role].Penalty; penalties != nil && !s.fixed {
			cost.Penalty += int64(penalties[s.node])
		}
	}
	for key := range islands {
		keys[key] = true
	}
	cost.carry(t, loads, unit, held)
	cost.carryIslands(islands, unit, len(keys))
	for tier := range cost.Tiers {
		cost.Priced += cost.Tiers[tier].Tier.Price * cost.Tiers[tier].Bytes
	}
	return cost
}

// carry adds the loads of nodes and domains above.
func (c *Cost) carry(t *Topology, loads map[DomainID]int64, unit float64, held map[DomainID]bool) {
	sums := make([]int64, len(c.Tiers))
	domains := make([]DomainID, 0, len(held))
	for v := range held {
		domains = append(domains, v)
	}
	slices.Sort(domains)
	for _, v := range domains {
		tier := t.TierOf(v)
		bytes := float64(loads[v]) * unit
		sums[tier] += loads[v]
		c.Tiers[tier].Domains++
		c.Tiers[tier].Busiest = max(c.Tiers[tier].Busiest, bytes)
		if seconds := bytes / t.bandwidth[v]; seconds > c.BusiestSeconds {
			c.BusiestSeconds, c.BusiestUplink = seconds, v
		}
	}
	for tier := range sums {
		c.Tiers[tier].Bytes = float64(sums[tier]) * unit
	}
}

func (c *Cost) carryIslands(loads map[islandKey]int64, unit float64, domains int) {
	tier := &c.Tiers[IslandTier]
	tier.Domains = domains
	var sum, most int64
	for _, load := range loads {
		sum += load
		most = max(most, load)
	}
	tier.Bytes, tier.Busiest = float64(sum)*unit, float64(most)*unit
	if seconds := tier.Busiest / bandwidthOr(tier.Tier.Bandwidth, 1); seconds > c.BusiestSeconds {
		c.BusiestSeconds, c.BusiestUplink = seconds, NoDomain
	}
}

func flowLoads(t *Topology, d *Demand, seats []seat) (loads map[DomainID]int64, unit float64) {
	classes := d.classes()
	total, rows := make([]int, classes), map[DomainID][]int32{}
	for _, s := range seats {
		class := d.class(s.role)
		if class < 0 {
			continue
		}
		total[class]++
		for v := DomainID(s.node); t.parent[v] != NoDomain; v = t.parent[v] {
			if rows[v] == nil {
				rows[v] = make([]int32, classes)
			}
			rows[v][class]++
		}
	}
	f := d.flowsOf(total)
	loads = make(map[DomainID]int64, len(rows))
	for v, row := range rows {
		loads[v] = f.load(v, row)
	}
	return loads, f.unit()
}

// String is the breakdown per tier, one line each, for people.
func (c Cost) String() string {
	var text strings.Builder
	for _, tier := range slices.Backward(c.Tiers) {
		fmt.Fprintf(&text, "%-8s %d domains, %.4g bytes cross at price %g, busiest uplink %.4g\n",
			tier.Tier.Name, tier.Domains, tier.Bytes, tier.Tier.Price, tier.Busiest)
	}
	fmt.Fprintf(&text, "priced   %.6g, busiest uplink %.4g s", c.Priced, c.BusiestSeconds)
	return text.String()
}
