// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"volcano.sh/volcano/pkg/scheduler/api"
)

func TestPick(t *testing.T) {
	// Each pod frees 1; the gangs a, b and c have 1, 2 and 3 pods here.
	list := func(names ...string) (tasks []*api.TaskInfo) {
		for _, name := range names {
			tasks = append(tasks, &api.TaskInfo{UID: api.TaskID(name), Name: name})
		}
		return tasks
	}
	a, b, c := gangOffer{"a", list("a1")}, gangOffer{"b", list("b1", "b2")}, gangOffer{"c", list("c1", "c2", "c3")}
	for name, test := range map[string]struct {
		offer     offer
		gangs     []gangOffer
		needs     int
		elsewhere bool
		want      []string
	}{
		"there is room": {offer{others: list("o"), gone: list("g"), spare: list("s")}, []gangOffer{a}, 0, false, []string{"o"}},
		"what goes anyway suffices": {
			offer{others: list("o"), gone: list("g1", "g2"), spare: list("s")}, []gangOffer{a}, 2, false, []string{"g1", "g2"},
		},
		"with what can be missed": {
			offer{others: list("o"), gone: list("g"), spare: list("s")}, []gangOffer{a}, 3, false, []string{"g", "o", "s"},
		},
		"nothing suffices":        {offer{others: list("o")}, []gangOffer{a, b}, 5, false, []string{"o"}},
		"nothing suffices, alone": {offer{spare: list("s")}, nil, 5, false, []string{"s"}},
		"not if there is room elsewhere": {
			offer{others: list("o")}, []gangOffer{b}, 2, true, []string{"o"},
		},
		"the least important gang":             {offer{}, []gangOffer{b, c}, 2, false, []string{"b1", "b2"}},
		"the gang that suffices":               {offer{}, []gangOffer{a, b, c}, 3, false, []string{"a1", "b1", "b2"}},
		"no gang that is not needed":           {offer{}, []gangOffer{a, c, b}, 3, false, []string{"c1", "c2", "c3"}},
		"with others":                          {offer{others: list("o")}, []gangOffer{b}, 3, false, []string{"o", "b1", "b2"}},
		"without others, if the gang suffices": {offer{others: list("o"), spare: list("s")}, []gangOffer{c}, 3, false, []string{"c1", "c2", "c3"}},
		"with what goes anyway":                {offer{others: list("o"), gone: list("g")}, []gangOffer{b}, 3, false, []string{"g", "b1", "b2"}},
		"each pod once":                        {offer{spare: list("b2")}, []gangOffer{b, a}, 3, false, []string{"b1", "b2", "a1"}},
	} {
		t.Run(name, func(t *testing.T) {
			test.offer.gangs = func() []gangOffer { return test.gangs }
			test.offer.together = func([]*api.TaskInfo, []gangOffer) bool { return true }
			fits := func(tasks []*api.TaskInfo) bool {
				once := map[api.TaskID]bool{}
				for _, task := range tasks {
					require.False(t, once[task.UID], "%s counts once", task.Name)
					once[task.UID] = true
				}
				return len(tasks) >= test.needs
			}
			var got []string
			for _, task := range test.offer.pick(fits, func() bool { return test.elsewhere }) {
				got = append(got, task.Name)
			}
			require.Equal(t, test.want, got)
		})
	}
}

// Gangs that may not go together, or not with pods that go one by one, are not offered so.
func TestPickTogether(t *testing.T) {
	list := func(names ...string) (tasks []*api.TaskInfo) {
		for _, name := range names {
			tasks = append(tasks, &api.TaskInfo{UID: api.TaskID(name), Name: name})
		}
		return tasks
	}
	a, b, c := gangOffer{"a", list("a1")}, gangOffer{"b", list("b1", "b2")}, gangOffer{"c", list("c1", "c2", "c3")}
	for name, test := range map[string]struct {
		offer offer
		gangs []gangOffer
		never []api.JobID // of these only one may go, and not with pods that go one by one
		needs int
		want  []string
	}{
		"not with each other":        {offer{}, []gangOffer{b, c, a}, []api.JobID{"b", "c"}, 3, []string{"b1", "b2", "a1"}},
		"none that may go together":  {offer{}, []gangOffer{b, a}, []api.JobID{"b", "a"}, 3, nil},
		"not with others":            {offer{gone: list("g"), others: list("o")}, []gangOffer{c}, []api.JobID{"c"}, 4, []string{"g", "c1", "c2", "c3"}},
		"too few without the others": {offer{gone: list("g"), spare: list("s")}, []gangOffer{c}, []api.JobID{"c"}, 5, []string{"g", "s"}},
	} {
		t.Run(name, func(t *testing.T) {
			test.offer.gangs = func() []gangOffer { return test.gangs }
			test.offer.together = func(single []*api.TaskInfo, gangs []gangOffer) bool {
				n := min(1, len(single))
				for _, g := range gangs {
					if slices.Contains(test.never, g.job) {
						n++
					}
				}
				return n < 2
			}
			var got []string
			for _, task := range test.offer.pick(func(tasks []*api.TaskInfo) bool { return len(tasks) >= test.needs }, func() bool { return false }) {
				got = append(got, task.Name)
			}
			require.Equal(t, test.want, got)
		})
	}
}
