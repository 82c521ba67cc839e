// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/guard"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/planner/feasibility"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// scope is what is planned at once: a job, or one of the groups that its SubGroupPolicy makes.
type scope struct {
	job *api.JobInfo
	// sub is the group, "" for a whole job.
	sub api.SubJobID
}

// scopeChain returns the scope and, for a sub-job, the whole job: a sub-job must satisfy the constraints of both.
func (s scope) scopeChain() []scope {
	if s.sub == "" {
		return []scope{s}
	}
	return []scope{s, {job: s.job}}
}

// ID identifies a scope within a session.
func (s scope) ID() string { return string(s.job.UID) + "|" + string(s.sub) }

// contains reports whether a task is planned in the scope.
func (s scope) contains(task *api.TaskInfo) bool {
	return s.sub == "" || s.job.TaskToSubJob[task.UID] == s.sub
}

// plan is what the plugin intends for the pending pods of a scope.
type plan struct {
	scope
	cast  *cast
	roles []feasibility.Role // of the cast
	found *placement.Plan
	// domain is where the constraint of the whole job keeps a sub-job; placement.NoDomain if it has none.
	domain placement.DomainID
	// excludedDomains are domains in which the sub-jobs do not fit.
	excludedDomains []placement.DomainID
	nodes           map[api.TaskID]placement.NodeID
	// nominated are the nominations that the plan honours.
	nominated map[api.TaskID]placement.NodeID
	// soft constraints count after the traffic.
	soft *softConstraints
	// future plans count on resources of terminating pods.
	future bool
	// replans counts how often the plan was made again since a nomination of it was last accepted.
	replans int
	// stale plans named a node that would not do.
	stale bool
	// abandoned plans were stale too often: normal scoring places what is left.
	abandoned bool
	// err says why there is no plan, errInfeasible among others.
	err error
}

// errInfeasible is the error of plans whose pods provably do not fit, however they are placed.
var errInfeasible = errors.New("the gang has no room")

const (
	maxReplans  = 1
	maxRejected = 3 // plans with an infeasible node in a row; after the first one all nodes were checked
)

// placed tells whether there is a plan to follow.
func (p *plan) placed() bool { return p.err == nil && !p.abandoned }

// plan is the plan of a scope, made when first asked for.
func (c *course) plan(s scope) *plan {
	if have, ok := c.plans[s.ID()]; ok {
		return have
	}
	made := c.make(s)
	c.plans[s.ID()] = made
	return made
}

// remake plans what is left of a scope once more, or drops the plan.
func (c *course) remake(old *plan) *plan {
	if old.replans >= maxReplans {
		old.abandoned = true
		metrics.ObservePlan(metrics.OutcomeFallback, 0)
		return old
	}
	metrics.ObservePlan(metrics.OutcomeStale, 0)
	made := c.make(old.scope)
	made.replans = old.replans + 1
	c.plans[old.ID()] = made
	return made
}

// make makes a plan: on idle resources, else on those that will be idle once pods have terminated.
func (c *course) make(s scope) *plan {
	begin := time.Now()
	p := &plan{scope: s, domain: placement.NoDomain}
	of := guard.Work{Part: metrics.PartPlan, Job: s.job.UID}
	if p.err = c.guard.BackedOff(of); p.err == nil {
		p.err = c.guard.Run(of, func() error { return c.solve(p) })
	}
	if errors.Is(p.err, guard.ErrPanicked) {
		c.lost()
	}
	outcome := metrics.OutcomePlaced
	switch {
	case guard.Failed(p.err):
		outcome = metrics.OutcomeFailed
	case p.err != nil:
		outcome = metrics.OutcomeNoFit
	}
	metrics.ObservePlan(outcome, time.Since(begin))
	return p
}

func (c *course) solve(p *plan) error {
	t, err := c.topology()
	if err != nil {
		return err
	}
	c.feasibility.Forget(p.job.UID)
	if err := c.demand(p); err != nil {
		return err
	}
	if nominated := c.nominations(p, t); len(nominated) > 0 {
		with := &plan{scope: p.scope, domain: placement.NoDomain, nominated: nominated}
		if c.demand(with) == nil && c.search(with, t) == nil {
			*p = *with
			return nil
		}
		// The job cannot start with them: they are ignored.
	}
	return c.search(p, t)
}

