// SPDX-License-Identifier: Apache-2.0

package planner

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

// Scope is what is planned at once: a job, or one of the sub-jobs that its SubGroupPolicy makes.
type Scope struct {
	Job *api.JobInfo
	// SubJob is "" for a whole job.
	SubJob api.SubJobID
}

// ScopeOf returns the scope in which a task is planned.
func ScopeOf(job *api.JobInfo, task *api.TaskInfo) Scope {
	if job.ContainsSubJobPolicy() {
		return Scope{Job: job, SubJob: job.TaskToSubJob[task.UID]}
	}
	return Scope{Job: job}
}

type scopeID struct {
	job    api.JobID
	subJob api.SubJobID
}

func (s Scope) id() scopeID { return scopeID{s.Job.UID, s.SubJob} }

func (s Scope) contains(task *api.TaskInfo) bool {
	return s.SubJob == "" || s.Job.TaskToSubJob[task.UID] == s.SubJob
}

func (s Scope) work() guard.Work { return guard.Work{Part: metrics.PartPlan, Job: s.Job.UID} }

// Plan is what the planner found for the pending pods of a scope.
type Plan struct {
	Scope
	// Err is why there is no plan: ErrInfeasible, ErrInvalidConstraint and placement.ErrNoFit among others.
	Err error

	demand *gangDemand
	roles  []feasibility.Role // of the demand
	found  *placement.Plan
	nodes  map[api.TaskID]placement.NodeID // of found
	// domain is where the constraint of the whole job keeps a sub-job; placement.NoDomain if it has none.
	domain placement.DomainID
	// excludedDomains are domains in which the sub-jobs do not fit.
	excludedDomains []placement.DomainID
	// nominated are the nominations that the plan honors.
	nominated map[api.TaskID]placement.NodeID
	soft      *softConstraints
	// future plans count on resources of terminating pods.
	future bool
	// replans counts how often the plan was made again since a nomination of it was last accepted.
	replans int
	// stale plans named a node that was rejected.
	stale bool
	// abandoned plans were stale too often: normal scoring places the pods that are left.
	abandoned bool
}

// ErrInfeasible is the error of plans whose pods provably do not fit, however they are placed.
var ErrInfeasible = errors.New("the gang does not fit")

var errRejected = errors.New("predicates reject the nodes of each plan")

const (
	maxReplans  = 1
	maxRejected = 3 // plans with an infeasible node in a row; after the first one all nodes were checked
)

// Found reports whether there is a plan to follow.
func (p *Plan) Found() bool { return p.Err == nil && !p.abandoned }

// Nodes returns the nodes of all members of a scope that has a plan, of those that had a node before and of the planned ones.
func (p *Plan) Nodes() []placement.NodeID {
	var nodes []placement.NodeID
	for _, a := range p.found.Assignments {
		nodes = append(nodes, a.Node)
	}
	for r := range p.demand.Roles {
		for _, placed := range p.demand.Roles[r].Placed {
			nodes = append(nodes, placed.Node)
		}
	}
	return nodes
}

// Plan returns the plan of a scope. It is made at the first call.
func (p *Planner) Plan(s Scope) *Plan {
	if have, ok := p.Planned(s); ok {
		return have
	}
	made := p.makePlan(s)
	p.plans[s.id()] = made
	return made
}

// Planned returns the plan of a scope, false if none was made yet.
func (p *Planner) Planned(s Scope) (*Plan, bool) {
	plan, ok := p.plans[s.id()]
	return plan, ok
}

// replan plans the rest of a scope again, or abandons the plan.
func (p *Planner) replan(old *Plan) *Plan {
	if old.replans >= maxReplans {
		old.abandoned = true
		metrics.ObservePlan(metrics.OutcomeFallback, 0)
		return old
	}
	metrics.ObservePlan(metrics.OutcomeStale, 0)
	made := p.makePlan(old.Scope)
	made.replans = old.replans + 1
	p.plans[old.id()] = made
	return made
}

