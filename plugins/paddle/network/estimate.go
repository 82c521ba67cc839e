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
	has := before.gpus()
	past := k.past
	// What is remembered had more free than there are now; were there more before, less of it still holds.
	for len(past) > 0 && past[len(past)-1].gpus() < max(gpus, has+1) {
		past = past[:len(past)-1]
	}
	now := slices.Clone(before)
	switch {
	case gpus < has && lasts:
		past = append(past, before)
		toward(now, gpus)
	case gpus > has && len(past) > 0 && past[len(past)-1].gpus() == gpus:
		now = past[len(past)-1]
		past = past[:len(past)-1]
	default:
		toward(now, gpus)
	}
	if lasts {
		k.past = past
	}
	return now
}

// toward changes islands until so many GPUs are free: it takes them as one pod would, or gives them back likewise.
func toward(islands []placement.Island, gpus int) {
	missing := gpus - estimate(islands).gpus()
	if missing < 0 {
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
		return cmp.Or(a.Pod.CreationTimestamp.Compare(b.Pod.CreationTimestamp.Time), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	var gpus []int
	for _, task := range tasks {
		if task.Status != api.Pipelined {
			gpus = append(gpus, c.gpus(c.request(task)))
		}
	}
	return gpus
}
