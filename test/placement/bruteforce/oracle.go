// SPDX-License-Identifier: Apache-2.0

// Package bruteforce finds the cheapest plan of a small job by trying all; it calls no solver and no cost function of the
// product.
//
// Jobs of servers and workers are enumerated by how many of each role every node holds, jobs on a ring pod by pod in the
// order of ranks. A branch is left only if what it costs already, or must cost at least, is no better than the best found.
// Costs are computed with the arithmetic of package traffic, not the product's; tests hold it equal to
// placement.Evaluate.
package bruteforce

import (
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/instances"
	"github.com/paddle-volcano/paddle-volcano/test/placement/traffic"
)

// Result is what brute force knows about one instance.
type Result struct {
	// Feasible says that the minimums have room, Whole that all pending members have.
	Feasible, Whole bool
	// Cost and Assignments of the best plan of all pending members, if Whole.
	Cost        Cost
	Assignments []placement.Assignment
	// Visited branches. If they reached the limit, Complete is false and nothing else holds.
	Visited  int
	Complete bool
}

// Cost of a plan: sum of price times bytes over tiers, and the busiest uplink in seconds.
type Cost struct{ Priced, Busiest float64 }

// Of is the one of the two that an objective looks at first.
func (c Cost) Of(objective placement.Objective) float64 {
	if objective == placement.BusiestFirst {
		return c.Busiest
	}
	return c.Priced
}

// ordered is a cost as an objective reads it.
type ordered struct{ first, second float64 }

func (c ordered) less(other ordered) bool {
	return c.first < other.first || c.first == other.first && c.second < other.second
}

// search is what both enumerations share.
type search struct {
	tree    *traffic.Tree
	demand  *placement.Demand
	busiest bool // first
	visited int
	limit   int

	found bool
	best  ordered
	plan  []placement.Assignment
}

func (s *search) order(priced, busiest float64) ordered {
	if s.busiest {
		return ordered{busiest, priced}
	}
	return ordered{priced, busiest}
}

// spent says whether the limit on work is reached.
func (s *search) spent() bool { return s.visited >= s.limit }

// hopeless says whether a branch that costs at least so much cannot be better than what was found.
func (s *search) hopeless(priced, busiest float64) bool {
	return s.found && !s.order(priced, busiest).less(s.best)
}

// Best looks at all plans, but gives up after limit branches.
func Best(in *instances.Instance, limit int) Result {
	s := &search{
		tree: traffic.NewTree(in.Topology), demand: in.Demand, limit: limit,
		busiest: in.Options.Objective == placement.BusiestFirst,
	}
	r := Result{}
	room := &counts{search: s, cheap: true}
	whole := make([]int, len(in.Demand.Roles))
	for i := range whole {
		whole[i] = len(in.Demand.Roles[i].Pending)
	}
	r.Whole = room.fit(whole)
	r.Feasible = r.Whole || room.fitLess(whole)
	if r.Whole {
		s.found = false
		var unit float64
		if in.Demand.Pattern == placement.Collective {
			unit = newRing(s).run()
		} else {
			unit = (&counts{search: s}).run(whole)
		}
		r.Assignments = s.plan
		r.Cost = Cost{Priced: s.best.first * unit, Busiest: s.best.second * unit}
		if s.busiest {
			r.Cost = Cost{Priced: s.best.second * unit, Busiest: s.best.first * unit}
		}
	}
	r.Visited, r.Complete = s.visited, !s.spent()
	return r
}
