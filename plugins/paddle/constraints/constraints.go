// SPDX-License-Identifier: Apache-2.0

// Package constraints enforces required network topology (networkTopology hard) and colocation Required where a task falls back
// to normal scoring: as a predicate of nodes, and as HyperNodes in which allocate tries a job. A plan satisfies both by itself,
// but is only a nomination.
package constraints

import (
	"errors"

	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/config"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/guard"
	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/planner"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// Config is the input of Constraints.
type Config struct {
	Session *framework.Session
	Planner *planner.Planner
	Guard   *guard.Guard
	Gangs   map[api.JobID]paddlejob.Gang
	Roles   paddlejob.RoleMap
	// WithoutPlugin runs a function in the session as it is without the plugin.
	WithoutPlugin func(func())
	// Rejected is called before a job gets no HyperNode. plan is that of the job, nil if its constraint is invalid.
	Rejected func(job *api.JobInfo, plan *planner.Plan, err error)
}

// Constraints enforces the constraints of the gangs of one session.
type Constraints struct {
	Config
	current *constraint // of the task of the last PrePredicate, nil if it has none
}

// New returns the constraints of a session.
func New(c Config) *Constraints { return &Constraints{Config: c} }

// Any reports whether a gang has a constraint. Without one, no predicate is registered: it would be called for each task and node, also
// of other jobs.
func (c *Constraints) Any() bool {
	for id := range c.Gangs {
		if c.Planner.IsConstrained(c.Session.Jobs[id]) {
			return true
		}
	}
	return false
}

// constraint is the domains that a task may use.
type constraint struct {
	task     api.TaskID
	topology *placement.Topology
	bounds   []placement.DomainID // within which networkTopology keeps the task
	// servers are the domains of colocationTier that hold a server of the job; nil if the task needs none.
	servers        map[placement.DomainID]bool
	colocationTier int
}

// Clear discards the constraint of the last task.
func (c *Constraints) Clear() { c.current = nil }

// IsBounded reports whether networkTopology keeps the task of the last PrePredicate within a domain.
func (c *Constraints) IsBounded() bool { return c.current != nil && len(c.current.bounds) > 0 }

// PrePredicate computes the constraint of a task of a gang for Predicate. An error means that the task must get no node.
func (c *Constraints) PrePredicate(task *api.TaskInfo) error {
	return c.Guard.Run(guard.Work{Part: metrics.PartLimit, Job: task.Job}, func() (err error) {
		c.current, err = c.constraintOf(task)
		return err
	})
}

// constraintOf returns the constraint of a task as its job is placed now, nil if it has none.
func (c *Constraints) constraintOf(task *api.TaskInfo) (*constraint, error) {
	job := c.Session.Jobs[task.Job]
	if !c.Planner.IsConstrained(job) {
		return nil, nil
	}
	t, err := c.Planner.Topology()
	if err != nil {
		return nil, err
	}
	found := &constraint{task: task.UID, topology: t}
	scopes := []planner.Scope{planner.ScopeOf(job, task)}
	if scopes[0].SubJob != "" { // it must satisfy the constraints of the whole job as well
		scopes = append(scopes, planner.Scope{Job: job})
	}
	for _, s := range scopes {
		tier, err := c.Planner.HighestTier(s)
		if err != nil {
			return nil, err
		}
		if domain := c.Planner.Domain(s, tier); domain != placement.NoDomain {
			found.bounds = append(found.bounds, domain)
		}
	}
	if c.Planner.Spec(job).Colocation != placement.Required || !c.hasRole(task, paddlejob.Worker) || !c.Gangs[job.UID].Has(paddlejob.Server) {
		return found, nil
	}
	if found.colocationTier, err = c.Planner.ColocationTier(); err != nil || found.colocationTier == 0 {
		return found, err
	}
	found.servers = map[placement.DomainID]bool{}
	for id, member := range c.Planner.Members(planner.Scope{Job: job}) {
		if c.hasRole(member, paddlejob.Server) {
			found.servers[t.Ancestor(id, found.colocationTier)] = true
		}
	}
	return found, nil
}

func (c *Constraints) hasRole(task *api.TaskInfo, role paddlejob.Role) bool {
	return paddlejob.PodRole(task.Pod, task.TaskRole, c.Roles) == role
}

// Predicate returns why the task of the last PrePredicate may not use a node, nil for other tasks.
func (c *Constraints) Predicate(task *api.TaskInfo, node *api.NodeInfo) error {
	if c.Planner.CallsPredicates() || c.current == nil || c.current.task != task.UID {
		return nil
	}
	id, ok := c.Planner.Node(node.Name)
	if !ok {
		return nil
	}
	if allowed, why := c.current.allows(id); !allowed {
		return api.NewFitErrWithStatus(task, node, &api.Status{
			Code: api.UnschedulableAndUnresolvable, Reason: why, Plugin: config.PluginName,
		})
	}
	return nil
}

// allows reports whether the task may use a node, and else why not.
func (c *constraint) allows(node placement.NodeID) (bool, string) {
	for _, domain := range c.bounds {
		if !c.topology.Holds(domain, node) {
			return false, "node(s) outside of " + c.topology.DomainName(domain) + ", within which networkTopology keeps the job"
		}
	}
	if c.servers != nil && !c.servers[c.topology.Ancestor(node, c.colocationTier)] {
		return false, "node(s) without a server of the job near by (colocation Required)"
	}
	return true, ""
}

// Gradient is the HyperNodes in which allocate tries a job, in groups: Volcano takes the first group that holds the job. nil is none.
type Gradient = [][]*api.HyperNodeInfo

// HyperNodesForJob returns the HyperNodes below top in which allocate tries a job. For a gang with a hard networkTopology that is
// the smallest one that contains its plan. For jobs that are not gangs it is what the session has without the plugin.
func (c *Constraints) HyperNodesForJob(job *api.JobInfo, top *api.HyperNodeInfo) Gradient {
	stock := func() Gradient { return c.Session.HyperNodeGradientForJobFn(job, top) }
	if _, ok := c.Gangs[job.UID]; !ok {
		return c.withoutPlugin(stock)
	}
	return c.hyperNodes(planner.Scope{Job: job}, top, stock)
}

// HyperNodesForSubJob is HyperNodesForJob for a sub-job of a SubGroupPolicy.
func (c *Constraints) HyperNodesForSubJob(sub *api.SubJobInfo, top *api.HyperNodeInfo) Gradient {
	stock := func() Gradient { return c.Session.HyperNodeGradientForSubJobFn(sub, top) }
	job := c.Session.Jobs[sub.Job]
	if _, ok := c.Gangs[sub.Job]; !ok || job == nil {
		return c.withoutPlugin(stock)
	}
	if !job.ContainsSubJobPolicy() {
		return Gradient{{top}}
	}
	return c.hyperNodes(planner.Scope{Job: job, SubJob: sub.UID}, top, stock)
}

func (c *Constraints) hyperNodes(s planner.Scope, top *api.HyperNodeInfo, stock func() Gradient) Gradient {
	if _, err := c.Planner.Topology(); err != nil {
		return c.withoutPlugin(stock)
	}
	tier, err := c.Planner.HighestTier(s)
	if err != nil {
		c.Rejected(s.Job, nil, err)
		return nil
	}
	if tier == 0 {
		return Gradient{{top}}
	}
	plan := c.Planner.Plan(s)
	switch {
	case plan.Found():
		smallest := top
		if err := c.Planner.Run(guard.Work{Part: metrics.PartPlan, Job: s.Job.UID}, func() error {
			if found := c.Planner.SmallestHyperNode(plan); found != nil {
				smallest = found
			}
			return nil
		}); err != nil {
			return c.withoutPlugin(stock)
		}
		return Gradient{{smallest}}
	case errors.Is(plan.Err, planner.ErrInfeasible), errors.Is(plan.Err, planner.ErrInvalidConstraint):
		c.Rejected(s.Job, plan, plan.Err)
		return nil
	default:
		return c.withoutPlugin(stock)
	}
}

func (c *Constraints) withoutPlugin(stock func() Gradient) (answer Gradient) {
	c.WithoutPlugin(func() { answer = stock() })
	return answer
}