// demand works out what a plan's scope asks for.
func (c *course) demand(p *plan) error {
	p.cast = newCast(p.job, c.gangs[p.job.UID], c.spec(p.job), c, p.contains, p.nominated)
	if p.sub == "" {
		p.cast.raise(int(p.job.MinAvailable) - len(p.job.TaskStatusIndex[api.Succeeded]))
	}
	return c.limit(p)
}

// search finds a node for each pending pod of a plan.
func (c *course) search(p *plan, t *placement.Topology) error {
	p.roles = c.feasibility.Roles(p.job, p.cast.pending)
	var err error
	if c.planNearSiblings(p, t); p.found == nil {
		err = c.attempt(p, t, false)
	}
	if errors.Is(err, placement.ErrNoFit) && len(c.releasing) > 0 {
		p.future = true
		err = c.attempt(p, t, true)
	}
	if err == nil {
		err = c.planSubJobs(p, t)
	}
	if err != nil {
		return fmt.Errorf("plan job %s: %w", p.job.UID, err)
	}
	p.nodes = make(map[api.TaskID]placement.NodeID, len(p.found.Assignments))
	for i, task := range p.cast.tasks(p.found) {
		p.nodes[task.UID] = p.found.Assignments[i].Node
	}
	return nil
}

// attempt plans on idle resources, or with future on those that will be idle once pods have terminated. It leaves the topology as
// it was.
func (c *course) attempt(p *plan, t *placement.Topology, future bool) error {
	if err := c.guard.BackedOff(guard.Work{Part: metrics.PartPlan, Job: p.job.UID}); err != nil {
		return err // an attempt before failed, and t may be given up
	}
	mark := t.Begin()
	defer c.rollback(t, mark)
	err := c.prepare(p, t, future)
	if err != nil {
		return err
	}
	p.found, err = c.planFeasible(p)
	last := future || len(c.releasing) == 0
	if !errors.Is(err, placement.ErrNoFit) || !last || !p.cast.exact {
		return err
	}
	certain := true
	proof := p.cast.demand
	proof.Roles = slices.Clone(proof.Roles)
	for r := range proof.Roles {
		possible, complete := p.roles[r].Possible()
		certain = certain && complete
		proof.Roles[r].Eligible = c.inside(p, possible)
	}
	if provablyInfeasible(t, &proof, certain) {
		p.cast.demand = proof
		return errInfeasible
	}
	return err
}

// prepare shows in the tree what only counts for one plan. The caller takes it back.
func (c *course) prepare(p *plan, t *placement.Topology, future bool) error {
	c.useFutureIdle(future)
	for _, claim := range p.cast.claimed {
		if _, err := t.Take(claim.Node, claim.Amounts); err != nil {
			continue // what preemption promised is not free yet: nothing to keep clear
		}
	}
	return feasibility.RequestSlots(t, &p.cast.demand, p.cast.pending)
}

// inside is the nodes of a set that a plan may use by the limits of its job.
func (c *course) inside(p *plan, nodes *placement.NodeSet) *placement.NodeSet {
	return c.without(c.only(nodes, p.domain), p.excludedDomains)
}

// planFeasible returns the best plan whose nodes are feasible for the pods.
func (c *course) planFeasible(p *plan) (*placement.Plan, error) {
	for range maxRejected {
		for r := range p.roles {
			p.cast.demand.Roles[r].Eligible = c.inside(p, p.roles[r].Eligible())
		}
		found, err := c.best(p)
		if err != nil {
			return nil, err
		}
		feasible, err := c.feasible(p, found)
		if err != nil {
			return nil, err
		}
		if feasible {
			return found, nil
		}
	}
	return nil, errRefused
}

// errRefused is the error of plans whose nodes predicates refuse again and again.
var errRefused = errors.New("predicates refuse the nodes of each plan")

// feasible reports whether the nodes of a plan are feasible for its pods.
func (c *course) feasible(p *plan, found *placement.Plan) (bool, error) {
	c.asking = true
	defer func() { c.asking = false }()
	all := true
	for i, task := range p.cast.tasks(found) {
		ok, err := p.roles[found.Assignments[i].Role].Feasible(task, found.Assignments[i].Node)
		if err != nil {
			return false, err
		}
		all = all && ok
	}
	return all, nil
}
