// SPDX-License-Identifier: Apache-2.0

// Package bruteforce finds the cheapest plan of a small job by trying all; it calls no solver of the product.
//
// It asks legal.Check whether a plan is allowed and placement.Evaluate what it costs; tests of plugins/placement count
// costs flow by flow and by hand. A branch is left only where its members alone cost as much as the best plan found.
package bruteforce

import (
	"math"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/instances"
	"github.com/paddle-volcano/paddle-volcano/test/placement/legal"
)

// Score is what plans of a job are compared by, first things first.
type Score [3]float64

// ScoreOf a cost, as the job and its objective read it.
func ScoreOf(in *instances.Instance, cost placement.Cost) Score {
	switch {
	case in.Demand.Colocation == placement.None:
		return Score{float64(cost.Penalty)}
	case in.Options.Objective == placement.BusiestFirst:
		return Score{cost.BusiestSeconds, cost.WeightedBytes, float64(cost.Penalty)}
	}
	return Score{cost.WeightedBytes, cost.BusiestSeconds, float64(cost.Penalty)}
}

// Less reports whether a score is below another, apart from how floats round.
func (s Score) Less(other Score) bool {
	for i := range s {
		if math.Abs(s[i]-other[i]) > 1e-9*(1+math.Abs(other[i])) {
			return s[i] < other[i]
		}
	}
	return false
}

// Result is what brute force knows about one instance.
type Result struct {
	// Feasible means that the minimums fit, Whole that all pending members do.
	Feasible, Whole bool
	// Score and Assignments of the best plan of all pending members, if Whole.
	Score       Score
	Assignments []placement.Assignment
	// Visited branches. If they reached the limit, Complete is false and nothing else holds.
	Visited  int
	Complete bool
}

// Best looks at all plans, but gives up after limit branches. A plan that is known saves work: only cheaper ones are looked
// for, unless Check refuses it.
func Best(in *instances.Instance, known *placement.Plan, limit int) Result {
	s := newSearch(in, limit)
	if known != nil && legal.Check(in.Topology, in.Demand, known.Assignments) == nil {
		s.result.Feasible = true
		s.result.Whole = len(known.Left) == 0
	}
	if !s.result.Whole {
		s.result.Whole = s.fits(s.all)
	}
	s.result.Feasible = s.result.Feasible || s.result.Whole || s.fewerFit(0, make([]int, len(s.all)))
	if s.result.Whole {
		s.need, s.any = s.all, false
		if known != nil && len(known.Left) == 0 {
			s.leaf(known.Assignments)
		}
		s.from(0, 0)
	}
	s.result.Visited, s.result.Complete = s.visited, s.visited < limit
	return s.result
}

type search struct {
	in     *instances.Instance
	limit  int
	all    []int // pending members of each role
	order  []int // of roles: servers first, whose number is a part of every flow
	free   [][]int64
	result Result

	need    []int // members of each role to place
	any     bool  // plan will do
	found   bool
	at      [][]placement.NodeID // by role
	visited int
}

func newSearch(in *instances.Instance, limit int) *search {
	s := &search{in: in, limit: limit, at: make([][]placement.NodeID, len(in.Demand.Roles))}
	for r := range in.Demand.Roles {
		s.all = append(s.all, len(in.Demand.Roles[r].Pending))
		s.order = append(s.order, r)
	}
	if in.Demand.Pattern != placement.Collective {
		server := func(r int) int {
			if in.Demand.Roles[r].CommRole == placement.Server {
				return 0
			}
			return 1
		}
		slices.SortStableFunc(s.order, func(a, b int) int { return server(a) - server(b) })
	}
	for n := range in.Topology.Nodes() {
		s.free = append(s.free, slices.Clone(in.Topology.Free(placement.DomainID(n))))
	}
	return s
}

// fits reports whether these numbers of members of each role fit.
func (s *search) fits(need []int) bool {
	s.need, s.any, s.found = need, true, false
	s.from(0, 0)
	found := s.found
	s.found = false
	return found
}

