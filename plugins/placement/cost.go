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
	cost := Cost{BusiestUplink: NoDomain}
	for _, tier := range t.tiers {
		cost.Tiers = append(cost.Tiers, TierCost{Tier: tier})
	}
	switch d.Pattern {
	case Collective:
		walk := walkRing(t, d, d.ranked(seats))
		unit := endBytes(len(walk.node), d.parameterBytes())
		sum, most := walk.islands()
		cost.carry(t, walk.ends, unit)
		walk.ends.close()
		cost.carryIslands(sum, most, unit)
	case ParameterServer, Heter:
		loads, unit := flowLoads(t, d, seats)
		cost.carry(t, loads, unit)
		loads.close()
	case Single:
	}
	cost.count(t, d, seats)
	for tier := range cost.Tiers {
		cost.Priced += cost.Tiers[tier].Tier.Price * cost.Tiers[tier].Bytes
	}
	return cost
}

// carry adds the loads of nodes and domains above.
func (c *Cost) carry(t *Topology, loads *tally, unit float64) {
	sums := make([]int64, len(c.Tiers))
	for i, v := range loads.domains {
		tier := t.TierOf(v)
		if tier == len(c.Tiers) {
			continue
		}
		bytes := float64(loads.sums[i]) * unit
		sums[tier] += loads.sums[i]
		c.Tiers[tier].Busiest = max(c.Tiers[tier].Busiest, bytes)
		seconds := bytes / t.bandwidth[v]
		if seconds > c.BusiestSeconds || seconds == c.BusiestSeconds && seconds > 0 && v < c.BusiestUplink {
			c.BusiestSeconds, c.BusiestUplink = seconds, v
		}
	}
	for tier := range sums {
		c.Tiers[tier].Bytes = float64(sums[tier]) * unit
	}
}

func (c *Cost) carryIslands(sum, most int64, unit float64) {
	tier := &c.Tiers[IslandTier]
	tier.Bytes, tier.Busiest = float64(sum)*unit, float64(most)*unit
	if seconds := tier.Busiest / tier.Tier.bandwidth(); seconds > c.BusiestSeconds {
		c.BusiestSeconds, c.BusiestUplink = seconds, NoDomain
	}
}

// count adds how many domains hold members, and what their roles would rather avoid.
func (c *Cost) count(t *Topology, d *Demand, seats []seat) {
	held := newTally(t)
	defer held.close()
	for _, s := range seats {
		for v, tier := DomainID(s.node), NodeTier; tier < len(c.Tiers); v, tier = t.parent[v], tier+1 {
			if held.of(v) > 0 {
				break
			}
			held.add(v, 1)
			c.Tiers[tier].Domains++
		}
		if penalties := d.Roles[s.role].Penalty; penalties != nil && !s.fixed {
			c.Penalty += int64(penalties[s.node])
		}
	}
}

// flowLoads are what domains carry between classes of members.
func flowLoads(t *Topology, d *Demand, seats []seat) (loads *tally, unit float64) {
	classes := d.classes()
	total := make([]int, classes)
	var rows []int32
	loads = newTally(t)
	for _, s := range seats {
		class := d.class(s.role)
		if class < 0 {
			continue
		}
		total[class]++
		for v, tier := DomainID(s.node), NodeTier; tier < len(t.tiers); v, tier = t.parent[v], tier+1 {
			loads.add(v, 0)
			rows = grown(rows, len(loads.domains)*classes-len(rows))
			rows[(int(loads.number[v])-1)*classes+class]++
		}
	}
	f := d.flowsOf(total)
	for i, v := range loads.domains {
		loads.sums[i] = f.load(v, rows[i*classes:(i+1)*classes])
	}
	return loads, f.unit()
}

// String is the breakdown per tier, one line each, for people.
func (c Cost) String() string {
	var text strings.Builder
	for i, tier := range slices.Backward(c.Tiers) {
		held := ""
		if i > IslandTier {
			held = fmt.Sprintf("%d used, ", tier.Domains)
		}
		fmt.Fprintf(&text, "%-8s %s%.4g bytes cross at price %g, busiest uplink %.4g\n",
			tier.Tier.Name, held, tier.Bytes, tier.Tier.Price, tier.Busiest)
	}
	fmt.Fprintf(&text, "priced   %.6g, busiest uplink %.4g s", c.Priced, c.BusiestSeconds)
	return text.String()
}
