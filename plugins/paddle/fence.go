// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"iter"

	"volcano.sh/volcano/pkg/scheduler/api"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// fence is where the limits of its job let one task go. A plan is a hint, and what follows when it went stale is ordinary
// scoring, which knows no limit of labels and no colocation: the predicate holds both.
type fence struct {
	task  api.TaskID
	walls []wall
	// servers are the domains of colocationTier that hold one of the job's servers; nil if the task need not be with one.
	servers        map[placement.DomainID]bool
	colocationTier int
}

// wall is the domain of a tier within which networkTopology keeps a task.
type wall struct {
	tier   int
	domain placement.DomainID
}

// lets tells whether the task may go to a node, and why not.
func (f *fence) lets(t *placement.Topology, node placement.NodeID) (bool, string) {
	for _, w := range f.walls {
		if t.Ancestor(node, w.tier) != w.domain {
			return false, "node(s) outside of " + t.DomainName(w.domain) + ", within which networkTopology keeps the job"
		}
	}
	if f.servers != nil && !f.servers[t.Ancestor(node, f.colocationTier)] {
		return false, "node(s) without a server of the job near by (colocation Required)"
	}
	return true, ""
}

// fence is the fence of a task as its job stands now; nil if nothing limits it.
func (c *course) fence(task *api.TaskInfo) (*fence, error) {
	job := c.ssn.Jobs[task.Job]
	w := c.spec(job)
	if !limited(job, w) {
		return nil, nil
	}
	t, err := c.topology()
	if err != nil {
		return nil, err
	}
	f := &fence{task: task.UID}
	for _, s := range c.scopeOf(job, task).around() {
		tier, err := c.highestTier(s)
		if err != nil {
			return nil, err
		}
		if domain := c.domain(s, tier); domain != placement.NoDomain {
			f.walls = append(f.walls, wall{tier, domain})
		}
	}
	if w.Colocation != placement.Required || paddlejob.PodRole(task.Pod, task.TaskRole, c.arguments.taskRoles) != paddlejob.Worker || !hasServers(c.gangs[job.UID]) {
		return f, nil
	}
	if f.colocationTier, err = c.colocationTier(); err != nil || f.colocationTier == 0 {
		return f, err
	}
	f.servers = map[placement.DomainID]bool{}
	for id, server := range c.members(scope{job: job}) {
		if paddlejob.PodRole(server.Pod, server.TaskRole, c.arguments.taskRoles) == paddlejob.Server {
			f.servers[t.Ancestor(id, f.colocationTier)] = true
		}
	}
	return f, nil
}

// domain is the domain of a tier in which a scope is: where it has members, or else where its plan wants them.
// placement.NoDomain if it has neither, or for tier 0.
func (c *course) domain(s scope, tier int) placement.DomainID {
	t := c.network.Topology()
	domain := c.memberDomain(s, tier)
	if tier == 0 {
		return domain
	}
	if plan, ok := c.plans[s.key()]; ok && plan.placed() && domain == placement.NoDomain {
		for _, id := range plan.nodes {
			return t.Ancestor(id, tier) // all are in one
		}
	}
	return domain
}

// memberDomain is the domain of a tier in which a scope has members; placement.NoDomain if it has none, or for tier 0.
func (c *course) memberDomain(s scope, tier int) placement.DomainID {
	t := c.network.Topology()
	domain := placement.NoDomain
	if tier == 0 {
		return domain
	}
	for id := range c.members(s) {
		if at := t.Ancestor(id, tier); domain == placement.NoDomain || at < domain { // all are in one, unless a limit came late
			domain = at
		}
	}
	return domain
}

// members are the pods of a scope that have a node, in no order.
func (c *course) members(s scope) iter.Seq2[placement.NodeID, *api.TaskInfo] {
	return func(yield func(placement.NodeID, *api.TaskInfo) bool) {
		for _, task := range s.job.Tasks {
			id, ok := c.network.Node(task.NodeName)
			if ok && (api.AllocatedStatus(task.Status) || task.Status == api.Pipelined) && s.has(task) && !yield(id, task) {
				return
			}
		}
	}
}

func hasServers(g paddlejob.Gang) bool {
	for _, group := range g {
		if group.Role == paddlejob.Server {
			return true
		}
	}
	return false
}

// scopeOf is the scope in which a task is planned.
func (c *course) scopeOf(job *api.JobInfo, task *api.TaskInfo) scope {
	if job.ContainsSubJobPolicy() {
		return scope{job: job, sub: job.TaskToSubJob[task.UID]}
	}
	return scope{job: job}
}
