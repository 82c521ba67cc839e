// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"cmp"
	"slices"
	"strconv"

	"volcano.sh/volcano/pkg/scheduler/api"
)

// rank is the place of a pending pod among those of its job: less is placed earlier.
type rank struct {
	surplus bool // beyond its role's minimum
	role    int
	index   int
	name    string
}

// ranks gives each pending pod of a gang its rank. Pods beyond a role's minimum come after all that are needed:
// otherwise they take the room that another role's minimum needs, and the gang is put together and discarded for ever.
func ranks(job *api.JobInfo, g gang) map[api.TaskID]rank {
	needed := map[string]int32{}
	role := map[string]int{}
	for _, group := range g {
		needed[group.task] = group.min
		role[group.task] = roleOrder[group.role]
	}
	var pending []*api.TaskInfo
	for _, task := range inOrder(job) {
		switch {
		case task.Status == api.Pending:
			pending = append(pending, task)
		case occupies(task.Status):
			needed[task.TaskRole]--
		}
	}
	result := make(map[api.TaskID]rank, len(pending))
	for _, task := range pending {
		result[task.UID] = rank{
			surplus: needed[task.TaskRole] <= 0,
			role:    role[task.TaskRole],
			index:   podIndex(task),
			name:    task.Name,
		}
		needed[task.TaskRole]--
	}
	return result
}

// compare is negative where r comes before other.
func (r rank) compare(other rank) int {
	if r.surplus != other.surplus {
		if other.surplus {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(r.role, other.role), cmp.Compare(r.index, other.index), cmp.Compare(r.name, other.name))
}

// inOrder is the tasks of a job by index and name.
func inOrder(job *api.JobInfo) []*api.TaskInfo {
	tasks := make([]*api.TaskInfo, 0, len(job.Tasks))
	for _, task := range job.Tasks {
		tasks = append(tasks, task)
	}
	slices.SortFunc(tasks, func(a, b *api.TaskInfo) int {
		return cmp.Or(cmp.Compare(podIndex(a), podIndex(b)), cmp.Compare(a.Name, b.Name))
	})
	return tasks
}

// occupies tells whether a pod of that status counts for its role's minimum, as Volcano counts.
func occupies(status api.TaskStatus) bool {
	return api.AllocatedStatus(status) || status == api.Succeeded
}

// podIndex is the index of a pod in its task, -1 where no Volcano Job made it.
func podIndex(task *api.TaskInfo) int {
	index, err := strconv.Atoi(task.Pod.Annotations[taskIndexKey])
	if err != nil {
		return -1
	}
	return index
}
