// SPDX-License-Identifier: Apache-2.0

package network

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
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

var firstNames = []string{string(corev1.ResourceCPU), string(corev1.ResourceMemory), string(corev1.ResourcePods)}

// columns are the resources of the topology: CPU in thousandths, memory in bytes, pods, and scalars in whole units.
type columns struct {
	names        []string
	left         []string // scalars for which there is no room
	accelerators []string
	gpu          []int // columns of accelerators
}

// read is the columns for a session: those that there were, what its jobs ask for, and the accelerators that its nodes
// have. Where these are too many, those of earlier sessions go.
func (c columns) read(v View, known []string) columns {
	wanted := sets.New(v.Scalars...)
	for _, info := range v.Nodes {
		wanted.Insert(accelerators(info, known)...)
	}
	wanted.Delete("").Delete(firstNames...)
	all := wanted.Clone().Insert(c.names...).Delete(firstNames...)
	if all.Len() > maxColumns-firstScalar {
		all = wanted
	}
	scalars := sets.List(all)
	most := min(len(scalars), maxColumns-firstScalar)
	read := columns{names: slices.Concat(firstNames, scalars[:most]), left: scalars[most:]}
	for column, name := range read.names {
		if column >= firstScalar && slices.Contains(known, name) {
			read.accelerators = append(read.accelerators, name)
			read.gpu = append(read.gpu, column)
		}
	}
	return read
}

// accelerators that a node has.
func accelerators(info *api.NodeInfo, known []string) []string {
	var names []string
	for _, name := range known {
		if info.Allocatable != nil && info.Allocatable.ScalarResources[corev1.ResourceName(name)] > 0 {
			names = append(names, name)
		}
	}
	return names
}

// hold tells whether all scalars have a column, or never will.
func (c *columns) hold(scalars []string) bool {
	for _, name := range scalars {
		if name != "" && !slices.Contains(c.names, name) && !slices.Contains(c.left, name) {
			return false
		}
	}
	return true
}

func (c *columns) doubts() []warning {
	return warned("resources that the planner has no room for", c.left, len(c.names)+len(c.left))
}

// free writes the idle amounts, rounded down as far as Volcano's comparison does.
func (c *columns) free(into []int64, idle *api.Resource, slots int) {
	c.freeFirst(into, idle, slots)
	for column := firstScalar; column < len(c.names); column++ {
		into[column] = c.freeScalar(idle, column)
	}
}

func (c *columns) freeFirst(into []int64, idle *api.Resource, slots int) {
	into[cpuColumn], into[memoryColumn] = 0, 0
	if idle != nil {
		into[cpuColumn], into[memoryColumn] = floored(idle.MilliCPU, 1), floored(idle.Memory, 1)
	}
	into[podsColumn] = whole(float64(slots))
}

func (c *columns) freeScalar(idle *api.Resource, column int) int64 {
	if idle == nil {
		return 0
	}
	return floored(idle.ScalarResources[corev1.ResourceName(c.names[column])], scalarUnit)
}

// freeOf writes the idle amounts of many nodes, a row each. What it reads of a session has never been in the processor's
// cache: short loops over many nodes wait for memory together, where a long one waits for each node in turn.
func (c *columns) freeOf(into []int64, infos []*api.NodeInfo) {
	width := len(c.names)
	for i, info := range infos {
		c.freeFirst(into[i*width:], info.Idle, slots(info))
	}
	for column := firstScalar; column < width; column++ {
		for i, info := range infos {
			into[i*width+column] = c.freeScalar(info.Idle, column)
		}
	}
}

// Request is what one pod takes, by the topology's resources: the larger of what it needs to start and to run, rounded
// up, and a pod's slot. nil before the first Follow.
func (n *Network) Request(task *api.TaskInfo) []int64 {
	if n.topology == nil {
		return nil
	}
	return n.columns.request(task)
}

func (c *columns) request(task *api.TaskInfo) []int64 {
	request := make([]int64, len(c.names))
	for _, needs := range []*api.Resource{task.InitResreq, task.Resreq} {
		if needs == nil {
			continue
		}
		request[cpuColumn] = max(request[cpuColumn], ceiled(needs.MilliCPU, 1))
		request[memoryColumn] = max(request[memoryColumn], ceiled(needs.Memory, 1))
		for column := firstScalar; column < len(request); column++ {
			amount := needs.ScalarResources[corev1.ResourceName(c.names[column])]
			request[column] = max(request[column], ceiled(amount, scalarUnit))
		}
	}
	request[podsColumn] = 1
	return request
}

// gpus of a vector of amounts.
func (c *columns) gpus(amounts []int64) int {
	sum := int64(0)
	for _, column := range c.gpu {
		sum += amounts[column]
	}
	return int(sum)
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
