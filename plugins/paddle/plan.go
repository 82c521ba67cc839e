// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// scope is what is planned at once: a job, or one of the groups that its SubGroupPolicy makes.
type scope struct {
	job *api.JobInfo
	// sub is the group, "" for a whole job.
	sub api.SubJobID
}

// around is the scope and the whole job: a group must keep both limits.
func (s scope) around() []scope {
	if s.sub == "" {
		return []scope{s}
	}
	return []scope{s, {job: s.job}}
}

// key names a scope within a session.
func (s scope) key() string { return string(s.job.UID) + "|" + string(s.sub) }

// has tells whether a task is planned in the scope.
func (s scope) has(task *api.TaskInfo) bool {
	return s.sub == "" || s.job.TaskToSubJob[task.UID] == s.sub
}

// plan is what the plugin intends for the pending pods of a scope.
type plan struct {
	scope
	cast  *cast
	kinds []kinds // by role of the cast
	found *placement.Plan
	// within is the domain in which the job's own limit keeps one of its groups; placement.NoDomain if none does.
	within placement.DomainID
	// avoid are domains that do not hold the job's groups.
	avoid []placement.DomainID
	nodes map[api.TaskID]placement.NodeID
	// nominated are the nominations that the plan honours.
	nominated map[api.TaskID]placement.NodeID
	// leaning is what counts after the network.
	leaning *leaning
	// future plans count on room that pods free which are ending.
	future bool
	// remade counts how often the plan was made again since a hint of it was last taken.
	remade int
	// stale plans named a node that would not do.
	stale bool
	// dropped plans went stale too often: ordinary scoring places what is left.
	dropped bool
	// err says why there is no plan, errHopeless among others.
	err error
}

// errHopeless is the error of plans for which it is certain that the pods have no room, however they are placed.
var errHopeless = errors.New("the gang has no room")

const (
	maxRemade  = 1
	maxRefused = 3 // rounds of plans of which predicates refused a node; after the first one all nodes were asked
)

// placed tells whether there is a plan to follow.
func (p *plan) placed() bool { return p.err == nil && !p.dropped }

// plan is the plan of a scope, made when first asked for.
func (c *course) plan(s scope) *plan {
	if have, ok := c.plans[s.key()]; ok {
		return have
	}
	made := c.make(s)
	c.plans[s.key()] = made
	return made
}

// remake plans what is left of a scope once more, or drops the plan.
func (c *course) remake(old *plan) *plan {
	if old.remade >= maxRemade {
		old.dropped = true
		metrics.ObservePlan(metrics.OutcomeFallback, 0)
		return old
	}
	metrics.ObservePlan(metrics.OutcomeStale, 0)
	made := c.make(old.scope)
	made.remade = old.remade + 1
	c.plans[old.key()] = made
	return made
}

// make makes a plan: on what is idle, else on what will be once pods that are ending have ended.
func (c *course) make(s scope) *plan {
	begin := time.Now()
	p := &plan{scope: s, within: placement.NoDomain}
	of := workOn{metrics.PartPlan, s.job.UID}
	if p.err = c.guard.refuses(of); p.err == nil {
		p.err = c.guard.recovered(of, func() error { return c.solve(p) })
	}
	if errors.Is(p.err, errPanicked) {
		c.lost()
	}
	outcome := metrics.OutcomePlaced
	switch {
	case failed(p.err):
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
	c.forgetAnswers(p.job.UID)
	if err := c.demand(p); err != nil {
		return err
	}
	if nominated := c.nominations(p, t); len(nominated) > 0 {
		with := &plan{scope: p.scope, within: placement.NoDomain, nominated: nominated}
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
	p.cast = newCast(p.job, c.gangs[p.job.UID], c.spec(p.job), c, p.has, p.nominated)
	if p.sub == "" {
		p.cast.raise(int(p.job.MinAvailable) - len(p.job.TaskStatusIndex[api.Succeeded]))
	}
	return c.limit(p)
}

// search finds a node for each pending pod of a plan.
func (c *course) search(p *plan, t *placement.Topology) error {
	p.kinds = c.kindsOf(p.job, p.cast.pending)
	var err error
	if c.near(p, t); p.found == nil {
		err = c.attempt(p, t, false)
	}
	if errors.Is(err, placement.ErrNoFit) && len(c.ending) > 0 {
		p.future = true
		err = c.attempt(p, t, true)
	}
	if err == nil {
		err = c.house(p, t)
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

// attempt plans on what is idle, or on what will be once pods that are ending have ended. The tree is left as it was.
func (c *course) attempt(p *plan, t *placement.Topology, future bool) error {
	if err := c.guard.refuses(workOn{metrics.PartPlan, p.job.UID}); err != nil {
		return err // an attempt before failed, and t may be given up
	}
	mark := t.Begin()
	defer c.rollback(t, mark)
	err := c.prepare(p, t, future)
	if err != nil {
		return err
	}
	p.found, err = c.suited(p)
	last := future || len(c.ending) == 0
	if !errors.Is(err, placement.ErrNoFit) || !last || !p.cast.exact {
		return err
	}
	certain := true
	proof := p.cast.demand
	proof.Roles = slices.Clone(proof.Roles)
	for r := range proof.Roles {
		certain = certain && p.kinds[r].certain()
		proof.Roles[r].Eligible = c.inside(p, p.kinds[r].possible())
	}
	if hopeless(t, &proof, certain) {
		p.cast.demand = proof
		return errHopeless
	}
	return err
}

// prepare shows in the tree what only counts for one plan. The caller takes it back.
func (c *course) prepare(p *plan, t *placement.Topology, future bool) error {
	c.settleEnding(future)
	for _, claim := range p.cast.claimed {
		if _, err := t.Take(claim.Node, claim.Amounts); err != nil {
			continue // what preemption promised is not free yet: nothing to keep clear
		}
	}
	return p.cast.keepApart(t)
}

// inside is the nodes of a set that a plan may use by the limits of its job.
func (c *course) inside(p *plan, nodes *placement.NodeSet) *placement.NodeSet {
	return c.without(c.only(nodes, p.within), p.avoid)
}

// suited is the best plan on nodes that suit the pods.
func (c *course) suited(p *plan) (*placement.Plan, error) {
	t := c.network.Topology()
	for range maxRefused {
		for r := range p.kinds {
			p.cast.demand.Roles[r].Eligible = c.inside(p, p.kinds[r].eligible(t))
		}
		found, err := c.best(p)
		if err != nil {
			return nil, err
		}
		suits, err := c.ask(p, found)
		if err != nil {
			return nil, err
		}
		if suits {
			return found, nil
		}
	}
	return nil, errRefused
}

// errRefused is the error of plans whose nodes predicates refuse again and again.
var errRefused = errors.New("predicates refuse the nodes of each plan")

// ask asks about the nodes that a plan uses and reports whether all suit. Where one does not, all nodes are asked about,
// unless the role's pods differ: then each has answers of its own.
func (c *course) ask(p *plan, found *placement.Plan) (bool, error) {
	t := c.network.Topology()
	c.asking = true
	defer func() { c.asking = false }()
	ok := true
	for i, task := range p.cast.tasks(found) {
		kinds := &p.kinds[found.Assignments[i].Role]
		suit := kinds.of(task)
		if suit == nil {
			continue
		}
		suits, err := suit.ask(c, t, c.ssn.Nodes, found.Assignments[i].Node)
		if err != nil {
			return false, err
		}
		if !suits && len(kinds.suits) == 1 {
			suit.askAll(c, t, c.ssn.Nodes)
		}
		ok = ok && suits
	}
	return ok, nil
}