// fewerFit reports whether any numbers of members between the minimums and all fit.
func (s *search) fewerFit(role int, need []int) bool {
	if role == len(need) {
		return s.fits(need)
	}
	d := &s.in.Demand.Roles[role]
	for need[role] = max(0, d.Minimum-len(d.Placed)); need[role] <= s.all[role]; need[role]++ {
		if s.fewerFit(role+1, need) {
			return true
		}
	}
	return false
}

// from places the next member of the step-th role, and all after it, on every node.
func (s *search) from(step, next int) {
	s.visited++
	for step < len(s.order) && next == s.need[s.order[step]] {
		step, next = step+1, 0
	}
	switch {
	case s.visited >= s.limit || s.any && s.found:
		return
	case step == len(s.order):
		s.leaf(s.assignments())
		return
	case s.notCheaper(step):
		return
	}
	role := s.order[step]
	request := s.in.Demand.Roles[role].Request
	lowest := placement.NodeID(0)
	if next > 0 && s.alike(role) {
		lowest = s.at[role][next-1]
	}
	capacity, left := 0, s.need[role]-next
	for n := int(lowest); n < len(s.free) && capacity < left; n++ {
		capacity += s.capacity(role, n, left)
	}
	if capacity < left {
		return
	}
	for n := int(lowest); n < len(s.free); n++ {
		if s.capacity(role, n, 1) == 0 {
			continue
		}
		for c, amount := range request {
			s.free[n][c] -= amount
		}
		s.at[role] = append(s.at[role], placement.NodeID(n))
		s.from(step, next+1)
		s.at[role] = s.at[role][:next]
		for c, amount := range request {
			s.free[n][c] += amount
		}
	}
}

func (s *search) capacity(role, n, most int) int {
	d := &s.in.Demand.Roles[role]
	if d.Eligible != nil && !d.Eligible.Has(placement.NodeID(n)) {
		return 0
	}
	return instances.Fits(s.free[n], d.Request, most)
}

// alike reports whether it does not matter which member of a role is where: only ranks on a ring have a place in it.
func (s *search) alike(role int) bool {
	return s.any || s.in.Demand.Pattern != placement.Collective || s.in.Demand.Roles[role].CommRole != placement.Worker
}

func (s *search) assignments() (plan []placement.Assignment) {
	for r, nodes := range s.at {
		for i, node := range nodes {
			plan = append(plan, placement.Assignment{Role: r, Index: s.in.Demand.Roles[r].Pending[i], Node: node})
		}
	}
	return plan
}

func (s *search) leaf(plan []placement.Assignment) {
	if legal.Check(s.in.Topology, s.in.Demand, plan) != nil {
		return
	}
	if s.any {
		s.found = true
		return
	}
	if score := s.score(plan); !s.found || score.Less(s.result.Score) {
		s.result.Score, s.result.Assignments = score, plan
	}
	s.found = true
}

func (s *search) score(plan []placement.Assignment) Score {
	cost, err := placement.Evaluate(s.in.Topology, s.in.Demand, plan)
	if err != nil {
		panic(err)
	}
	return ScoreOf(s.in, cost)
}

// notCheaper reports whether the members placed so far already cost as much as the best plan. More members never make them cheaper,
// with three exceptions: a server takes over a share of the others' flows, a heter worker those of its stage, and a member
// before one that runs moves the boundaries of parallel groups.
func (s *search) notCheaper(step int) bool {
	d := s.in.Demand
	if s.any || !s.found || d.Pattern == placement.Pipeline {
		return false
	}
	for _, r := range s.order[step:] {
		if d.Pattern == placement.ParameterServer && d.Roles[r].CommRole == placement.Server {
			return false
		}
	}
	for r := range d.Roles {
		if d.Pattern == placement.Collective && (d.GroupSize > 1 || d.Parallelism != (placement.Parallelism{})) && d.Roles[r].CommRole == placement.Worker && len(d.Roles[r].Placed) > 0 {
			return false
		}
	}
	return !s.score(s.assignments()).Less(s.result.Score)
}