// makePlan plans on idle resources, or else on those that will be idle once pods have terminated.
func (p *Planner) makePlan(s Scope) *Plan {
	begin := time.Now()
	plan := &Plan{Scope: s, domain: placement.NoDomain}
	if plan.Err = p.Guard.BackedOff(s.work()); plan.Err == nil {
		plan.Err = p.Run(s.work(), func() error { return p.solve(plan) })
	}
	outcome := metrics.OutcomePlaced
	switch {
	case guard.Failed(plan.Err):
		outcome = metrics.OutcomeFailed
	case plan.Err != nil:
		outcome = metrics.OutcomeNoFit
	}
	metrics.ObservePlan(outcome, time.Since(begin))
	return plan
}

func (p *Planner) solve(plan *Plan) error {
	t, err := p.Topology()
	if err != nil {
		return err
	}
	p.feasibility.Forget(plan.Job.UID)
	if err := p.setDemand(plan); err != nil {
		return err
	}
	if nominated := p.validNominations(plan, t); len(nominated) > 0 {
		with := &Plan{Scope: plan.Scope, domain: placement.NoDomain, nominated: nominated}
		if p.setDemand(with) == nil && p.search(with, t) == nil {
			*plan = *with
			return nil
		}
		// The job cannot start with them: they are ignored.
	}
	return p.search(plan, t)
}

func (p *Planner) setDemand(plan *Plan) error {
	plan.demand = p.newDemand(plan.Job, plan.contains, plan.nominated)
	if plan.SubJob == "" {
		plan.demand.raiseMinimums(int(plan.Job.MinAvailable) - len(plan.Job.TaskStatusIndex[api.Succeeded]))
	}
	return p.constrain(plan)
}

func (p *Planner) search(plan *Plan, t *placement.Topology) error {
	plan.roles = p.feasibility.Roles(plan.Job, plan.demand.pending)
	var err error
	if p.planNearSiblings(plan, t); plan.found == nil {
		err = p.attempt(plan, t, false)
	}
	if errors.Is(err, placement.ErrNoFit) && len(p.releasing) > 0 {
		plan.future = true
		err = p.attempt(plan, t, true)
	}
	if err == nil {
		err = p.planSubJobs(plan, t)
	}
	if err != nil {
		return fmt.Errorf("plan job %s: %w", plan.Job.UID, err)
	}
	plan.nodes = make(map[api.TaskID]placement.NodeID, len(plan.found.Assignments))
	for i, task := range plan.demand.tasks(plan.found) {
		plan.nodes[task.UID] = plan.found.Assignments[i].Node
	}
	return nil
}

// attempt plans on idle resources, or with future on those that will be idle once pods have terminated. It leaves the topology
// as it was.
func (p *Planner) attempt(plan *Plan, t *placement.Topology, future bool) error {
	if err := p.Guard.BackedOff(plan.work()); err != nil {
		return err // an attempt before failed, and t may have been replaced
	}
	mark := t.Begin()
	defer p.rollback(t, mark)
	err := p.prepare(plan, t, future)
	if err != nil {
		return err
	}
	plan.found, err = p.planFeasible(plan)
	last := future || len(p.releasing) == 0
	if !errors.Is(err, placement.ErrNoFit) || !last || !plan.demand.exact {
		return err
	}
	certain := true
	proof := plan.demand.Demand
	proof.Roles = slices.Clone(proof.Roles)
	for r := range proof.Roles {
		possible, complete := plan.roles[r].Possible()
		certain = certain && complete
		proof.Roles[r].Eligible = p.allowed(plan, possible)
	}
	if provablyInfeasible(t, &proof, certain) {
		plan.demand.Demand = proof
		return ErrInfeasible
	}
	return err
}

