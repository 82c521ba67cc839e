// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"errors"
	"fmt"
	"math"
)

// The two tiers that every topology has. Those above are its own: racks, blocks and so on, up to the root, which has no
// uplink and is no tier.
const (
	// IslandTier are sets of a node's GPUs that are joined by NVLink or the like.
	IslandTier = 0
	// NodeTier are the nodes.
	NodeTier = 1
)

// Tier is one level of the tree: all domains that are equally far from the root.
type Tier struct {
	// Name is for people, in the singular: "rack".
	Name string
	// Price of one byte that crosses the border of a domain of this tier, relative to other tiers; 0 or more.
	Price float64
	// Bandwidth of one direction of a domain's uplink, in bytes per second. 0 means 1: only ratios matter for a choice.
	Bandwidth float64
}

// DefaultTiers are island and node, and then a tier for each name, nearest first. Prices grow fourfold from tier to
// tier, 1 at the node; bandwidths are left alone.
func DefaultTiers(above ...string) []Tier {
	tiers := []Tier{{Name: "island", Price: 0.25}, {Name: "node", Price: 1}}
	for _, name := range above {
		tiers = append(tiers, Tier{Name: name, Price: 4 * tiers[len(tiers)-1].Price})
	}
	return tiers
}

// priceUnit is what a price of 1 is in the planner's integers. Integers keep sums exact, so that ties are ties.
const priceUnit = 1 << 10

// maxPrice keeps a plan's cost far below the largest int64.
const maxPrice = 1 << 14

func (t Tier) check() error {
	switch {
	case t.Name == "":
		return errors.New("a tier has no name")
	case math.IsNaN(t.Price) || t.Price < 0 || t.Price > maxPrice:
		return fmt.Errorf("tier %q has price %v, want 0 to %d", t.Name, t.Price, maxPrice)
	case math.IsNaN(t.Bandwidth) || math.IsInf(t.Bandwidth, 0) || t.Bandwidth < 0:
		return fmt.Errorf("tier %q has bandwidth %v, want 0 or more bytes per second", t.Name, t.Bandwidth)
	}
	return nil
}

func (t Tier) integerPrice() int64 { return int64(math.Round(t.Price * priceUnit)) }

// bandwidth in bytes per second, 1 where none is given.
func (t Tier) bandwidth() float64 {
	if t.Bandwidth > 0 {
		return t.Bandwidth
	}
	return 1
}
