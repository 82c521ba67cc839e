// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"slices"

	"volcano.sh/volcano/pkg/scheduler/api"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// cast is a job as the planner sees it: the demand, and whose parts these are.
type cast struct {
	demand placement.Demand
	// pending pods by role and position in Role.Pending.
	pending [][]*api.TaskInfo
	// claimed is what pending pods take whose nominations are honoured.
	claimed []placement.Claim
	// exact says that each role's request is what each of its pods takes, at the start as later. It is else an upper bound.
	exact bool
}

// stage is what a cast needs of the network.
type stage interface {
	Node(name string) (placement.NodeID, bool)
	Request(task *api.TaskInfo) []int64
}

// newCast casts the pods of a gang for which in answers true. nominated are the nominations that are honoured.
func newCast(
	job *api.JobInfo, g paddlejob.Gang, w paddlejob.Spec, network stage, in func(*api.TaskInfo) bool, nominated map[api.TaskID]placement.NodeID,
) *cast {
	c := &cast{exact: true, demand: placement.Demand{
		Pattern:        pattern(job, g),
		ParameterBytes: w.ParameterBytes,
		GroupSize:      w.ParallelGroupSize,
		Colocation:     w.Colocation,
	}}
	byTask := map[string][]*api.TaskInfo{}
	for _, task := range paddlejob.InOrder(job) {
		if in(task) {
			byTask[task.TaskRole] = append(byTask[task.TaskRole], task)
		}
	}
	heter := 0
	for _, group := range g {
		role := placement.Role{Name: roleNames[group.Role], CommRole: traffic[group.Role]}
		if role.CommRole == placement.PipelineWorker {
			heter++
			role.Stage = heter
		}
		c.add(role, int(group.Min), byTask[group.Task], network, nominated)
	}
	return c
}

// tasks are the pods of a plan's assignments, one by one.
func (c *cast) tasks(found *placement.Plan) []*api.TaskInfo {
	tasks := make([]*api.TaskInfo, len(found.Assignments))
	at := make([]int, len(c.pending))
	for i, a := range found.Assignments {
		for c.demand.Roles[a.Role].Pending[at[a.Role]] != a.Index {
			at[a.Role]++
		}
		tasks[i] = c.pending[a.Role][at[a.Role]]
	}
	return tasks
}

// raise raises minimums until they sum to minMember, which counts pods of any role: workers first, as it is they who
// may be more or fewer. Succeeded pods count for it.
func (c *cast) raise(minMember int) {
	for r := range c.demand.Roles {
		role := &c.demand.Roles[r]
		minMember -= max(role.Minimum, len(role.Placed))
	}
	if minMember <= 0 {
		return
	}
	candidates := 0
	for _, workers := range []bool{true, false} {
		for r := range c.demand.Roles {
			role := &c.demand.Roles[r]
			if (role.CommRole == placement.Worker) != workers {
				continue
			}
			has := max(role.Minimum, len(role.Placed))
			more := min(minMember, len(role.Pending)+len(role.Placed)-has)
			if more > 0 {
				role.Minimum = has + more
				minMember -= more
			}
			if len(role.Pending)+len(role.Placed) > has {
				candidates++
			}
		}
	}
	// Another role might have found room for them.
	c.exact = c.exact && candidates < 2
}

// add adds one role with its pods, in the order of their indexes.
func (c *cast) add(role placement.Role, minimum int, tasks []*api.TaskInfo, network stage, nominated map[api.TaskID]placement.NodeID) {
	indexes := indexesOf(tasks)
	var pending []*api.TaskInfo
	for i, task := range tasks {
		switch {
		case task.Status == api.Succeeded:
			minimum-- // it counts for the minimum and talks no more
		case task.Status == api.Pending && task.SchGated:
		case task.Status == api.Pending:
			request := network.Request(task)
			c.exact = c.exact && (role.Request == nil || slices.Equal(role.Request, request)) && sameAtStart(task)
			role.Request = most(role.Request, request)
			if id, ok := nominated[task.UID]; ok {
				role.Placed = append(role.Placed, placement.Placed{Index: indexes[i], Node: id})
				c.claimed = append(c.claimed, placement.Claim{Node: id, Amounts: request})
				continue
			}
			role.Pending = append(role.Pending, indexes[i])
			pending = append(pending, task)
		case api.AllocatedStatus(task.Status) || task.Status == api.Pipelined:
			// A pod on a node that is not ready has no place in the tree: it is no member for now.
			if id, ok := network.Node(task.NodeName); ok {
				role.Placed = append(role.Placed, placement.Placed{Index: indexes[i], Node: id})
			} else {
				minimum--
			}
			if role.Request == nil {
				role.Request = network.Request(task)
			}
		}
	}
	if len(role.Pending)+len(role.Placed) == 0 {
		return
	}
	role.Minimum = max(0, min(minimum, len(role.Pending)+len(role.Placed)))
	c.demand.Roles = append(c.demand.Roles, role)
	c.pending = append(c.pending, pending)
}

// traffic is the part of each role.
var traffic = map[paddlejob.Role]placement.CommRole{
	paddlejob.Server: placement.Server, paddlejob.Worker: placement.Worker, paddlejob.Heter: placement.PipelineWorker, paddlejob.Other: placement.NoTraffic,
}

// pattern is who talks to whom, by the roles that there are.
func pattern(job *api.JobInfo, g paddlejob.Gang) placement.Pattern {
	has := map[paddlejob.Role]bool{}
	for _, group := range g {
		has[group.Role] = true
	}
	switch {
	case len(job.Tasks) == 1:
		return placement.Single
	case has[paddlejob.Heter]:
		return placement.Pipeline
	case has[paddlejob.Server]:
		return placement.ParameterServer
	default:
		return placement.Collective
	}
}

// indexesOf are the members' indexes: those of the pods, or their positions where pods have none or share one.
func indexesOf(tasks []*api.TaskInfo) []int {
	indexes := make([]int, len(tasks))
	for i, task := range tasks {
		indexes[i] = paddlejob.PodIndex(task)
		if indexes[i] < 0 || i > 0 && indexes[i] <= indexes[i-1] {
			for i := range indexes {
				indexes[i] = i
			}
			return indexes
		}
	}
	return indexes
}

// sameAtStart tells whether init containers ask for no more than the pod does later.
func sameAtStart(task *api.TaskInfo) bool {
	return task.InitResreq.LessEqual(task.Resreq, api.Zero) || paddlejob.IsPlaceholder(task)
}

// most is the larger of two amounts, resource by resource; a may be nil.
func most(a, b []int64) []int64 {
	if a == nil {
		return b
	}
	larger := slices.Clone(a)
	for i := range larger {
		larger[i] = max(larger[i], b[i])
	}
	return larger
}
