// SPDX-License-Identifier: Apache-2.0

package job

import (
	"cmp"
	"slices"
	"strconv"

	"volcano.sh/volcano/pkg/scheduler/api"
)

// Group is what a gang needs of the pods of one task.
type Group struct {
	Task string
	Role Role
	Min  int32 // pods without which the job does not start
}

// Gang is the groups of one Paddle job, ordered by role and then by task name.
type Gang []Group

// NewGang returns the gang of a Paddle job: the minimum of each role by its pods and the PodGroup's minTaskMember and
// minMember. A task without a minTaskMember needs all of its pods that have not failed and are not ending, where
// needsAllPods; in a PodGroup that a user made it needs none of its own, and its pods count for minMember.
func NewGang(job *api.JobInfo, roles RoleMap) Gang {
	found := map[string]Role{}
	for task := range job.TaskMinAvailable {
		found[task] = roles[task]
	}
	seen := map[string]bool{}
	pods := map[string]int32{}
	for _, task := range job.Tasks {
		name, role := TaskName(task, roles)
		// Pods of one task that disagree count as the first in roleOrder, because the map has no order.
		if !seen[name] || roleOrder[role] < roleOrder[found[name]] {
			found[name] = role
		}
		seen[name] = true
		if task.Status == api.Pending || Occupies(task.Status) {
			pods[name]++
		}
	}

	all := needsAllPods(job)
	groups := make(Gang, 0, len(found))
	for name, role := range found {
		minimum, declared := job.TaskMinAvailable[name]
		if !declared && all {
			minimum = pods[name]
		}
		groups = append(groups, Group{Task: name, Role: role, Min: minimum})
	}
	slices.SortFunc(groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(roleOrder[a.Role], roleOrder[b.Role]), cmp.Compare(a.Task, b.Task))
	})
	if all || len(job.PodGroup.Spec.MinTaskMember) > 0 {
		lowerWorkers(groups, job.MinAvailable)
	}
	return groups
}

// lowerWorkers lowers the minimum of workers where minMember is below the sum of the minimums. Other roles keep their minimums: a
// job without one of its servers cannot train. The last task is lowered first, and one worker is left. Where workers have no
// minimum at all, the first task takes what the others leave of minMember.
func lowerWorkers(groups Gang, minMember int32) {
	var workers []*Group
	var declared int32
	for i := range groups {
		if groups[i].Role == Worker {
			workers = append(workers, &groups[i])
			declared += groups[i].Min
		}
	}
	if len(workers) == 0 {
		return
	}
	wanted := max(1, minMember-(groups.Total()-declared))
	if declared == 0 {
		workers[0].Min = wanted
		return
	}
	if minMember <= 0 { // not set
		return
	}
	slices.Reverse(workers)
	for _, worker := range workers {
		give := min(worker.Min, max(0, declared-wanted))
		worker.Min -= give
		declared -= give
	}
}

// Total returns the number of pods without which the job does not start.
func (g Gang) Total() int32 {
	var sum int32
	for _, group := range g {
		sum += group.Min
	}
	return sum
}

// Has reports whether the gang has a group of a role.
func (g Gang) Has(role Role) bool {
	return slices.ContainsFunc(g, func(group Group) bool { return group.Role == role })
}

// Apply writes the minimums into the session's job, so that Volcano's own arithmetic (JobInfo.CheckTaskReady, IsReady and
// their like, which every plugin and action calls) counts this gang. That arithmetic ignores roles while MinAvailable is below the
// sum of the minimums, and knows no task name of pods that no Volcano Job made.
func (g Gang) Apply(job *api.JobInfo, roles RoleMap) {
	for _, task := range job.Tasks {
		task.TaskRole, _ = TaskName(task, roles)
	}
	for _, group := range g {
		job.TaskMinAvailable[group.Task] = group.Min
	}
	job.TaskMinAvailableTotal = g.Total()
	job.MinAvailable = max(job.MinAvailable, g.EffectiveMinimum(job))
	if subJob, ok := job.SubJobs[job.DefaultSubJobID()]; ok && !job.ContainsSubJobPolicy() {
		subJob.MinAvailable = job.MinAvailable
	}
}

