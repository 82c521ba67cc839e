// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// fence is where the limits of its job let one task go. A plan is a hint, and what follows when it went stale is ordinary
// scoring, which knows no limit of labels and no colocation: the predicate holds both.
type fence struct {
	task api.TaskID
	// tier and domain within which the task must be; tier 0 for no limit, placement.NoDomain while no member has a node.
	tier   int
	domain placement.DomainID
	// servers are the domains of colocationTier that hold one of the job's servers; nil if the task need not be with one.
	servers        map[placement.DomainID]bool
	colocationTier int
}

// lets tells whether the task may go to a node, and why not.
func (f *fence) lets(t *placement.Topology, node placement.NodeID) (bool, string) {
	if f.tier > 0 && f.domain != placement.NoDomain && t.Ancestor(node, f.tier) != f.domain {
		return false, "node(s) outside of " + t.DomainName(f.domain) + ", within which networkTopology keeps the job"
	}
	if f.servers != nil && !f.servers[t.Ancestor(node, f.colocationTier)] {
		return false, "node(s) without a server of the job near by (colocation Required)"
	}
	return true, ""
}

// fence is the fence of a task as its job stands now; nil if nothing limits it.
func (c *course) fence(task *api.TaskInfo) (*fence, error) {
	job := c.ssn.Jobs[task.Job]
	w, _ := newWishes(job.PodGroup.Annotations, c.arguments)
	if !limited(job, w) {
		return nil, nil
	}
	t, err := c.topology()
	if err != nil {
		return nil, err
	}
	f := &fence{task: task.UID, domain: placement.NoDomain}
	s := c.scopeOf(job, task)
	if f.tier, err = c.highestTier(s); err != nil {
		return nil, err
	}
	if job.PodGroup.Spec.SubGroupPolicy != nil && f.tier == 0 { // a group without a limit of its own keeps the job's
		s = scope{job: job}
		if f.tier, err = c.highestTier(s); err != nil {
			return nil, err
		}
	}
	if w.colocation == placement.Required && podRole(task.Pod, task.TaskRole, c.arguments.taskRoles) == roleWorker {
		if f.colocationTier, err = c.colocationTier(); err != nil {
			return nil, err
		}
		if f.colocationTier > 0 && hasServers(c.gangs[job.UID]) {
			f.servers = map[placement.DomainID]bool{}
		}
	}
	for _, member := range inOrder(job) {
		id, ok := c.network.Node(member.NodeName)
		if !ok || !api.AllocatedStatus(member.Status) && member.Status != api.Pipelined {
			continue
		}
		if f.tier > 0 && f.domain == placement.NoDomain && s.has(member) {
			f.domain = t.Ancestor(id, f.tier)
		}
		if f.servers != nil && podRole(member.Pod, member.TaskRole, c.arguments.taskRoles) == roleServer {
			f.servers[t.Ancestor(id, f.colocationTier)] = true
		}
	}
	if plan, ok := c.plans[s.key()]; ok && plan.placed() && f.tier > 0 && f.domain == placement.NoDomain {
		for _, id := range plan.nodes {
			f.domain = t.Ancestor(id, f.tier) // all are in one
			break
		}
	}
	return f, nil
}

func hasServers(g gang) bool {
	for _, group := range g {
		if group.role == roleServer {
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
