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
	// together reports whether gangs may go in addition to each other and to single pods.
	together func(single []*api.TaskInfo, gangs []gangOffer) bool
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
	cheap := append(slices.Clone(o.others), o.spare...)
	broken := o.breaking(gangs, cheap, func(gangs []gangOffer) bool { return fits(union(o.cheap(), gangs)) })
	alone := func(gangs []gangOffer) bool { return fits(union(o.gone, gangs)) }
	if broken == nil {
		broken = o.breaking(gangs, nil, alone) // what goes one by one may use up what may go
	}
	switch {
	case broken == nil:
		return o.cheap()
	case alone(broken):
		return union(o.gone, broken) // these go anyway
	default:
		return union(o.cheap(), broken)
	}
}

// breaking chooses gangs to break beside single pods so that there is enough room, and no more of them than needed. It is
// nil if there are none that may go together and make enough.
func (o offer) breaking(gangs []gangOffer, single []*api.TaskInfo, enough func([]gangOffer) bool) []gangOffer {
	var broken []gangOffer
	for _, g := range gangs {
		if more := append(slices.Clone(broken), g); o.together(single, more) {
			broken = more
		}
		if enough(broken) {
			break
		}
	}
	if !enough(broken) {
		return nil
	}
	for i := 0; i < len(broken); {
		if rest := slices.Delete(slices.Clone(broken), i, i+1); enough(rest) {
			broken = rest
			continue
		}
		i++
	}
	return broken
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