// EffectiveMinimum returns the number of pods with which the gang is whole. Where a role is short of its minimum, pods that other roles
// have beyond their minimums do not make up for it: what only counts pods (JobInfo.IsReady and IsStarving) must not see that.
func (g Gang) EffectiveMinimum(job *api.JobInfo) int32 {
	bound := map[string]int32{}
	for _, task := range job.Tasks {
		if Occupies(task.Status) {
			bound[task.TaskRole]++
		}
	}
	var sum int32
	whole := true
	for _, group := range g {
		whole = whole && bound[group.Task] >= group.Min
		sum += max(group.Min, bound[group.Task])
	}
	if whole {
		return g.Total()
	}
	return sum
}

// Ready reports whether every minimum is bound, or placed in this session, of a job to which its gang was applied.
func Ready(job *api.JobInfo) bool {
	return job.CheckTaskReady() && job.CheckSubJobReady() && job.IsReady()
}

// Pipelined reports whether every minimum is, or will be once pods that are ending have freed their capacity.
func Pipelined(job *api.JobInfo) bool {
	return job.CheckTaskPipelined() && job.CheckSubJobPipelined() && job.IsPipelined()
}

// TaskName returns the name by which a pod is counted, and its role. Pods that no Volcano Job made have no task name: they are
// counted by what paddle-operator calls their role.
func TaskName(task *api.TaskInfo, roles RoleMap) (string, Role) {
	role := PodRole(task.Pod, task.TaskRole, roles)
	if task.TaskRole == "" {
		return resourceTypeByRole[role], role
	}
	return task.TaskRole, role
}

// Rank is the place of a pending pod among those of its job: less is placed earlier.
type Rank struct {
	// Surplus reports whether the pod is beyond its role's minimum.
	Surplus bool
	role    int
	index   int
	name    string
}

// Ranks returns the rank of each pending pod of a gang. Pods beyond a role's minimum come after all that are needed:
// otherwise they take the capacity that another role's minimum needs, and the gang is discarded in each session.
func Ranks(job *api.JobInfo, g Gang) map[api.TaskID]Rank {
	needed := map[string]int32{}
	role := map[string]int{}
	for _, group := range g {
		needed[group.Task] = group.Min
		role[group.Task] = roleOrder[group.Role]
	}
	var pending []*api.TaskInfo
	for _, task := range InOrder(job) {
		switch {
		case task.Status == api.Pending:
			pending = append(pending, task)
		case Occupies(task.Status):
			needed[task.TaskRole]--
		}
	}
	result := make(map[api.TaskID]Rank, len(pending))
	for _, task := range pending {
		result[task.UID] = Rank{
			Surplus: needed[task.TaskRole] <= 0,
			role:    role[task.TaskRole],
			index:   PodIndex(task),
			name:    task.Name,
		}
		needed[task.TaskRole]--
	}
	return result
}

// Compare returns a negative number if r is placed before other.
func (r Rank) Compare(other Rank) int {
	switch {
	case other.Surplus && !r.Surplus:
		return -1
	case r.Surplus && !other.Surplus:
		return 1
	}
	return cmp.Or(cmp.Compare(r.role, other.role), cmp.Compare(r.index, other.index), cmp.Compare(r.name, other.name))
}

// InOrder returns the tasks of a job by index and name.
func InOrder(job *api.JobInfo) []*api.TaskInfo {
	type indexed struct {
		task  *api.TaskInfo
		index int
	}
	sorted := make([]indexed, 0, len(job.Tasks))
	for _, task := range job.Tasks {
		sorted = append(sorted, indexed{task, PodIndex(task)})
	}
	slices.SortFunc(sorted, func(a, b indexed) int {
		return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.task.Name, b.task.Name))
	})
	tasks := make([]*api.TaskInfo, len(sorted))
	for i := range sorted {
		tasks[i] = sorted[i].task
	}
	return tasks
}

// Occupies reports whether a pod of that status counts for its role's minimum, as Volcano counts.
func Occupies(status api.TaskStatus) bool {
	return api.AllocatedStatus(status) || status == api.Succeeded
}

// PodIndex returns the index of a pod in its task or in its Job of Kubernetes, -1 where neither made it.
func PodIndex(task *api.TaskInfo) int {
	annotations := task.Pod.Annotations
	index, err := strconv.Atoi(cmp.Or(annotations[TaskIndexKey], annotations[CompletionIndexKey]))
	if err != nil {
		return -1
	}
	return index
}
