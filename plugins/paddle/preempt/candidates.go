// SPDX-License-Identifier: Apache-2.0

package preempt

import (
	"cmp"
	"slices"

	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
)

// elasticRoles are the roles of which single pods may be evicted while the job trains on. Servers hold parts of the
// parameters and heter workers stages of the model, also those beyond the minimum.
var elasticRoles = map[paddlejob.Role]bool{paddlejob.Worker: true, paddlejob.Other: true}

// evictability is which pods of a running gang may be evicted.
type evictability struct {
	members     []*api.TaskInfo     // pods that hold a node, by rank
	dispensable map[api.TaskID]bool // members that may be evicted one by one
	disrupted   bool                // a pod was evicted without which the others do not train on
}

// newEvictability returns the evictability of a gang of which some pods were evicted in this session. The remainder are pods
// that were evicted only because these were; they do not decide whether the gang is disrupted.
//
// The dispensable pods of an elastic role are those of the highest rank beyond its minimum, as long as the job keeps minMember
// pods. A job with a SubGroupPolicy has none, because each pod may be needed in its group.
func newEvictability(job *api.JobInfo, g paddlejob.Gang, taskRoles paddlejob.RoleMap,
	evicted map[api.TaskID]*api.TaskInfo, remainder map[api.TaskID]*framework.Statement,
) evictability {
	e := evictability{dispensable: map[api.TaskID]bool{}}
	needed := map[string]int32{}       // by group, pods that are missing from its minimum
	elasticGroups := map[string]bool{} // groups whose pods may be evicted one by one
	for _, group := range g {
		needed[group.Task] = group.Min
		elasticGroups[group.Task] = elasticRoles[group.Role] && !job.ContainsSubJobPolicy()
	}
	var count int32
	for _, task := range job.Tasks {
		if !paddlejob.Occupies(task.Status) && remainder[task.UID] == nil {
			continue
		}
		count++
		name, _ := paddlejob.TaskName(task, taskRoles)
		if task.Status == api.Succeeded {
			needed[name]-- // it counts, and cannot be evicted
			continue
		}
		e.members = append(e.members, task)
	}
	slices.SortFunc(e.members, func(a, b *api.TaskInfo) int { return compareMembers(a, b, taskRoles) })

	var beyond []*api.TaskInfo
	for _, task := range e.members {
		name, _ := paddlejob.TaskName(task, taskRoles)
		if needed[name]--; needed[name] < 0 && elasticGroups[name] {
			beyond = append(beyond, task)
		}
	}
	// JobInfo.MinAvailable may be larger: Gang.Apply raises it.
	minimum := max(g.Total(), job.PodGroup.Spec.MinMember)
	most := max(0, int(count-minimum))
	for _, task := range beyond[max(0, len(beyond)-most):] {
		e.dispensable[task.UID] = true
	}

	for _, task := range evicted {
		name, _ := paddlejob.TaskName(task, taskRoles)
		e.disrupted = e.disrupted || !elasticGroups[name] || needed[name] > 0 || count < minimum
	}
	e.members = slices.DeleteFunc(e.members, func(task *api.TaskInfo) bool { return remainder[task.UID] != nil })
	return e
}

// compareMembers orders the pods of one gang by rank. Those that are needed least come last.
func compareMembers(a, b *api.TaskInfo, taskRoles paddlejob.RoleMap) int {
	_, left := paddlejob.TaskName(a, taskRoles)
	_, right := paddlejob.TaskName(b, taskRoles)
	return cmp.Or(cmp.Compare(left.Order(), right.Order()), cmp.Compare(paddlejob.PodIndex(a), paddlejob.PodIndex(b)), cmp.Compare(a.Name, b.Name))
}

// victimCandidates are the pods of one node that may be evicted for one preemptor.
type victimCandidates struct {
	others         []*api.TaskInfo // pods of jobs that are not Paddle's
	alreadyEvicted []*api.TaskInfo // pods of gangs that are disrupted already
	dispensable    []*api.TaskInfo // pods without which their gangs train on
	// gangs returns the gangs that may be evicted as a whole, the least important first. It is slow.
	gangs func() []gangCandidate
	// jointly reports whether some gangs may be evicted in addition to each other and to single pods.
	jointly func(single []*api.TaskInfo, gangs []gangCandidate) bool
}

type gangCandidate struct {
	job  api.JobID
	here []*api.TaskInfo
}

// nonDisruptive returns the pods whose eviction disrupts no gang.
func (c victimCandidates) nonDisruptive() []*api.TaskInfo {
	return slices.Concat(c.alreadyEvicted, c.others, c.dispensable)
}

// selectVictims returns the pods that may be evicted. fits reports whether the preemptor fits once some pods are evicted, and
// cheaperElsewhere whether it fits on another node without disrupting a gang. Gangs are selected only if nothing else is
// enough, and then no more of them than needed, because Volcano evicts pods of the result one by one, in its own order, until
// the preemptor fits.
func (c victimCandidates) selectVictims(fits func([]*api.TaskInfo) bool, cheaperElsewhere func() bool) []*api.TaskInfo {
	switch {
	case fits(nil):
		return c.others // reclaim evicts one pod in any case
	case fits(c.alreadyEvicted):
		return c.alreadyEvicted
	case fits(c.nonDisruptive()):
		return c.nonDisruptive()
	}
	gangs := c.gangs()
	if len(gangs) == 0 || cheaperElsewhere() {
		return c.nonDisruptive()
	}
	single := append(slices.Clone(c.others), c.dispensable...)
	selected := c.selectGangs(gangs, single, func(gangs []gangCandidate) bool { return fits(union(c.nonDisruptive(), gangs)) })
	alone := func(gangs []gangCandidate) bool { return fits(union(c.alreadyEvicted, gangs)) }
	if selected == nil {
		selected = c.selectGangs(gangs, nil, alone) // single pods may use up what may be evicted
	}
	switch {
	case selected == nil:
		return c.nonDisruptive()
	case alone(selected):
		return union(c.alreadyEvicted, selected)
	default:
		return union(c.nonDisruptive(), selected)
	}
}

// selectGangs returns gangs that are enough if they are evicted in addition to single pods, and no more of them than needed; nil if no
// gangs that may be evicted jointly are enough.
func (c victimCandidates) selectGangs(gangs []gangCandidate, single []*api.TaskInfo, enough func([]gangCandidate) bool) []gangCandidate {
	var selected []gangCandidate
	for _, g := range gangs {
		if more := append(slices.Clone(selected), g); c.jointly(single, more) {
			selected = more
		}
		if enough(selected) {
			break
		}
	}
	if !enough(selected) {
		return nil
	}
	for i := 0; i < len(selected); {
		if rest := slices.Delete(slices.Clone(selected), i, i+1); enough(rest) {
			selected = rest
			continue
		}
		i++
	}
	return selected
}

// union returns tasks and the pods of gangs, each once.
func union(tasks []*api.TaskInfo, gangs []gangCandidate) []*api.TaskInfo {
	all := slices.Clone(tasks)
	for _, g := range gangs {
		for _, task := range g.here {
			if !slices.ContainsFunc(tasks, func(other *api.TaskInfo) bool { return other.UID == task.UID }) {
				all = append(all, task)
			}
		}
	}
	return all
}
