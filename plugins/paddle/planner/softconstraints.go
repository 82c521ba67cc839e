// SPDX-License-Identifier: Apache-2.0

package planner

import (
	"errors"
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
	t := p.cache.Topology()
	s := &softConstraints{}
	for _, pending := range plan.demand.pending {
		var own []int32
		if len(pending) > 0 {
			own = p.preferences.Penalties(t, pending[0].Pod)
		}
		s.own = append(s.own, own)
	}
	past, ok := p.history.Get(plan.Job.UID)
	if !ok {
		return s
	}
	for _, pending := range plan.demand.pending {
		nodes := make([]placement.NodeID, len(pending))
		for i, task := range pending {
			nodes[i] = noNode
			if id, ok := p.cache.Node(past.Nodes[task.Name]); ok {
				nodes[i] = id
			}
		}
		s.previousNodes = append(s.previousNodes, nodes)
	}
	for _, name := range past.FailedNodes {
		if id, ok := p.cache.Node(name); ok {
			s.failed = append(s.failed, id)
		}
	}
	return s
}

// best returns the plan of least traffic, and of several such plans the one of least penalties. A gang that restarts keeps
// its previous nodes unless that plan is clearly better.
func (p *Planner) best(plan *Plan) (*placement.Plan, error) {
	t, demand := p.cache.Topology(), &plan.demand.Demand
	if plan.soft == nil {
		plan.soft = p.softConstraints(plan)
		plan.soft.applyPenalties(demand, t.Nodes())
	}
	s := plan.soft
	return guard.Search(p.guard, plan.work(), p.resync, func(stop func() bool) (*placement.Plan, error) {
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

// options returns the options of a search.
func (p *Planner) options(stop func() bool) placement.Options {
	return placement.Options{Objective: p.arguments.Objective, Effort: p.arguments.SearchBudget, Stop: stop}
}

// applyPenalties sets the penalties of a demand.
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
