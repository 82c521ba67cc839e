// SPDX-License-Identifier: Apache-2.0

package planner

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"k8s.io/klog/v2"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/guard"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/planner/preferences"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// softConstraints count in a plan after the traffic: the soft constraints of the pods, and the history of their job.
type softConstraints struct {
	own           [][]int32            // penalties of nodes by role; nil where all nodes are equal
	previousNodes [][]placement.NodeID // by role and position in Role.Pending; noNode if it is not known
	failed        []placement.NodeID   // nodes on which a pod of the job failed
}

const noNode placement.NodeID = -1

// softConstraints returns those of the pods of a plan.
func (p *Planner) softConstraints(plan *Plan) *softConstraints {
	t := p.Cache.Topology()
	s := &softConstraints{}
	for _, pending := range plan.demand.pending {
		var own []int32
		if len(pending) > 0 {
			own = p.preferences.Penalties(t, pending[0].Pod)
		}
		s.own = append(s.own, own)
	}
	past, ok := p.History.Get(plan.Job.UID)
	if !ok {
		return s
	}
	for _, pending := range plan.demand.pending {
		nodes := make([]placement.NodeID, len(pending))
		for i, task := range pending {
			nodes[i] = noNode
			if id, ok := p.Cache.Node(past.Nodes[task.Name]); ok {
				nodes[i] = id
			}
		}
		s.previousNodes = append(s.previousNodes, nodes)
	}
	for _, name := range past.FailedNodes {
		if id, ok := p.Cache.Node(name); ok {
			s.failed = append(s.failed, id)
		}
	}
	return s
}

// best returns the plan of least traffic, and of several such plans the one of least penalties. A gang that restarts keeps
// its previous nodes unless that plan is clearly better.
func (p *Planner) best(plan *Plan) (*placement.Plan, error) {
	t, demand := p.Cache.Topology(), &plan.demand.Demand
	if plan.soft == nil {
		plan.soft = p.softConstraints(plan)
		plan.soft.applyPenalties(demand, t.Nodes())
	}
	s := plan.soft
	return guard.Search(p.Guard, plan.work(), p.resync, func(stop func() bool) (*placement.Plan, error) {
		o := p.options(stop)
		found, d, err := s.solveAvoidingFailedNodes(t, demand, o)
		if err != nil {
			return nil, err
		}
		if previous := s.keepPreviousNodes(t, d, found, o); previous != nil && p.worthKeeping(d, previous, found) {
			klog.V(3).InfoS("Gang keeps its previous nodes", "job", plan.Job.UID)
			return previous, nil
		}
		return found, nil
	})
}

func (p *Planner) options(stop func() bool) placement.Options {
	return placement.Options{Objective: p.Arguments.Objective, Effort: p.Arguments.SearchBudget, Stop: stop}
}

func (s *softConstraints) applyPenalties(d *placement.Demand, nodes int) {
	members, most := 0, int32(0)
	for r := range d.Roles {
		members += len(d.Roles[r].Pending)
		if s.own[r] != nil {
			most = max(most, slices.Max(s.own[r]))
		}
	}
	scale := preferences.NewScale(members, most)
	for r := range d.Roles {
		d.Roles[r].Penalty = scale.Penalties(nodes, s.own[r], s.previousNodesOf(r), s.failed)
	}
}

// previousNodesOf returns the nodes that the pending pods of a role had.
func (s *softConstraints) previousNodesOf(role int) []placement.NodeID {
	if s.previousNodes == nil {
		return nil
	}
	nodes := slices.DeleteFunc(slices.Clone(s.previousNodes[role]), func(id placement.NodeID) bool { return id == noNode })
	slices.Sort(nodes)
	return slices.Compact(nodes)
}

// solveAvoidingFailedNodes returns the best plan without nodes on which a pod of the job failed, or the best plan if there is
// none, and the demand that it fulfils. Pods beyond the minimums use failed nodes rather than wait.
func (s *softConstraints) solveAvoidingFailedNodes(t *placement.Topology, d *placement.Demand, o placement.Options) (*placement.Plan, *placement.Demand, error) {
	if len(s.failed) == 0 {
		found, err := placement.Solve(t, d, o)
		return found, d, err
	}
	avoiding := s.withoutFailedNodes(t, d)
	found, err := placement.Solve(t, avoiding, o)
	switch {
	case errors.Is(err, placement.ErrNoFit):
		found, err = placement.Solve(t, d, o)
		return found, d, err
	case err == nil && len(found.Left) > 0:
		if more, err := planAround(t, d, found.Assignments, o); err == nil {
			return more, d, nil
		}
	}
	return found, avoiding, err
}

// withoutFailedNodes returns a demand in which no node is eligible on which a pod of the job failed.
func (s *softConstraints) withoutFailedNodes(t *placement.Topology, d *placement.Demand) *placement.Demand {
	avoiding := *d
	avoiding.Roles = slices.Clone(d.Roles)
	for r := range avoiding.Roles {
		eligible := t.NodesIn(t.Root()).And(d.Roles[r].Eligible)
		for _, id := range s.failed {
			eligible.Remove(id)
		}
		avoiding.Roles[r].Eligible = eligible
	}
	return &avoiding
}

