// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"iter"

	"volcano.sh/volcano/pkg/scheduler/api"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// constraint is the domains that a task may use. The plan is only a nomination, so the predicate enforces required topology and
// colocation when a task falls back to normal scoring.
type constraint struct {
	task   api.TaskID
	bounds []domainBound
	// servers are the domains of colocationTier that hold a server of the job; nil if the task needs none.
	servers        map[placement.DomainID]bool
	colocationTier int
}

// domainBound is the domain of a tier within which networkTopology keeps a task.
type domainBound struct {
	tier   int
	domain placement.DomainID
}

// allows reports whether the task may use a node, and else why not.
func (c *constraint) allows(t *placement.Topology, node placement.NodeID) (bool, string) {
	for _, b := range c.bounds {
		if t.Ancestor(node, b.tier) != b.domain {
			return false, "node(s) outside of " + t.DomainName(b.domain) + ", within which networkTopology keeps the job"
		}
	}
	if c.servers != nil && !c.servers[t.Ancestor(node, c.colocationTier)] {
		return false, "node(s) without a server of the job near by (colocation Required)"
	}
	return true, ""
}

// constraintOf returns the constraint of a task as its job is placed now, nil if it has none.
func (c *course) constraintOf(task *api.TaskInfo) (*constraint, error) {
	job := c.ssn.Jobs[task.Job]
	w := c.spec(job)
	if !limited(job, w) {
		return nil, nil
	}
	t, err := c.topology()
	if err != nil {
		return nil, err
	}
	found := &constraint{task: task.UID}
	for _, s := range c.scopeOf(job, task).scopeChain() {
		tier, err := c.highestTier(s)
		if err != nil {
			return nil, err
		}
		if domain := c.domain(s, tier); domain != placement.NoDomain {
			found.bounds = append(found.bounds, domainBound{tier, domain})
		}
	}
	if w.Colocation != placement.Required || paddlejob.PodRole(task.Pod, task.TaskRole, c.arguments.taskRoles) != paddlejob.Worker || !hasServers(c.gangs[job.UID]) {
		return found, nil
	}
	if found.colocationTier, err = c.colocationTier(); err != nil || found.colocationTier == 0 {
		return found, err
	}
	found.servers = map[placement.DomainID]bool{}
	for id, server := range c.members(scope{job: job}) {
		if paddlejob.PodRole(server.Pod, server.TaskRole, c.arguments.taskRoles) == paddlejob.Server {
			found.servers[t.Ancestor(id, found.colocationTier)] = true
		}
	}
	return found, nil
}

// domain returns the domain of a tier in which a scope has members, or else that of its plan; placement.NoDomain if it has
// neither, or for tier 0.
func (c *course) domain(s scope, tier int) placement.DomainID {
	t := c.network.Topology()
	domain := c.memberDomain(s, tier)
	if tier == 0 {
		return domain
	}
	if plan, ok := c.plans[s.ID()]; ok && plan.placed() && domain == placement.NoDomain {
		for _, id := range plan.nodes {
			return t.Ancestor(id, tier) // all are in one
		}
	}
	return domain
}

// memberDomain returns the domain of a tier in which a scope has members, placement.NoDomain if it has none or for tier 0.
func (c *course) memberDomain(s scope, tier int) placement.DomainID {
	t := c.network.Topology()
	domain := placement.NoDomain
	if tier == 0 {
		return domain
	}
	for id := range c.members(s) {
		if at := t.Ancestor(id, tier); domain == placement.NoDomain || at < domain { // all are in one, unless the constraint is newer
			domain = at
		}
	}
	return domain
}

// members returns the pods of a scope that have a node, in no order.
func (c *course) members(s scope) iter.Seq2[placement.NodeID, *api.TaskInfo] {
	return func(yield func(placement.NodeID, *api.TaskInfo) bool) {
		for _, task := range s.job.Tasks {
			id, ok := c.network.Node(task.NodeName)
			if ok && (api.AllocatedStatus(task.Status) || task.Status == api.Pipelined) && s.contains(task) && !yield(id, task) {
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

// scopeOf returns the scope in which a task is planned.
func (c *course) scopeOf(job *api.JobInfo, task *api.TaskInfo) scope {
	if job.ContainsSubJobPolicy() {
		return scope{job: job, sub: job.TaskToSubJob[task.UID]}
	}
	return scope{job: job}
}
