// SPDX-License-Identifier: Apache-2.0

package network

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// estimate is how many GPUs of each island of a node were thought to be free. Which they are, only the kubelet knows.
type estimate []placement.Island

func (e estimate) gpus() int {
	sum := 0
	for _, island := range e {
		sum += island.Free
	}
	return sum
}

// estimate spreads the free GPUs of a node over its islands, starting from how they were spread before: GPUs that were
// taken since are thought to be those that the device plugin prefers for one pod. What lasts is remembered, so that a
// pod that is taken back gives back what it took.
func (k *node) estimate(before estimate, gpus int, lasts bool) estimate {
	past := k.past
	drop := func(fewer int) {
		for len(past) > 0 && past[len(past)-1].gpus() < fewer {
			past = past[:len(past)-1]
		}
	}
	drop(before.gpus() + 1)
	now := slices.Clone(before)
	switch has := before.gpus(); {
	case gpus < has:
		if lasts {
			past = append(past, before)
		}
		toward(now, gpus)
	case gpus > has:
		drop(gpus)
		if len(past) > 0 && past[len(past)-1].gpus() == gpus {
			now = slices.Clone(past[len(past)-1])
		} else {
			toward(now, gpus)
		}
	}
	if lasts {
		k.past = past
	}
	return now
}

// toward changes islands until so many GPUs are free: it takes them as one pod would, or gives them back likewise.
func toward(islands []placement.Island, gpus int) {
	missing := gpus - estimate(islands).gpus()
	if missing <= 0 {
		placement.PickIslands(islands, -missing)
		return
	}
	used := slices.Clone(islands)
	for i := range used {
		used[i].Free = islands[i].Size - islands[i].Free
	}
	placement.PickIslands(used, missing)
	for i := range used {
		islands[i].Free = islands[i].Size - used[i].Free
	}
}

// running is how many GPUs each pod on a node holds, in the order in which they were created.
func (c *columns) running(info *api.NodeInfo) []int {
	tasks := slices.SortedFunc(maps.Values(info.Tasks), func(a, b *api.TaskInfo) int {
		first := 0
		if a.Pod != nil && b.Pod != nil {
			first = a.Pod.CreationTimestamp.Compare(b.Pod.CreationTimestamp.Time)
		}
		return cmp.Or(first, strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	var gpus []int
	for _, task := range tasks {
		if taken := c.gpus(c.request(task)); taken > 0 && task.Status != api.Pipelined {
			gpus = append(gpus, taken)
		}
	}
	return gpus
}
