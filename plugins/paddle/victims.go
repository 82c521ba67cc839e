// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"cmp"
	"slices"

	"volcano.sh/volcano/pkg/scheduler/api"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
)

// elastic tells of which roles single pods may go while the job trains on. Servers hold parts of the parameters and heter
// workers stages of the model, also those that came on top of the minimum: once they take part, none can be missed.
var elastic = map[paddlejob.Role]bool{paddlejob.Worker: true, paddlejob.Other: true}

// standing is what may be taken from a running gang.
type standing struct {
	members []*api.TaskInfo     // pods that hold a node, by rank
	spare   map[api.TaskID]bool // those of them that may go one by one
	broken  bool                // a pod was evicted without which the others do not train
}

// newStanding works out what may be taken from a gang after some of its pods were evicted in this session. What was evicted
// only because they were, the rest, tells nothing about whether the gang can miss them.
//
// The pods to spare are, for each elastic role, those of the highest rank beyond its minimum, and not more than would
// leave the job with minMember pods. A job with a SubGroupPolicy has none: each may be needed in its group.
func newStanding(job *api.JobInfo, g paddlejob.Gang, taskRoles paddlejob.RoleMap, evicted, rest map[api.TaskID]bool) standing {
	s := standing{spare: map[api.TaskID]bool{}}
	needed := map[string]int32{} // of a group, what is still short of its minimum
	loose := map[string]bool{}   // groups whose pods may go one by one
	for _, group := range g {
		needed[group.Task] = group.Min
		loose[group.Task] = elastic[group.Role] && !job.ContainsSubJobPolicy()
	}
	var count int32
	for _, task := range job.Tasks {
		if !paddlejob.Occupies(task.Status) && !rest[task.UID] {
			continue
		}
		count++
		name, _ := paddlejob.TaskName(task, taskRoles)
		if task.Status == api.Succeeded {
			needed[name]-- // it counts, and cannot be taken
			continue
		}
		s.members = append(s.members, task)
	}
	slices.SortFunc(s.members, func(a, b *api.TaskInfo) int { return compareMembers(a, b, taskRoles) })

	var beyond []*api.TaskInfo
	for _, task := range s.members {
		name, _ := paddlejob.TaskName(task, taskRoles)
		if needed[name]--; needed[name] < 0 && loose[name] {
			beyond = append(beyond, task)
		}
	}
	most := max(0, int(count-minimumOf(job, g)))
	for _, task := range beyond[max(0, len(beyond)-most):] {
		s.spare[task.UID] = true
	}

	for id := range evicted {
		name, _ := paddlejob.TaskName(job.Tasks[id], taskRoles)
		s.broken = s.broken || !loose[name] || needed[name] > 0 || count < minimumOf(job, g)
	}
	s.members = slices.DeleteFunc(s.members, func(task *api.TaskInfo) bool { return rest[task.UID] })
	return s
}

// minimumOf is the number of pods with which a gang is whole. JobInfo.MinAvailable may have been raised by gang.hold.
func minimumOf(job *api.JobInfo, g paddlejob.Gang) int32 {
	if job.PodGroup == nil {
		return g.Total()
	}
	return max(g.Total(), job.PodGroup.Spec.MinMember)
}

// compareNames orders pods by name.
func compareNames(a, b *api.TaskInfo) int { return cmp.Compare(a.Name, b.Name) }

// compareMembers orders the pods of one gang by rank: what is needed least comes last.
func compareMembers(a, b *api.TaskInfo, taskRoles paddlejob.RoleMap) int {
	_, left := paddlejob.TaskName(a, taskRoles)
	_, right := paddlejob.TaskName(b, taskRoles)
	return cmp.Or(cmp.Compare(left.Order(), right.Order()), cmp.Compare(paddlejob.PodIndex(a), paddlejob.PodIndex(b)), cmp.Compare(a.Name, b.Name))
}
