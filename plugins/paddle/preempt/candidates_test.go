// SPDX-License-Identifier: Apache-2.0

package preempt

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"volcano.sh/apis/pkg/apis/scheduling"
	"volcano.sh/volcano/pkg/scheduler/api"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
)

func TestNewEvictability(t *testing.T) {
	type statuses = map[string]api.TaskStatus
	for name, test := range map[string]struct {
		minMember     int32
		minTaskMember map[string]int32
		pods          map[string]int
		statuses      statuses
		evicted       []string
		dispensable   []string
		disrupted     bool
	}{
		"no dispensable pod": {4, twoTwo, map[string]int{"ps": 2, "worker": 2}, nil, nil, nil, false},
		"workers beyond the minimum, the last ones": {
			4, twoTwo, map[string]int{"ps": 2, "worker": 12}, statuses{"worker-0": api.Pending}, nil,
			[]string{"worker-10", "worker-11", "worker-3", "worker-4", "worker-5", "worker-6", "worker-7", "worker-8", "worker-9"}, false,
		},
		"never a server, and never a heter worker": {
			2, map[string]int32{"ps": 1, "heter": 0, "worker": 1}, map[string]int{"ps": 3, "heter": 2, "worker": 2}, nil, nil,
			[]string{"worker-1"}, false,
		},
		"other pods of the job before workers": {
			5, map[string]int32{"ps": 1, "worker": 2, "board": 0}, map[string]int{"ps": 1, "worker": 4, "board": 1}, nil, nil,
			[]string{"board-0"}, false,
		},
		"minMember above the sum of the roles": {
			5, twoTwo, map[string]int{"ps": 2, "worker": 5}, nil, nil, []string{"worker-3", "worker-4"}, false,
		},
		"minMember below it": {
			3, twoTwo, map[string]int{"ps": 2, "worker": 2}, nil, nil, []string{"worker-1"}, false,
		},
		"a worker that has succeeded counts and cannot be evicted": {
			4, twoTwo, map[string]int{"ps": 2, "worker": 4}, statuses{"worker-3": api.Succeeded}, nil, []string{"worker-1", "worker-2"}, false,
		},
		"pods that terminate, have failed or wait do not count": {
			4, twoTwo, map[string]int{"ps": 2, "worker": 5},
			statuses{"worker-0": api.Releasing, "worker-1": api.Failed, "worker-2": api.Pending}, nil, nil, false,
		},
		"pods being bound count": {
			4, twoTwo, map[string]int{"ps": 2, "worker": 3}, statuses{"worker-0": api.Binding, "worker-1": api.Bound}, nil, []string{"worker-2"}, false,
		},
		"a gang without one of its servers": {
			4, twoTwo, map[string]int{"ps": 2, "worker": 4}, statuses{"ps-0": api.Pending}, nil, []string{"worker-3"}, false,
		},
		"a dispensable worker was evicted": {
			4, twoTwo, map[string]int{"ps": 2, "worker": 4}, statuses{"worker-3": api.Releasing}, []string{"worker-3"}, []string{"worker-2"}, false,
		},
		"a needed one was evicted": {
			4, twoTwo, map[string]int{"ps": 2, "worker": 2}, statuses{"worker-1": api.Releasing}, []string{"worker-1"}, nil, true,
		},
		"a needed one was evicted, and others are dispensable": {
			3, map[string]int32{"ps": 1, "worker": 2, "board": 0}, map[string]int{"ps": 1, "worker": 2, "board": 2},
			statuses{"worker-1": api.Releasing}, []string{"worker-1"}, []string{"board-1"}, true,
		},
		"a server beyond the minimum was evicted": {
			3, map[string]int32{"ps": 1, "worker": 2}, map[string]int{"ps": 2, "worker": 2}, statuses{"ps-1": api.Releasing}, []string{"ps-1"}, nil, true,
		},
		"one that minMember counts was evicted": {
			5, twoTwo, map[string]int{"ps": 2, "worker": 3}, statuses{"worker-2": api.Releasing}, []string{"worker-2"}, nil, true,
		},
		"terminating, but not evicted in this session": {
			4, twoTwo, map[string]int{"ps": 2, "worker": 2}, statuses{"ps-0": api.Releasing}, nil, nil, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			job := jobInfo(test.minMember, test.minTaskMember, test.pods)
			g := paddlejob.NewGang(job, defaultTaskRoles)
			inStatus(t, job, test.statuses)
			evicted := map[api.TaskID]*api.TaskInfo{}
			var members, dispensable []string
			for _, task := range paddlejob.InOrder(job) {
				name := strings.TrimPrefix(task.Name, "job-")
				if slices.Contains(test.evicted, name) {
					evicted[task.UID] = task
				}
				if api.AllocatedStatus(task.Status) {
					members = append(members, task.Name)
				}
			}
			s := newEvictability(job, g, defaultTaskRoles, evicted, nil)
			var got []string
			for _, task := range s.members {
				got = append(got, task.Name)
				if s.dispensable[task.UID] {
					dispensable = append(dispensable, strings.TrimPrefix(task.Name, "job-"))
				}
			}
			slices.Sort(dispensable)
			require.Equal(t, test.dispensable, dispensable)
			require.Equal(t, test.disrupted, s.disrupted)
			require.ElementsMatch(t, members, got)
		})
	}
}

