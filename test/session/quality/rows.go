// SPDX-License-Identifier: Apache-2.0

package quality

import "github.com/paddle-volcano/paddle-volcano/test/stats"

// Row compares one baseline with the plugin in one scenario. Amounts are means over the clusters on which every set-up
// placed the gang; ratios are of those means, the baseline's by ours; bytes are in model sizes per step.
type Row struct {
	Scenario  string  `json:"scenario"`
	Baseline  string  `json:"baseline"`
	CostRatio float64 `json:"cost_ratio"`
	CrossRack float64 `json:"cross_rack_bytes"`
	CrossNode float64 `json:"cross_node_bytes"`
	OursRack  float64 `json:"ours_cross_rack_bytes"`
	OursNode  float64 `json:"ours_cross_node_bytes"`
	Busiest   float64 `json:"busiest_uplink_ratio"`

	Cost          float64 `json:"cost"`
	OursCost      float64 `json:"ours_cost"`
	CrossBlock    float64 `json:"cross_block_bytes"`
	OursBlock     float64 `json:"ours_cross_block_bytes"`
	BusiestUplink float64 `json:"busiest_uplink"`
	OursBusiest   float64 `json:"ours_busiest_uplink"`
	// Renumbered is the cost ratio had the baseline's ranks gone along the tree over the same nodes.
	Renumbered float64 `json:"cost_ratio_renumbered"`
	// Clusters drawn, those that all set-ups placed the gang on, and those that the baseline and the plugin did.
	Clusters   int `json:"clusters"`
	Compared   int `json:"compared"`
	Placed     int `json:"placed"`
	OursPlaced int `json:"ours_placed"`
}

// least is what a mean counts as at least when it is divided: one size of the model per step at price 1. So 0 by 0 is 1,
// and x by 0 is x.
const least = 1.0

func ratio(theirs, ours float64) float64 { return max(theirs, least) / max(ours, least) }

// compare makes the rows of one scenario. Outcomes are by cluster, and then as names; ours is one of names. Set-ups that
// are neither it nor among the baselines do not count.
func compare(scenario string, names []string, played [][]Outcome, ours int, baselines []int) []Row {
	counted := append([]int{ours}, baselines...)
	sums, compared := make([]Outcome, len(names)), 0
	placed := make([]int, len(names))
	for _, outcomes := range played {
		all := true
		for _, i := range counted {
			all = all && outcomes[i].Placed
			if outcomes[i].Placed {
				placed[i]++
			}
		}
		if !all {
			continue
		}
		compared++
		for _, i := range counted {
			sums[i].add(outcomes[i])
		}
	}
	rows := make([]Row, 0, len(baselines))
	us := sums[ours].by(compared)
	for _, b := range baselines {
		them := sums[b].by(compared)
		rows = append(rows, Row{
			Scenario: scenario, Baseline: names[b],
			CostRatio: ratio(them.Cost, us.Cost), Renumbered: ratio(them.Renumbered, us.Cost), Busiest: ratio(them.Busiest, us.Busiest),
			CrossNode: them.Node, CrossRack: them.Rack, CrossBlock: them.Block, Cost: them.Cost, BusiestUplink: them.Busiest,
			OursNode: us.Node, OursRack: us.Rack, OursBlock: us.Block, OursCost: us.Cost, OursBusiest: us.Busiest,
			Clusters: len(played), Compared: compared, Placed: placed[b], OursPlaced: placed[ours],
		})
	}
	return rows
}

func (o *Outcome) add(other Outcome) {
	o.Cost += other.Cost
	o.Renumbered += other.Renumbered
	o.Node += other.Node
	o.Rack += other.Rack
	o.Block += other.Block
	o.Busiest += other.Busiest
}

func (o Outcome) by(n int) Outcome {
	k := 1 / float64(max(1, n))
	return Outcome{Cost: o.Cost * k, Renumbered: o.Renumbered * k, Node: o.Node * k, Rack: o.Rack * k, Block: o.Block * k, Busiest: o.Busiest * k}
}

// Summary is what the rows of one objective come to, against the best baseline of each scenario.
type Summary struct {
	Scenarios int `json:"scenarios"`
	// Compared scenarios are those with a cluster that every set-up placed the gang on.
	Compared int `json:"compared"`
	// Geomean over the scenarios of the cheapest baseline's cost by ours; Least is the least of them.
	Geomean float64 `json:"cost_ratio_geomean"`
	Least   float64 `json:"cost_ratio_least"`
	// LeastIn is its scenario, NotCheaper are all in which ours is not cheaper than every baseline.
	LeastIn    string   `json:"cost_ratio_least_in"`
	NotCheaper []string `json:"not_cheaper_in"`
	// MoreRackBytes are the scenarios in which more crosses racks than with the baseline that has the least of it.
	MoreRackBytes []string `json:"more_rack_bytes_in"`
	// FewerGangs are the scenarios in which stock places more gangs.
	FewerGangs []string `json:"fewer_gangs_in"`
	// Busiest is the geometric mean over the scenarios of the least busy baseline's busiest uplink by ours.
	Busiest float64 `json:"busiest_uplink_ratio_geomean"`
}

// sum up rows, which are ordered by scenario.
func sum(rows []Row, stock string) Summary {
	s := Summary{NotCheaper: []string{}, MoreRackBytes: []string{}, FewerGangs: []string{}}
	var costs, busiest []float64
	for lo := 0; lo < len(rows); {
		hi := lo
		for hi < len(rows) && rows[hi].Scenario == rows[lo].Scenario {
			hi++
		}
		of := rows[lo:hi]
		lo = hi
		s.Scenarios++
		best := of[0]
		for _, row := range of {
			best.CostRatio, best.Busiest, best.CrossRack = min(best.CostRatio, row.CostRatio), min(best.Busiest, row.Busiest), min(best.CrossRack, row.CrossRack)
			if row.Baseline == stock && row.OursPlaced < row.Placed {
				s.FewerGangs = append(s.FewerGangs, row.Scenario)
			}
		}
		if best.Compared == 0 {
			continue
		}
		s.Compared++
		costs, busiest = append(costs, best.CostRatio), append(busiest, best.Busiest)
		if s.Least == 0 || best.CostRatio < s.Least {
			s.Least, s.LeastIn = best.CostRatio, best.Scenario
		}
		if best.CostRatio <= 1 {
			s.NotCheaper = append(s.NotCheaper, best.Scenario)
		}
		if best.OursRack > best.CrossRack*(1+rounding) {
			s.MoreRackBytes = append(s.MoreRackBytes, best.Scenario)
		}
	}
	s.Geomean, s.Busiest = stats.Geomean(costs), stats.Geomean(busiest)
	return s
}

// rounding is what sums of the same numbers in another order may differ by.
const rounding = 1e-9
