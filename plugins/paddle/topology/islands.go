// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// maxIslands of a node is placement's limit.
const maxIslands = 64

// islandsOf returns the sizes of a node's islands by what DRA drivers publish, else by the table of products; nil where the
// node is one island. unused is why what is published is not used.
func (c *Cache) islandsOf(info *api.NodeInfo) (sizes []int, unused string) {
	kind, gpus := c.resources.total(info)
	if gpus < 2 {
		return nil, ""
	}
	product := info.Node.Labels[productLabel]
	sizes, err := c.slices.islands(info.Node.Name, product, kind, gpus)
	if err != nil {
		unused = err.Error()
	}
	if sizes == nil {
		sizes = productIslands(product, gpus)
	}
	if len(sizes) < 2 || len(sizes) > maxIslands {
		return nil, unused
	}
	return sizes, unused
}

// total is the GPUs of a node, those that are unhealthy included; 0 where there are several kinds, whose links nothing
// tells.
func (r *resourceIndex) total(info *api.NodeInfo) (kind string, gpus int) {
	for _, name := range r.accelerators {
		var most int64
		for _, amounts := range []*api.Resource{info.Allocatable, info.Capacity} {
			if amounts != nil {
				most = max(most, floored(amounts.ScalarResources[corev1.ResourceName(name)], scalarUnit))
			}
		}
		if most > 0 && gpus > 0 {
			return "", 0
		}
		if most > 0 {
			kind, gpus = name, int(min(most, maxGPUs))
		}
	}
	return kind, gpus
}

// maxGPUs of one island is placement's limit.
const maxGPUs = 1<<15 - 1

func sum(sizes []int) int {
	total := 0
	for _, size := range sizes {
		total += size
	}
	return total
}

// islandWarnings are the warnings about islands.
func islandWarnings(nodes []node) []warning {
	var unused []string
	for i := range nodes {
		if why := nodes[i].info.unusedSlices; why != "" {
			unused = append(unused, nodes[i].name+": "+why)
		}
	}
	return warned("nodes whose ResourceSlices are not used, they do not show each GPU", unused, len(nodes))
}

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
// taken since are thought to be those that the device plugin prefers for one pod. What persistent is remembered, so that a
// pod that is taken back gives back what it took.
func (k *node) estimate(before estimate, gpus int, persistent bool) estimate {
	has := before.gpus()
	history := k.islandHistory
	// What is remembered had more free than there are now; were there more before, less of it still holds.
	for len(history) > 0 && history[len(history)-1].gpus() < max(gpus, has+1) {
		history = history[:len(history)-1]
	}
	now := slices.Clone(before)
	switch {
	case gpus < has && persistent:
		history = append(history, before)
		adjustTo(now, gpus)
	case gpus > has && len(history) > 0 && history[len(history)-1].gpus() == gpus:
		now = history[len(history)-1]
		history = history[:len(history)-1]
	default:
		adjustTo(now, gpus)
	}
	if persistent {
		k.islandHistory = history
	}
	return now
}

// adjustTo changes islands until so many GPUs are free: it takes them as one pod would, or gives them back likewise.
func adjustTo(islands []placement.Island, gpus int) {
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
func (r *resourceIndex) running(info *api.NodeInfo) []int {
	tasks := slices.SortedFunc(maps.Values(info.Tasks), func(a, b *api.TaskInfo) int {
		return cmp.Or(a.Pod.CreationTimestamp.Compare(b.Pod.CreationTimestamp.Time), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	var gpus []int
	for _, task := range tasks {
		if task.Status != api.Pipelined {
			gpus = append(gpus, r.gpus(r.request(task)))
		}
	}
	return gpus
}
