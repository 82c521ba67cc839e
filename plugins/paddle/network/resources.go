// SPDX-License-Identifier: Apache-2.0

package network

import (
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"volcano.sh/volcano/pkg/scheduler/api"
)

// The columns that every vector of amounts begins with.
const (
	cpuColumn = iota
	memoryColumn
	podsColumn
	firstScalar
)

const (
	// maxColumns is placement's limit of resources.
	maxColumns = 256
	// maxAmount of one node keeps sums over 100,000 nodes below the largest int64, and is within placement's limit.
	maxAmount = 1 << 46
	// scalarUnit is how many of Volcano's units are one: it counts scalars in thousandths, bytes of storage too.
	scalarUnit = 1000
	// tolerance is a little less than the 0.1 units by which Volcano lets a request exceed what is idle.
	tolerance = 0.09
)

// columns are the resources of the topology: CPU in thousandths, memory in bytes, pods, and scalars in whole units.
type columns struct {
	names        []string
	accelerators []string
	gpu          []int // columns of accelerators
}

// read is the columns for a session: those that were there, what its jobs ask for, and the accelerators that its nodes
// have. Where these are too many, those of earlier sessions go. dropped counts those for which there is no room.
func (c columns) read(v View, accelerators []string) (grown columns, dropped []string) {
	wanted := map[string]bool{}
	for _, name := range v.Scalars {
		wanted[name] = true
	}
	for _, info := range v.Nodes {
		for _, name := range accelerators {
			if !wanted[name] && hasAny(info, name) {
				wanted[name] = true
			}
		}
	}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods, ""} {
		delete(wanted, string(name))
	}
	all := maps.Clone(wanted)
	for _, name := range c.names[min(firstScalar, len(c.names)):] {
		all[name] = true
	}
	if len(all) > maxColumns-firstScalar {
		all = wanted
	}
	scalars := slices.Sorted(maps.Keys(all))
	if most := maxColumns - firstScalar; len(scalars) > most {
		scalars, dropped = scalars[:most], scalars[most:]
	}
	grown.names = append([]string{string(corev1.ResourceCPU), string(corev1.ResourceMemory), string(corev1.ResourcePods)}, scalars...)
	for column, name := range grown.names {
		if column >= firstScalar && slices.Contains(accelerators, name) {
			grown.accelerators = append(grown.accelerators, name)
			grown.gpu = append(grown.gpu, column)
		}
	}
	return grown, dropped
}

// has tells whether all scalars have a column.
func (c columns) has(scalars []string) bool {
	for _, name := range scalars {
		if !slices.Contains(c.names, name) {
			return false
		}
	}
	return true
}

// count tells whether all accelerators that a node has have a column.
func (c columns) count(info *api.NodeInfo, accelerators []string) bool {
	for _, name := range accelerators {
		if hasAny(info, name) && !slices.Contains(c.names, name) {
			return false
		}
	}
	return true
}

func hasAny(info *api.NodeInfo, resource string) bool {
	return info.Allocatable != nil && info.Allocatable.ScalarResources[corev1.ResourceName(resource)] > 0
}

// free writes the idle amounts, rounded down as far as Volcano's comparison does.
func (c columns) free(into []int64, idle *api.Resource, pods int) {
	into[cpuColumn] = floored(idle.MilliCPU, 1)
	into[memoryColumn] = floored(idle.Memory, 1)
	into[podsColumn] = min(max(0, int64(pods)), maxAmount)
	for column := firstScalar; column < len(c.names); column++ {
		into[column] = floored(idle.ScalarResources[corev1.ResourceName(c.names[column])], scalarUnit)
	}
}

// Request is what one pod takes, by the topology's resources: the larger of what it needs to start and to run, rounded
// up, and a pod's slot.
func (n *Network) Request(task *api.TaskInfo) []int64 {
	request := make([]int64, len(n.columns.names))
	if len(request) == 0 {
		return nil
	}
	for _, needs := range []*api.Resource{task.InitResreq, task.Resreq} {
		if needs == nil {
			continue
		}
		request[cpuColumn] = max(request[cpuColumn], ceiled(needs.MilliCPU, 1))
		request[memoryColumn] = max(request[memoryColumn], ceiled(needs.Memory, 1))
		for column := firstScalar; column < len(request); column++ {
			amount := needs.ScalarResources[corev1.ResourceName(n.columns.names[column])]
			request[column] = max(request[column], ceiled(amount, scalarUnit))
		}
	}
	request[podsColumn] = 1
	return request
}

func floored(amount, unit float64) int64 { return whole(math.Floor((amount + tolerance) / unit)) }

func ceiled(amount, unit float64) int64 { return whole(math.Ceil(amount / unit)) }

// whole clamps an amount; what is no number is none.
func whole(amount float64) int64 {
	switch {
	case !(amount > 0):
		return 0
	case amount >= maxAmount:
		return maxAmount
	default:
		return int64(amount)
	}
}