// keepPreviousNodes returns the plan in which the pods of a gang that restarts have their previous nodes as far as possible
// and the others are placed around them. It returns nil if members are running, if no previous node is known or free, or if
// found is that plan.
func (s *softConstraints) keepPreviousNodes(t *placement.Topology, d *placement.Demand, found *placement.Plan, o placement.Options) *placement.Plan {
	fixed := s.stillFree(t, d)
	if len(fixed) == 0 || containsAll(found.Assignments, fixed) {
		return nil
	}
	previous, err := planAround(t, d, fixed, o)
	if err != nil {
		return nil
	}
	return previous
}

// worthKeeping reports whether a gang whose best plan is found keeps its previous nodes.
func (p *Planner) worthKeeping(d *placement.Demand, previous, found *placement.Plan) bool {
	const rounding = 1e-9
	tolerated := p.FirstCost(&found.Cost) * (1 + p.Arguments.RestartTolerancePercent/100) * (1 + rounding)
	return len(previous.Assignments) >= len(found.Assignments) && previous.Cost.Penalty <= found.Cost.Penalty &&
		(d.Colocation == placement.None || p.FirstCost(&previous.Cost) <= tolerated)
}

// FirstCost returns the part of a cost that the argument objective minimizes first.
func (p *Planner) FirstCost(cost *placement.Cost) float64 {
	if p.Arguments.Objective == placement.BusiestFirst {
		return cost.BusiestSeconds
	}
	return cost.WeightedBytes
}

// stillFree returns the pods of a gang that can have their previous nodes, none if members are running.
func (s *softConstraints) stillFree(t *placement.Topology, d *placement.Demand) []placement.Assignment {
	defer t.Rollback(t.Begin())
	var fixed []placement.Assignment
	for r := range s.previousNodes {
		role := &d.Roles[r]
		if len(role.Placed) > 0 {
			return nil
		}
		for i, id := range s.previousNodes[r] {
			if id == noNode || slices.Contains(s.failed, id) || role.Eligible != nil && !role.Eligible.Has(id) {
				continue
			}
			if _, err := t.Take(id, role.Request); err == nil {
				fixed = append(fixed, placement.Assignment{Role: r, Index: role.Pending[i], Node: id})
			}
		}
	}
	return fixed
}

// containsAll reports whether a plan has all of some assignments; both are ordered by role and index.
func containsAll(plan, some []placement.Assignment) bool {
	for _, a := range some {
		at, ok := slices.BinarySearchFunc(plan, a, compareAssignments)
		if !ok || plan[at].Node != a.Node {
			return false
		}
	}
	return true
}

// planAround returns the best plan in which some pending members have given nodes that are eligible. The error
// placement.ErrNoFit does not mean that there is no plan with other nodes for these members.
func planAround(t *placement.Topology, d *placement.Demand, fixed []placement.Assignment, o placement.Options) (*placement.Plan, error) {
	rest, err := solveRest(t, d, fixed, o)
	if err != nil {
		return nil, err
	}
	whole := &placement.Plan{Assignments: slices.Concat(fixed, rest.Assignments), Left: rest.Left}
	slices.SortFunc(whole.Assignments, compareAssignments)
	if !keepsLimits(t, d, whole.Assignments) {
		return nil, placement.ErrNoFit
	}
	if whole.Cost, err = placement.Evaluate(t, d, whole.Assignments); err != nil {
		return nil, err
	}
	return whole, nil
}

// keepsLimits reports whether assignments of a gang of which no member runs are in one domain of the highest tier, and each
// worker near a server if it must be. Solve holds only the members to these limits that it places.
func keepsLimits(t *placement.Topology, d *placement.Demand, assignments []placement.Assignment) bool {
	servers := map[placement.DomainID]bool{}
	for _, a := range assignments {
		if d.Limited() && t.Ancestor(a.Node, d.HighestTier) != t.Ancestor(assignments[0].Node, d.HighestTier) {
			return false
		}
		if d.Roles[a.Role].CommRole == placement.Server {
			servers[t.Ancestor(a.Node, d.ServerTier())] = true
		}
	}
	return !d.Colocated() || !slices.ContainsFunc(assignments, func(a placement.Assignment) bool {
		role := d.Roles[a.Role].CommRole
		return (role == placement.Worker || role == placement.PipelineWorker) && !servers[t.Ancestor(a.Node, d.ServerTier())]
	})
}

// solveRest plans the members that are not fixed, as if those had been placed.
func solveRest(t *placement.Topology, d *placement.Demand, fixed []placement.Assignment, o placement.Options) (*placement.Plan, error) {
	defer t.Rollback(t.Begin())
	rest := *d
	rest.Roles = slices.Clone(d.Roles)
	for r := range rest.Roles {
		rest.Roles[r].Placed = slices.Clone(d.Roles[r].Placed)
	}
	taken := map[placement.Member]bool{}
	for _, a := range fixed {
		role := &rest.Roles[a.Role]
		if _, err := t.Take(a.Node, role.Request); err != nil {
			return nil, fmt.Errorf("plan around placed members: %w", err)
		}
		role.Placed = append(role.Placed, placement.Placed{Index: a.Index, Node: a.Node})
		taken[placement.Member{Role: a.Role, Index: a.Index}] = true
	}
	for r := range rest.Roles {
		role := &rest.Roles[r]
		slices.SortFunc(role.Placed, func(a, b placement.Placed) int { return cmp.Compare(a.Index, b.Index) })
		role.Pending = slices.DeleteFunc(slices.Clone(role.Pending), func(index int) bool {
			return taken[placement.Member{Role: r, Index: index}]
		})
	}
	return placement.Solve(t, &rest, o)
}

func compareAssignments(a, b placement.Assignment) int {
	return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(a.Index, b.Index))
}
