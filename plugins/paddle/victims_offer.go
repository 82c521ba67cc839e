// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"slices"

	"volcano.sh/volcano/pkg/scheduler/api"
)

// offer is the pods of one node that may be evicted for one pod, by the harm that this does.
type offer struct {
	others []*api.TaskInfo // pods of jobs that are not ours
	gone   []*api.TaskInfo // pods of gangs that are evicted as a whole already
	spare  []*api.TaskInfo // pods that their gangs can miss
	// gangs are those that would have to go as a whole, the least important first. To find them takes a while.
	gangs func() []gangOffer
}

// gangOffer is the pods of one gang on the node.
type gangOffer struct {
	job  api.JobID
	here []*api.TaskInfo
}

// cheap is what breaks no gang that is whole.
func (o offer) cheap() []*api.TaskInfo {
	return slices.Concat(o.gone, o.others, o.spare)
}

// pick chooses which pods to offer as victims. fits tells whether evicting some pods makes enough room; elsewhere, whether
// another node has room for the pod without breaking a gang. Whole gangs are offered only if nothing else will do, and
// then no more of them than needed: whatever Volcano picks of the offer, in its own order, one pod at a time, until it has
// room.
func (o offer) pick(fits func([]*api.TaskInfo) bool, elsewhere func() bool) []*api.TaskInfo {
	switch {
	case fits(nil):
		return o.others // reclaim evicts one pod in any case
	case fits(o.gone):
		return o.gone
	case fits(o.cheap()):
		return o.cheap()
	}
	gangs := o.gangs()
	if len(gangs) == 0 || elsewhere() {
		return o.cheap()
	}
	enough := func(gangs []gangOffer) bool { return fits(union(o.cheap(), gangs)) }
	var broken []gangOffer
	for _, g := range gangs {
		if broken = append(broken, g); enough(broken) {
			break
		}
	}
	if !enough(broken) {
		return o.cheap()
	}
	for i := 0; i < len(broken); {
		if rest := slices.Delete(slices.Clone(broken), i, i+1); enough(rest) {
			broken = rest
			continue
		}
		i++
	}
	if alone := union(o.gone, broken); fits(alone) {
		return alone // these go anyway
	}
	return union(o.cheap(), broken)
}

// union is the tasks and all of the gangs' pods, each once.
func union(tasks []*api.TaskInfo, gangs []gangOffer) []*api.TaskInfo {
	all := slices.Clone(tasks)
	seen := map[api.TaskID]bool{}
	for _, task := range tasks {
		seen[task.UID] = true
	}
	for _, g := range gangs {
		for _, task := range g.here {
			if !seen[task.UID] {
				all = append(all, task)
			}
		}
	}
	return all
}
