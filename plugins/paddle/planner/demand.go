// SPDX-License-Identifier: Apache-2.0

package planner

import (
	"slices"

	"volcano.sh/volcano/pkg/scheduler/api"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// gangDemand is a job as input of package placement, and the task behind each member.
type gangDemand struct {
	placement.Demand
	// pending pods by role and position in Role.Pending.
	pending [][]*api.TaskInfo
	// claimed are the resources of pending pods whose nominations are honored.
	claimed []placement.Claim
	// exact reports that each role's request is what each of its pods takes, at the start as later. It is else an upper bound.
	exact bool
}

// resourceView is what a demand needs of the topology.
type resourceView interface {
	Node(name string) (placement.NodeID, bool)
	Request(task *api.TaskInfo) []int64
}

var _ resourceView = &Planner{}

// newDemand returns the demand of the pods of a job that are included. nominated are the nominations that are honored.
func (p *Planner) newDemand(job *api.JobInfo, include func(*api.TaskInfo) bool, nominated map[api.TaskID]placement.NodeID) *gangDemand {
	return newDemand(job, p.Gangs[job.UID], p.Spec(job), p, include, nominated)
}

func newDemand(
	job *api.JobInfo, g paddlejob.Gang, spec paddlejob.Spec, view resourceView, include func(*api.TaskInfo) bool,
	nominated map[api.TaskID]placement.NodeID,
) *gangDemand {
	d := &gangDemand{exact: true, Demand: placement.Demand{
		Pattern:        patternOf(job, g),
		ParameterBytes: spec.ParameterBytes,
		GroupSize:      spec.ParallelGroupSize,
		Parallelism:    spec.Parallelism,
		Colocation:     spec.Colocation,
	}}
	byTask := map[string][]*api.TaskInfo{}
	for _, task := range paddlejob.InOrder(job) {
		if include(task) {
			byTask[task.TaskRole] = append(byTask[task.TaskRole], task)
		}
	}
	stages := 0
	for _, group := range g {
		role := placement.Role{Name: group.Role.Noun(), CommRole: commRoles[group.Role]}
		if role.CommRole == placement.PipelineWorker {
			stages++
			role.Stage = stages
		}
		d.add(role, int(group.Min), byTask[group.Task], view, nominated)
	}
	return d
}

// add adds one role with its pods, which are ordered by index.
func (d *gangDemand) add(role placement.Role, minimum int, tasks []*api.TaskInfo, view resourceView, nominated map[api.TaskID]placement.NodeID) {
	indexes := indexesOf(tasks)
	var pending []*api.TaskInfo
	for i, task := range tasks {
		switch {
		case task.Status == api.Succeeded:
			minimum-- // it counts for the minimum and has no traffic
		case task.Status == api.Pending && task.SchGated:
		case task.Status == api.Pending:
			request := view.Request(task)
			if !slices.Equal(role.Request, request) {
				d.exact = d.exact && role.Request == nil
				role.Request = larger(role.Request, request)
			}
			// Init containers must request no more than the pod does later.
			d.exact = d.exact && (task.InitResreq.LessEqual(task.Resreq, api.Zero) || paddlejob.IsPlaceholder(task))
			if id, ok := nominated[task.UID]; ok {
				role.Placed = append(role.Placed, placement.Placed{Index: indexes[i], Node: id})
				d.claimed = append(d.claimed, placement.Claim{Node: id, Amounts: request})
				continue
			}
			role.Pending = append(role.Pending, indexes[i])
			pending = append(pending, task)
		case hasNode(task):
			// A pod on a node that is not ready is not in the topology: it is no member for now.
			if id, ok := view.Node(task.NodeName); ok {
				role.Placed = append(role.Placed, placement.Placed{Index: indexes[i], Node: id})
			} else {
				minimum--
			}
			if role.Request == nil {
				role.Request = view.Request(task)
			}
		}
	}
	if len(role.Pending)+len(role.Placed) == 0 {
		return
	}
	role.Minimum = max(0, min(minimum, len(role.Pending)+len(role.Placed)))
	d.Roles = append(d.Roles, role)
	d.pending = append(d.pending, pending)
}

// hasNode reports whether a pod has a node, or will have it once pods there have terminated.
func hasNode(task *api.TaskInfo) bool {
	return api.AllocatedStatus(task.Status) || task.Status == api.Pipelined
}

func (d *gangDemand) tasks(found *placement.Plan) []*api.TaskInfo {
	tasks := make([]*api.TaskInfo, len(found.Assignments))
	at := make([]int, len(d.pending))
	for i, a := range found.Assignments {
		for d.Roles[a.Role].Pending[at[a.Role]] != a.Index {
			at[a.Role]++
		}
		tasks[i] = d.pending[a.Role][at[a.Role]]
	}
	return tasks
}

// raiseMinimums raises minimums until they sum to minMember, which counts pods of any role. Workers come first, because their
// number is what may vary. Succeeded pods count for minMember.
func (d *gangDemand) raiseMinimums(minMember int) {
	for r := range d.Roles {
		minMember -= max(d.Roles[r].Minimum, len(d.Roles[r].Placed))
	}
	if minMember <= 0 {
		return
	}
	candidates, left := 0, 0
	for _, workers := range []bool{true, false} {
		for r := range d.Roles {
			role := &d.Roles[r]
			has := max(role.Minimum, len(role.Placed))
			beyond := len(role.Pending) + len(role.Placed) - has
			if (role.CommRole == placement.Worker) != workers || beyond <= 0 {
				continue
			}
			candidates++
			more := min(minMember, beyond)
			if more > 0 {
				role.Minimum = has + more
				minMember -= more
			}
			left += beyond - more
		}
	}
	// Pods that are left, of another role, might have fitted instead.
	d.exact = d.exact && (candidates < 2 || left == 0)
}

var commRoles = map[paddlejob.Role]placement.CommRole{
	paddlejob.Server: placement.Server, paddlejob.Worker: placement.Worker, paddlejob.Heter: placement.PipelineWorker,
	paddlejob.Other: placement.NoTraffic,
}

// patternOf returns the communication pattern of a job, by the roles that it has.
func patternOf(job *api.JobInfo, g paddlejob.Gang) placement.Pattern {
	switch {
	case len(job.Tasks) == 1:
		return placement.Single
	case g.Has(paddlejob.Heter):
		return placement.Pipeline
	case g.Has(paddlejob.Server):
		return placement.ParameterServer
	default:
		return placement.Collective
	}
}

// indexesOf returns the indexes of members: those of the pods, or their positions where pods have none or share one.
func indexesOf(tasks []*api.TaskInfo) []int {
	indexes := make([]int, len(tasks))
	unique := true
	for i, task := range tasks {
		indexes[i] = paddlejob.PodIndex(task)
		unique = unique && indexes[i] >= 0 && (i == 0 || indexes[i] > indexes[i-1])
	}
	for i := 0; !unique && i < len(indexes); i++ {
		indexes[i] = i
	}
	return indexes
}

// larger returns the larger of two amounts for each resource; a may be nil.
func larger(a, b []int64) []int64 {
	if a == nil {
		return b
	}
	amounts := slices.Clone(a)
	for i := range amounts {
		amounts[i] = max(amounts[i], b[i])
	}
	return amounts
}

// Candidate is the demand of a scope for one pending task: the members that have a node, and the task as the only one to be
// placed.
type Candidate struct {
	*placement.Demand
	Role, Index int // of the task
}

// CandidateOf returns the candidate of a task, false if the task is no member of its gang.
func (p *Planner) CandidateOf(task *api.TaskInfo) (Candidate, bool) {
	job := p.Session.Jobs[task.Job]
	s := ScopeOf(job, task)
	d := p.newDemand(job, func(other *api.TaskInfo) bool {
		return s.contains(other) && (other.Status != api.Pending || other.UID == task.UID)
	}, nil)
	for r := range d.Roles {
		if len(d.Roles[r].Pending) > 0 {
			return Candidate{&d.Demand, r, d.Roles[r].Pending[0]}, true
		}
	}
	return Candidate{}, false
}

// PlacedDemand returns the demand of the pods of a gang that are bound, and the topology; false in a session that has not read
// the topology.
func (p *Planner) PlacedDemand(job *api.JobInfo, g paddlejob.Gang) (*placement.Topology, *placement.Demand, bool) {
	t := p.Cache.Topology()
	if !p.synced || t == nil {
		return nil, nil, false
	}
	d := newDemand(job, g, p.Spec(job), p.Cache, func(task *api.TaskInfo) bool { return api.AllocatedStatus(task.Status) }, nil)
	return t, &d.Demand, true
}
