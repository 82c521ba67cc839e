// SPDX-License-Identifier: Apache-2.0

package planner

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

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
	tolerated := p.FirstCost(&found.Cost) * (1 + p.arguments.RestartTolerancePercent/100) * (1 + rounding)
	return len(previous.Assignments) >= len(found.Assignments) && previous.Cost.Penalty <= found.Cost.Penalty &&
		(d.Colocation == placement.None || p.FirstCost(&previous.Cost) <= tolerated)
}

// FirstCost returns the part of a cost that the argument objective minimizes first.
func (p *Planner) FirstCost(cost *placement.Cost) float64 {
	if p.arguments.Objective == placement.BusiestFirst {
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

// compareAssignments orders assignments by role and index.
func compareAssignments(a, b placement.Assignment) int {
	return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(a.Index, b.Index))
}
