// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
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

// resourceIndex is the resources of the topology, a column each: CPU in thousandths, memory in bytes, pods, and scalars in whole units.
type resourceIndex struct {
	names        []string
	left         []string // scalars beyond maxColumns
	accelerators []string
	gpu          []int // columns of accelerators
}

// read returns the columns for a session: those of earlier ones, what its jobs request, and the accelerators that its nodes
// have. Where these are too many, those of earlier sessions are dropped.
func (r resourceIndex) read(v SessionView, known []string) resourceIndex {
	wanted := sets.New(v.Scalars...)
	for _, info := range v.Nodes {
		wanted.Insert(accelerators(info, known)...)
	}
	wanted.Delete("").Delete(firstNames...)
	all := wanted.Clone().Insert(r.names...).Delete(firstNames...)
	if all.Len() > maxColumns-firstScalar {
		all = wanted
	}
	scalars := sets.List(all)
	most := min(len(scalars), maxColumns-firstScalar)
	read := resourceIndex{names: slices.Concat(firstNames, scalars[:most]), left: scalars[most:]}
	for column, name := range read.names {
		if column >= firstScalar && slices.Contains(known, name) {
			read.accelerators = append(read.accelerators, name)
			read.gpu = append(read.gpu, column)
		}
	}
	return read
}

func accelerators(info *api.NodeInfo, known []string) []string {
	var names []string
	for _, name := range known {
		if info.Allocatable != nil && info.Allocatable.ScalarResources[corev1.ResourceName(name)] > 0 {
			names = append(names, name)
		}
	}
	return names
}

// covers reports whether all scalars have a column, or never will.
func (r *resourceIndex) covers(scalars []string) bool {
	for _, name := range scalars {
		if name != "" && !slices.Contains(r.names, name) && !slices.Contains(r.left, name) {
			return false
		}
	}
	return true
}

func (r *resourceIndex) warnings() []string {
	return warning("resources beyond the planner's limit", r.left, len(r.names)+len(r.left))
}

// free writes the idle amounts, rounded down as far as Volcano's comparison does.
func (r *resourceIndex) free(into []int64, idle *api.Resource, slots int) {
	clear(into)
	into[podsColumn] = whole(float64(slots))
	if idle == nil {
		return
	}
	into[cpuColumn], into[memoryColumn] = floored(idle.MilliCPU, 1), floored(idle.Memory, 1)
	for column := firstScalar; column < len(r.names); column++ {
		into[column] = floored(idle.ScalarResources[corev1.ResourceName(r.names[column])], scalarUnit)
	}
}

// Request returns what one pod requests, by the topology's resources: the larger of what it needs to start and to run, rounded
// up, and a pod's slot. nil before the first Sync.
func (c *Cache) Request(task *api.TaskInfo) []int64 {
	if c.topology == nil {
		return nil
	}
	return c.resources.request(task)
}

func (r *resourceIndex) request(task *api.TaskInfo) []int64 {
	request := make([]int64, len(r.names))
	for _, needs := range []*api.Resource{task.InitResreq, task.Resreq} {
		if needs == nil {
			continue
		}
		request[cpuColumn] = max(request[cpuColumn], ceiled(needs.MilliCPU, 1))
		request[memoryColumn] = max(request[memoryColumn], ceiled(needs.Memory, 1))
		for column := firstScalar; column < len(request); column++ {
			amount := needs.ScalarResources[corev1.ResourceName(r.names[column])]
			request[column] = max(request[column], ceiled(amount, scalarUnit))
		}
	}
	request[podsColumn] = 1
	return request
}

func (r *resourceIndex) gpus(amounts []int64) int {
	sum := int64(0)
	for _, column := range r.gpu {
		sum += amounts[column]
	}
	return int(sum)
}

func floored(amount, unit float64) int64 { return whole(math.Floor((amount + tolerance) / unit)) }

func ceiled(amount, unit float64) int64 { return whole(math.Ceil(amount / unit)) }

// whole clamps an amount; what is no number is none.
func whole(amount float64) int64 {
	if !(amount > 0) {
		return 0
	}
	return int64(min(amount, maxAmount))
}

// Refresh updates what is free on a node after a task was placed on it or removed in this session. It ignores nodes that
// Sync has not seen.
func (c *Cache) Refresh(info *api.NodeInfo) {
	if id, ok := c.Node(info.Name); ok {
		c.update(id, info)
	}
}

// update sets what is free on a node in the topology.
func (c *Cache) update(id placement.NodeID, info *api.NodeInfo) {
	c.set(id, info.Idle, podSlots(info), func(gpus int) []placement.Island {
		return c.estimate(info, c.nodes[id].info.islands, gpus)
	})
}

// SetFuture sets what will be free on a node once terminating pods are deleted. The caller rolls the topology back.
func (c *Cache) SetFuture(info *api.NodeInfo) {
	id, ok := c.Node(info.Name)
	if !ok {
		return
	}
	slots := podSlots(info)
	for _, task := range info.Tasks {
		if task.Status == api.Releasing {
			slots++
		}
	}
	c.set(id, info.FutureIdle(), slots, func(gpus int) []placement.Island {
		islands := slices.Clone(c.topology.Islands(id))
		adjustTo(islands, gpus)
		return islands
	})
}

func podSlots(info *api.NodeInfo) int {
	if info.Allocatable == nil {
		return 0
	}
	return info.Allocatable.MaxTaskNum - len(info.Tasks)
}

// set sets what is free on a node in the topology, if that has changed. islands returns those of a node with the given number of free
// GPUs.
func (c *Cache) set(id placement.NodeID, idle *api.Resource, slots int, islands func(gpus int) []placement.Island) {
	c.resources.free(c.free, idle, slots)
	c.resources.clamp(c.free, c.nodes[id].info.islands)
	if slices.Equal(c.free, c.topology.Free(placement.DomainID(id))) {
		return
	}
	var spread []placement.Island
	if len(c.nodes[id].info.islands) > 0 {
		spread = islands(c.resources.gpus(c.free))
	}
	if err := c.topology.SetFree(id, c.free, spread); err != nil {
		klog.ErrorS(err, "Failed to update the free resources of a node; the planner uses the previous ones", "node", c.nodes[id].name)
	}
}

// clamp limits the free GPUs to those of the islands, where there are several.
func (r *resourceIndex) clamp(amounts []int64, islands []int) {
	if len(islands) == 0 {
		return
	}
	var left int64
	for _, size := range islands {
		left += int64(size)
	}
	for _, column := range r.gpu {
		amounts[column] = min(amounts[column], left)
		left -= amounts[column]
	}
}

// spec returns a node for placement, but for its domains.
func (c *Cache) spec(kept *node, info *api.NodeInfo) placement.NodeSpec {
	free := make([]int64, len(c.resources.names))
	c.resources.free(free, info.Idle, podSlots(info))
	c.resources.clamp(free, kept.info.islands)
	return placement.NodeSpec{Name: kept.name, Free: free, Islands: c.estimate(info, kept.info.islands, c.resources.gpus(free))}
}
