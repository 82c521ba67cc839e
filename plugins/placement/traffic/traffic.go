// SPDX-License-Identifier: Apache-2.0

// Package traffic holds what a step of training sends over the links of a tree, and what that costs.
//
// Model is the one interface of all patterns: parameter servers and pipeline workers (Flows), and rings with parallel groups (Ring).
// A Model counts loads from how many members a domain holds; Evaluate counts them member by member, and tests compare the two.
package traffic

import (
	"fmt"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// Model is what a domain's uplink carries, computed from how many members of each class the domain holds: a row. Loads are
// whole numbers of units.
type Model interface {
	// Classes returns the length of a row.
	Classes() int
	// Load returns the load of a domain in one direction.
	Load(v tree.DomainID, row []int32) int64
	// Island returns the sum of the loads of the islands of a node, and the largest of them.
	Island(node tree.NodeID, row []int32) (sum, most int64)
	// Unit returns the bytes of one unit.
	Unit() float64
}

// Cost of a job on its nodes, per step.
type Cost struct {
	// Tiers from the island tier upwards.
	Tiers []TierCost
	// WeightedBytes is the sum over tiers of weight times bytes.
	WeightedBytes float64
	// BusiestSeconds is the largest load of one direction of an uplink, divided by its bandwidth.
	BusiestSeconds float64
	// Penalty is the sum of the roles' penalties, of members that were to be placed.
	Penalty int64
}

// TierCost is what one tier carries in a step.
type TierCost struct {
	Tier tree.Tier
	// Bytes that cross the border of some domain of the tier: X in the formulas of parameterServer.
	Bytes float64
	// Busiest is the largest load of one direction of an uplink of the tier, in bytes: the largest T.
	Busiest float64
}

// Evaluate is the cost of any assignment of pending members, ordered by role and index, with the members placed before.
// It counts member by member and ignores capacity and limits.
func Evaluate(t *tree.Topology, d *gang.Demand, assignments []gang.Assignment) (Cost, error) {
	if err := d.Validate(t); err != nil {
		return Cost{}, err
	}
	for _, a := range assignments {
		if a.Node < 0 || int(a.Node) >= t.Nodes() {
			return Cost{}, fmt.Errorf("evaluate an assignment: node %d is not in the topology", a.Node)
		}
	}
	members, err := d.Members(assignments)
	if err != nil {
		return Cost{}, fmt.Errorf("evaluate an assignment: %w", err)
	}
	return CostOf(t, d, members), nil
}

// CostOf returns the cost of members on their nodes.
func CostOf(t *tree.Topology, d *gang.Demand, members []gang.PlacedMember) Cost {
	cost := Cost{}
	for _, tier := range t.Tiers() {
		cost.Tiers = append(cost.Tiers, TierCost{Tier: tier})
	}
	switch d.Pattern {
	case gang.Collective:
		onRing := slices.DeleteFunc(slices.Clone(members), func(m gang.PlacedMember) bool { return d.Roles[m.Role].CommRole != gang.Worker })
		walk := walkRanks(t, d, onRing)
		unit := endBytes(d, len(walk.node))
		sum, most := walk.islands()
		cost.carry(t, walk.ends, unit)
		walk.ends.Close()
		cost.carryIslands(sum, most, unit)
	case gang.ParameterServer, gang.Pipeline:
		loads, unit := flowLoads(t, d, members)
		cost.carry(t, loads, unit)
		loads.Close()
	case gang.Single:
	}
	for _, s := range members {
		if penalties := d.Roles[s.Role].Penalty; penalties != nil && !s.Fixed {
			cost.Penalty += int64(penalties[s.Node])
		}
	}
	for tier := range cost.Tiers {
		cost.WeightedBytes += cost.Tiers[tier].Tier.Weight * cost.Tiers[tier].Bytes
	}
	return cost
}

// carry adds the loads of nodes and domains above.
func (c *Cost) carry(t *tree.Topology, loads *tree.Sums, unit float64) {
	sums := make([]int64, len(c.Tiers))
	for i, v := range loads.Domains {
		tier := t.TierOf(v)
		if tier == len(c.Tiers) {
			continue
		}
		bytes := float64(loads.Values[i]) * unit
		sums[tier] += loads.Values[i]
		c.Tiers[tier].Busiest = max(c.Tiers[tier].Busiest, bytes)
		c.BusiestSeconds = max(c.BusiestSeconds, bytes/t.Bandwidth(v))
	}
	for tier := range sums {
		c.Tiers[tier].Bytes = float64(sums[tier]) * unit
	}
}

func (c *Cost) carryIslands(sum, most int64, unit float64) {
	tier := &c.Tiers[tree.IslandTier]
	tier.Bytes, tier.Busiest = float64(sum)*unit, float64(most)*unit
	c.BusiestSeconds = max(c.BusiestSeconds, tier.Busiest/tier.Tier.EffectiveBandwidth())
}

// flowLoads are what domains carry between classes of members.
func flowLoads(t *tree.Topology, d *gang.Demand, members []gang.PlacedMember) (loads *tree.Sums, unit float64) {
	classes := d.Classes()
	total := make([]int, classes)
	var rows []int32
	loads = tree.NewSums(t)
	for _, s := range members {
		class := d.Class(s.Role)
		if class < 0 {
			continue
		}
		total[class]++
		for v, tier := tree.DomainID(s.Node), tree.NodeTier; tier < len(t.Tiers()); v, tier = t.Parent(v), tier+1 {
			loads.Add(v, 0)
			if n := len(loads.Domains) * classes; len(rows) < n {
				rows = append(rows, make([]int32, n-len(rows))...)
			}
			rows[loads.Index(v)*classes+class]++
		}
	}
	f := NewFlows(d, total)
	for i, v := range loads.Domains {
		loads.Values[i] = f.Load(v, rows[i*classes:(i+1)*classes])
	}
	return loads, f.Unit()
}
