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

// total returns the GPUs of a node, unhealthy ones included; 0 for a node with several kinds, whose links are not known.
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

// islandWarnings returns the warnings about islands.
func islandWarnings(nodes []node) []warning {
	var unused []string
	for i := range nodes {
		if why := nodes[i].info.unusedSlices; why != "" {
			unused = append(unused, nodes[i].name+": "+why)
		}
	}
	return warned("nodes whose ResourceSlices are not used, they do not show each GPU", unused, len(nodes))
}

// estimate returns the islands of a node that has so many free GPUs. Which GPUs a pod has, only the kubelet knows: pods are
// assumed to have come in the order of their creation, and each to have the GPUs that the device plugin prefers.
func (c *Cache) estimate(info *api.NodeInfo, sizes []int, gpus int) []placement.Island {
	if len(sizes) == 0 {
		return nil
	}
	islands := make([]placement.Island, len(sizes))
	for i, size := range sizes {
		islands[i] = placement.Island{Size: size, Free: size}
	}
	for _, taken := range c.resources.running(info) {
		placement.PickIslands(islands, taken)
	}
	adjustTo(islands, gpus)
	return islands
}

// adjustTo changes islands until so many GPUs are free: it takes them as one pod would, or gives them back likewise.
func adjustTo(islands []placement.Island, gpus int) {
	missing := gpus - freeGPUs(islands)
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

func freeGPUs(islands []placement.Island) (sum int) {
	for _, island := range islands {
		sum += island.Free
	}
	return sum
}

// running returns how many GPUs each pod on a node holds, in the order in which they were created.
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