// Gang.Apply raises the job's own minimum, which must not make workers indispensable.
func TestNewEvictability_OfAppliedGang(t *testing.T) {
	job := inStatus(t, jobInfo(4, twoTwo, map[string]int{"ps": 2, "worker": 4}), map[string]api.TaskStatus{"ps-1": api.Pending})
	g := paddlejob.NewGang(job, defaultTaskRoles)
	g.Apply(job, defaultTaskRoles)
	require.Equal(t, int32(6), job.MinAvailable)
	require.Len(t, newEvictability(job, g, defaultTaskRoles, nil, nil).dispensable, 1)

	job.PodGroup.Spec.SubGroupPolicy = []scheduling.SubGroupPolicySpec{{Name: "pairs"}}
	require.Empty(t, newEvictability(job, g, defaultTaskRoles, nil, nil).dispensable, "each may be needed in its group")
	worker := paddlejob.InOrder(job)[len(paddlejob.InOrder(job))-1]
	require.True(t, newEvictability(job, g, defaultTaskRoles, map[api.TaskID]*api.TaskInfo{worker.UID: worker}, nil).disrupted)
}

func TestCompareMembers(t *testing.T) {
	job := jobInfo(0, nil, map[string]int{"board": 1, "worker": 11, "heter": 1, "ps": 2})
	tasks := paddlejob.InOrder(job)
	slices.SortFunc(tasks, func(a, b *api.TaskInfo) int { return compareMembers(a, b, defaultTaskRoles) })
	var got []string
	for _, task := range tasks {
		got = append(got, strings.TrimPrefix(task.Name, "job-"))
	}
	require.Equal(t, []string{"ps-0", "ps-1", "heter-0", "worker-0", "worker-1", "worker-2", "worker-3", "worker-4", "worker-5",
		"worker-6", "worker-7", "worker-8", "worker-9", "worker-10", "board-0"}, got)
	a, b := api.TaskInfo{Name: "a", Pod: tasks[0].Pod}, api.TaskInfo{Name: "b", Pod: tasks[0].Pod}
	require.Negative(t, compareMembers(&a, &b, defaultTaskRoles), "ties end in names")
}

