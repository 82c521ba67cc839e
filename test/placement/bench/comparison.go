// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"cmp"
	"slices"
)

// Comparison of our plans with those of the baselines.
type Comparison struct {
	Clusters int `json:"clusters"`
	// NoPlan counts clusters where the planner found none although the job fits.
	NoPlan int `json:"no_plan"`
	// Worse counts clusters where ours is above the best baseline in sum of price times bytes.
	Worse          int   `json:"worse_than_best"`
	WorseInstances []int `json:"worse_instances,omitempty"`
	// Equal counts those where the two are equal, and BusiestNotAbove the share of them where our busiest uplink is not
	// above that of any baseline of equal cost.
	Equal           int      `json:"equal_to_best"`
	BusiestNotAbove float64  `json:"busiest_not_above_at_equal_cost"`
	BusiestAbove    []int    `json:"busiest_above_instances,omitempty"`
	Broken          []string `json:"broken_promises,omitempty"`
	// Worst clusters: where the best baseline comes nearest to ours, or below it.
	Worst []Rival `json:"worst"`
	// MeanFragmentation that our plans leave behind.
	MeanFragmentation Fragmentation `json:"fragmentation_ours"`
}

// Rival is a baseline on one cluster.
type Rival struct {
	Instance int     `json:"instance"`
	Baseline string  `json:"baseline"`
	Ratio    float64 `json:"cost_ratio"`
}

// Fragmentation is the mean share of free GPUs that gangs of 8, 64 and 256 GPUs within nodes, racks and blocks leave over.
type Fragmentation struct {
	Nodes  float64 `json:"nodes"`
	Racks  float64 `json:"racks"`
	Blocks float64 `json:"blocks"`
}

// BaselineResult is one baseline on all clusters. A ratio is the baseline's by ours, each at least one size of the model,
// so that a plan that costs nothing has a ratio too; means are geometric, over clusters where the baseline found room.
type BaselineResult struct {
	Name          string        `json:"name"`
	CostRatio     float64       `json:"cost_ratio_geomean"`
	Worse         int           `json:"instances_where_ours_is_worse"`
	Cornered      int           `json:"no_room_found"`
	Equal         int           `json:"equal_cost"`
	RackBytes     float64       `json:"bytes_across_racks_ratio_geomean"`
	NodeBytes     float64       `json:"bytes_across_nodes_ratio_geomean"`
	RackBytesSum  float64       `json:"bytes_across_racks_ratio_of_sums"`
	NodeBytesSum  float64       `json:"bytes_across_nodes_ratio_of_sums"`
	Busiest       float64       `json:"busiest_uplink_ratio_geomean"`
	Fragmentation Fragmentation `json:"fragmentation"`
	// BusiestNotAbove is the share of clusters of equal cost where our busiest uplink is not above this one's.
	BusiestNotAbove float64 `json:"busiest_not_above_at_equal_cost"`
	Distribution    []Bin   `json:"distribution"`
	Worst           []Rival `json:"worst"`
	tally           *tally
}

// comparing is a comparison while clusters are added.
type comparing struct {
	overall  *Comparison
	results  []BaselineResult
	ours     [blockTier + 1]float64
	notAbove int
}

func compare(duels []*Duel) (*Comparison, []BaselineResult) {
	c := &comparing{overall: &Comparison{Clusters: len(duels)}}
	for i, duel := range duels {
		c.add(i, duel)
	}
	o := c.overall
	o.MeanFragmentation = meanFragmentation(c.ours, o.Clusters-o.NoPlan)
	o.BusiestNotAbove = share(c.notAbove, o.Equal)
	o.Worst = nearest(o.Worst)
	for b := range c.results {
		c.results[b].finish()
	}
	return o, c.results
}

func (c *comparing) add(i int, duel *Duel) {
	o := c.overall
	if duel.Broken != nil {
		o.Broken = append(o.Broken, duel.Broken.Error())
	}
	if c.results == nil {
		for _, other := range duel.Others {
			c.results = append(c.results, BaselineResult{Name: other.Name, tally: &tally{}})
		}
	}
	if duel.Ours == nil {
		o.NoPlan++
	} else {
		for tier, f := range duel.Ours.Fragmentation {
			c.ours[tier] += f
		}
	}
	var best *Rival
	above := false
	for b, other := range duel.Others {
		rival := c.results[b].add(i, duel.Ours, other)
		if rival == nil {
			continue
		}
		if best == nil || rival.Ratio < best.Ratio {
			best = rival
		}
		above = above || rival.Ratio == 1 && busier(duel.Ours, other)
	}
	if best == nil {
		return // nobody else found room
	}
	o.Worst = append(o.Worst, *best)
	switch {
	case best.Ratio < 1:
		o.Worse++
		o.WorseInstances = append(o.WorseInstances, i)
	case best.Ratio > 1:
	case above:
		o.Equal++
		o.BusiestAbove = append(o.BusiestAbove, i)
	default:
		o.Equal++
		c.notAbove++
	}
}

// busier says whether our busiest uplink is above the other's.
func busier(ours, other *Placing) bool {
	return !same(ours.Cost.BusiestSeconds, other.Cost.BusiestSeconds) && ours.Cost.BusiestSeconds > other.Cost.BusiestSeconds
}

func share(part, whole int) float64 {
	if whole == 0 {
		return 1
	}
	return float64(part) / float64(whole)
}

// nearest are the three clusters with the least ratios.
func nearest(rivals []Rival) []Rival {
	slices.SortStableFunc(rivals, func(a, b Rival) int { return cmp.Compare(a.Ratio, b.Ratio) })
	return slices.Clone(rivals[:min(3, len(rivals))])
}
