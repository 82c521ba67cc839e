// SPDX-License-Identifier: Apache-2.0

package job

import (
	"cmp"
	"slices"
	"strconv"

	"volcano.sh/volcano/pkg/scheduler/api"
)

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
	if r.Surplus != other.Surplus {
		if other.Surplus {
			return -1
		}
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