func TestSelectVictims(t *testing.T) {
	// Each pod frees 1; the gangs a, b and c have 1, 2 and 3 pods here.
	list := func(names ...string) (tasks []*api.TaskInfo) {
		for _, name := range names {
			tasks = append(tasks, &api.TaskInfo{UID: api.TaskID(name), Name: name})
		}
		return tasks
	}
	a, b, c := gangCandidate{"a", list("a1")}, gangCandidate{"b", list("b1", "b2")}, gangCandidate{"c", list("c1", "c2", "c3")}
	for name, test := range map[string]struct {
		candidates victimCandidates
		gangs      []gangCandidate
		needs      int
		elsewhere  bool
		want       []string
	}{
		"the preemptor fits": {victimCandidates{others: list("o"), alreadyEvicted: list("g"), dispensable: list("s")}, []gangCandidate{a}, 0, false, []string{"o"}},
		"what is evicted already is enough": {
			victimCandidates{others: list("o"), alreadyEvicted: list("g1", "g2"), dispensable: list("s")}, []gangCandidate{a}, 2, false, []string{"g1", "g2"},
		},
		"with dispensable pods": {
			victimCandidates{others: list("o"), alreadyEvicted: list("g"), dispensable: list("s")}, []gangCandidate{a}, 3, false, []string{"g", "o", "s"},
		},
		"nothing is enough":        {victimCandidates{others: list("o")}, []gangCandidate{a, b}, 5, false, []string{"o"}},
		"nothing is enough, alone": {victimCandidates{dispensable: list("s")}, nil, 5, false, []string{"s"}},
		"not if the preemptor fits elsewhere": {
			victimCandidates{others: list("o")}, []gangCandidate{b}, 2, true, []string{"o"},
		},
		"the least important gang":              {victimCandidates{}, []gangCandidate{b, c}, 2, false, []string{"b1", "b2"}},
		"the gang that is enough":               {victimCandidates{}, []gangCandidate{a, b, c}, 3, false, []string{"a1", "b1", "b2"}},
		"no gang that is not needed":            {victimCandidates{}, []gangCandidate{a, c, b}, 3, false, []string{"c1", "c2", "c3"}},
		"with others":                           {victimCandidates{others: list("o")}, []gangCandidate{b}, 3, false, []string{"o", "b1", "b2"}},
		"without others, if the gang is enough": {victimCandidates{others: list("o"), dispensable: list("s")}, []gangCandidate{c}, 3, false, []string{"c1", "c2", "c3"}},
		"with what is evicted already":          {victimCandidates{others: list("o"), alreadyEvicted: list("g")}, []gangCandidate{b}, 3, false, []string{"g", "b1", "b2"}},
		"each pod once":                         {victimCandidates{dispensable: list("b2")}, []gangCandidate{b, a}, 3, false, []string{"b1", "b2", "a1"}},
	} {
		t.Run(name, func(t *testing.T) {
			test.candidates.gangs = func() []gangCandidate { return test.gangs }
			test.candidates.jointly = func([]*api.TaskInfo, []gangCandidate) bool { return true }
			fits := func(tasks []*api.TaskInfo) bool {
				once := map[api.TaskID]bool{}
				for _, task := range tasks {
					require.False(t, once[task.UID], "%s counts once", task.Name)
					once[task.UID] = true
				}
				return len(tasks) >= test.needs
			}
			var got []string
			for _, task := range test.candidates.selectVictims(fits, func() bool { return test.elsewhere }) {
				got = append(got, task.Name)
			}
			require.Equal(t, test.want, got)
		})
	}
}

// Gangs that may not be evicted jointly, or not with single pods, are not selected so.
func TestSelectVictims_Jointly(t *testing.T) {
	list := func(names ...string) (tasks []*api.TaskInfo) {
		for _, name := range names {
			tasks = append(tasks, &api.TaskInfo{UID: api.TaskID(name), Name: name})
		}
		return tasks
	}
	a, b, c := gangCandidate{"a", list("a1")}, gangCandidate{"b", list("b1", "b2")}, gangCandidate{"c", list("c1", "c2", "c3")}
	for name, test := range map[string]struct {
		candidates victimCandidates
		gangs      []gangCandidate
		never      []api.JobID // of these only one may be evicted, and not with single pods
		needs      int
		want       []string
	}{
		"not with each other":              {victimCandidates{}, []gangCandidate{b, c, a}, []api.JobID{"b", "c"}, 3, []string{"b1", "b2", "a1"}},
		"none that may be evicted jointly": {victimCandidates{}, []gangCandidate{b, a}, []api.JobID{"b", "a"}, 3, nil},
		"not with others":                  {victimCandidates{alreadyEvicted: list("g"), others: list("o")}, []gangCandidate{c}, []api.JobID{"c"}, 4, []string{"g", "c1", "c2", "c3"}},
		"too few without the others":       {victimCandidates{alreadyEvicted: list("g"), dispensable: list("s")}, []gangCandidate{c}, []api.JobID{"c"}, 5, []string{"g", "s"}},
	} {
		t.Run(name, func(t *testing.T) {
			test.candidates.gangs = func() []gangCandidate { return test.gangs }
			test.candidates.jointly = func(single []*api.TaskInfo, gangs []gangCandidate) bool {
				n := min(1, len(single))
				for _, g := range gangs {
					if slices.Contains(test.never, g.job) {
						n++
					}
				}
				return n < 2
			}
			var got []string
			for _, task := range test.candidates.selectVictims(func(tasks []*api.TaskInfo) bool { return len(tasks) >= test.needs }, func() bool { return false }) {
				got = append(got, task.Name)
			}
			require.Equal(t, test.want, got)
		})
	}
}
