// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"cmp"
	"slices"

	"volcano.sh/volcano/pkg/scheduler/api"
)

// group is what a gang asks of the pods of one task.
type group struct {
	task string
	role role
	min  int32 // pods without which the job does not start
}

// gang is the groups of one Paddle job, ordered by role and then by task name.
type gang []group

// roleOrder orders groups, and the pods of one gang that are equally needed.
var roleOrder = map[role]int{roleServer: 0, roleHeter: 1, roleWorker: 2, roleOther: 3}

// newGang works out the minimum of each role of a Paddle job from its pods and the PodGroup's minTaskMember and minMember.
// A task for which minTaskMember says nothing needs all pods that it has, but for those that have failed or are ending,
// where needsAllPods; in a PodGroup that a user made it needs none of its own, and counts for minMember.
func newGang(job *api.JobInfo, taskRoles map[string]role) gang {
	roles := map[string]role{}
	for task := range job.TaskMinAvailable {
		roles[task] = taskRoles[task]
	}
	seen := map[string]bool{}
	pods := map[string]int32{}
	for _, task := range job.Tasks {
		name, role := taskName(task, taskRoles)
		// Pods of one task that disagree count as the first in roleOrder, whatever order the map has.
		if !seen[name] || roleOrder[role] < roleOrder[roles[name]] {
			roles[name] = role
		}
		seen[name] = true
		if task.Status == api.Pending || occupies(task.Status) {
			pods[name]++
		}
	}

	all := needsAllPods(job)
	groups := make(gang, 0, len(roles))
	for name, role := range roles {
		minimum, declared := job.TaskMinAvailable[name]
		if !declared && all {
			minimum = pods[name]
		}
		groups = append(groups, group{task: name, role: role, min: minimum})
	}
	slices.SortFunc(groups, func(a, b group) int {
		return cmp.Or(cmp.Compare(roleOrder[a.role], roleOrder[b.role]), cmp.Compare(a.task, b.task))
	})
	if all || len(job.PodGroup.Spec.MinTaskMember) > 0 {
		lowerWorkers(groups, job.MinAvailable)
	}
	return groups
}

// lowerWorkers lets the workers give way to a minMember below the sum of the minimums: nobody else does, for a job
// without one of its servers cannot train. The last task gives way first, and one worker is left. Where workers have no
// minimum at all, the first task takes what the others leave of minMember.
func lowerWorkers(groups gang, minMember int32) {
	var workers []*group
	var declared int32
	for i := range groups {
		if groups[i].role == roleWorker {
			workers = append(workers, &groups[i])
			declared += groups[i].min
		}
	}
	if len(workers) == 0 {
		return
	}
	wanted := max(1, minMember-(groups.total()-declared))
	if declared == 0 {
		workers[0].min = wanted
		return
	}
	if minMember <= 0 { // not set
		return
	}
	slices.Reverse(workers)
	for _, worker := range workers {
		give := min(worker.min, max(0, declared-wanted))
		worker.min -= give
		declared -= give
	}
}

// total is the number of pods without which the job does not start.
func (g gang) total() int32 {
	var sum int32
	for _, group := range g {
		sum += group.min
	}
	return sum
}

// hold writes the minimums into the session's job, so that Volcano's own arithmetic (JobInfo.CheckTaskReady, IsReady and
// their like, which every plugin and action asks) holds this gang: it looks at no role while MinAvailable is below the
// sum of the minimums, and knows no task name of pods that no Volcano Job made.
func (g gang) hold(job *api.JobInfo, taskRoles map[string]role) {
	for _, task := range job.Tasks {
		task.TaskRole, _ = taskName(task, taskRoles)
	}
	for _, group := range g {
		job.TaskMinAvailable[group.task] = group.min
	}
	job.TaskMinAvailableTotal = g.total()
	job.MinAvailable = max(job.MinAvailable, g.members(job))
	if subJob, ok := job.SubJobs[job.DefaultSubJobID()]; ok && !job.ContainsSubJobPolicy() {
		subJob.MinAvailable = job.MinAvailable
	}
}

// members is the number of pods with which the gang is whole. Where a role is short of its minimum, pods that other roles
// have beyond theirs do not make up for it: what only counts pods (JobInfo.IsReady and IsStarving) must not be told so.
func (g gang) members(job *api.JobInfo) int32 {
	bound := map[string]int32{}
	for _, task := range job.Tasks {
		if occupies(task.Status) {
			bound[task.TaskRole]++
		}
	}
	var sum int32
	whole := true
	for _, group := range g {
		whole = whole && bound[group.task] >= group.min
		sum += max(group.min, bound[group.task])
	}
	if whole {
		return g.total()
	}
	return sum
}

// ready tells whether every minimum is bound, or placed in this session. It asks a job whose gang is held.
func ready(job *api.JobInfo) bool {
	return job.CheckTaskReady() && job.CheckSubJobReady() && job.IsReady()
}

// pipelined tells whether every minimum is, or will be once pods that are ending have freed their room.
func pipelined(job *api.JobInfo) bool {
	return job.CheckTaskPipelined() && job.CheckSubJobPipelined() && job.IsPipelined()
}

// taskName is the name by which a pod is counted, and its role. Pods that no Volcano Job made have no task name: they are
// counted by what paddle-operator calls their role.
func taskName(task *api.TaskInfo, taskRoles map[string]role) (string, role) {
	role := podRole(task.Pod, task.TaskRole, taskRoles)
	if task.TaskRole == "" {
		return resourceTypeByRole[role], role
	}
	return task.TaskRole, role
}