// prepare makes changes in the topology that count for one plan only. The caller rolls them back.
func (p *Planner) prepare(plan *Plan, t *placement.Topology, future bool) error {
	p.useFutureIdle(future)
	for _, claim := range plan.demand.claimed {
		if _, err := t.Take(claim.Node, claim.Amounts); err != nil {
			continue // what preemption has nominated is not free yet
		}
	}
	return feasibility.RequestSlots(t, &plan.demand.Demand, plan.demand.pending)
}

// planFeasible returns the best plan whose nodes are feasible for the pods.
func (p *Planner) planFeasible(plan *Plan) (*placement.Plan, error) {
	for range maxRejected {
		for r := range plan.roles {
			plan.demand.Roles[r].Eligible = p.allowed(plan, plan.roles[r].Eligible())
		}
		found, err := p.best(plan)
		if err != nil {
			return nil, err
		}
		feasible, err := p.feasible(plan, found)
		if err != nil {
			return nil, err
		}
		if feasible {
			return found, nil
		}
	}
	return nil, errRejected
}

// feasible reports whether the nodes of a plan are feasible for its pods.
func (p *Planner) feasible(plan *Plan, found *placement.Plan) (all bool, err error) {
	all = true
	p.CallPredicates(func() {
		for i, task := range plan.demand.tasks(found) {
			ok, failure := plan.roles[found.Assignments[i].Role].Feasible(task, found.Assignments[i].Node)
			if failure != nil {
				all, err = false, failure
				return
			}
			all = all && ok
		}
	})
	return all, err
}

// Diagnose returns why the pods of a plan that is infeasible do not fit.
func (p *Planner) Diagnose(plan *Plan) (*placement.Diagnosis, error) {
	t := p.Cache.Topology()
	mark := t.Begin()
	defer p.rollback(t, mark)
	if err := p.prepare(plan, t, plan.future); err != nil {
		return nil, err
	}
	found, err := guard.Search(p.Guard, guard.Work{Part: metrics.PartExplanation, Job: plan.Job.UID}, p.resync,
		func(stop func() bool) (*placement.Diagnosis, error) {
			return placement.Diagnose(t, &plan.demand.Demand, placement.Options{Objective: p.Arguments.Objective, Stop: stop})
		})
	if err != nil {
		return nil, fmt.Errorf("diagnose why job %s does not fit: %w", plan.Job.UID, err)
	}
	return found, nil
}

// provablyInfeasible reports whether a gang without a plan cannot be placed pod by pod either. Either no domain that may hold it has
// capacity for the minimum of each role alone, or for the sum of all requests; or each worker must be next to a server, which
// is not found by chance. certain reports that the demand excludes no more nodes than the plan did.
func provablyInfeasible(t *placement.Topology, d *placement.Demand, certain bool) bool {
	if d.Colocation == placement.Required && certain {
		return true
	}
	tier := len(t.Tiers())
	if d.HighestTier > 0 {
		tier = d.HighestTier
	}
	fits := make([]func(placement.DomainID) int64, len(d.Roles))
	for r := range d.Roles {
		fits[r] = t.ShapeOn(d.Roles[r].Request, d.Roles[r].Eligible).Sum
	}
	lo, hi := t.Domains(tier)
	for domain := lo; domain < hi; domain++ {
		if mightFit(t, d, domain, fits) {
			return false
		}
	}
	return true
}

// mightFit reports whether the minimums of a demand may fit into a domain, by sums alone. fits returns how many pods of each
// role fit into a domain.
func mightFit(t *placement.Topology, d *placement.Demand, domain placement.DomainID, fits []func(placement.DomainID) int64) bool {
	free := t.Free(domain)
	requested := make([]int64, len(free))
	for r := range d.Roles {
		role := &d.Roles[r]
		for _, placed := range role.Placed {
			if !t.Holds(domain, placed.Node) {
				return false
			}
		}
		needed := int64(max(0, role.Minimum-len(role.Placed)))
		if fits[r](domain) < needed {
			return false
		}
		for i, amount := range role.Request {
			if requested[i] += needed * amount; requested[i] > max(0, free[i]) {
				return false
			}
		}
	}
	return true
}
