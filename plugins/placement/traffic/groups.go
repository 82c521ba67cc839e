// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
)

// GroupWeight is how many times more a parallel group sends inside than the ring does: with default weights, no saving is
// larger than one group kept in a node.
const GroupWeight = 64

// Weights of the axes of hybrid parallelism: what a rank sends to the next one of its group in a step, as a share of what it
// sends for pipeline parallelism. They follow from the volumes in Narayanan et al., "Efficient Large-Scale Language Model
// Training on GPU Clusters Using Megatron-LM" (SC'21), section 3. They are for l = 10 layers of h = 8192 in a stage, m = 16 micro-batches
// of bs = 4096 tokens and t = 8 tensor parallel ranks, rounded to powers of two:
//
//	tensor      8 l m bs h       four all-reduces of the activations in each layer
//	expert      4 l m bs h       four exchanges of the activations of a rank in each layer, to 8 experts for each token
//	sep         8 l m bs h / t   four exchanges of the activations in each layer, forth and back
//	sharding    24 l h^2 / t     reduce-scatter of the gradients and all-gather of the parameters
//	data        24 l h^2 / t     all-reduce of the gradients
//	pipeline    2 m bs h / t     activations forth and gradients back; up to t times as much where ranks do not send a part each
//
// Which of data and pipeline sends more depends on the model: data sends 12 l h / (m bs) times as much. In the six models of that
// paper's table 1 that have pipeline parallelism (39 to 1008 billion parameters; l 24, 15, 10, 6, 3, 2; h 8192 to 25600; m bs 98304 to
// 1048576) that is 24, 16, 7.5, 4, 1.3 and 0.6, 4.5 in the geometric mean, and tensor sends 30 to 109 times as much as data. So gradients
// go before activations, as in Megatron-LM, whose data parallel ranks are inside of pipeline parallel ones.
const (
	tensorWeight   = 64
	expertWeight   = 32
	sepWeight      = 8
	shardingWeight = 4
	dataWeight     = 4
	pipelineWeight = 1
)

// Axis is a set of groups of ranks that are Stride apart, Size in each; the last ones may be shorter. Each group is a ring, the
// edges of which have a weight.
type Axis struct {
	Size, Stride int
	Weight       int64
}

// Axes of the ranks of a Collective: the ring of all, and parallel groups; or those of hybrid parallelism.
func Axes(d *gang.Demand, ranks int) []Axis {
	if d.Parallelism == (gang.Parallelism{}) {
		axes := []Axis{{max(1, ranks), 1, 1}}
		if d.GroupSize > 1 {
			axes = append(axes, Axis{d.GroupSize, 1, GroupWeight})
		}
		return axes
	}
	var axes []Axis
	h, stride := d.Parallelism, 1
	inside, outside := h.Sharding, 1 // of pipeline
	if h.ShardingFirst {
		inside = min(max(1, h.Expert/max(1, h.Tensor)), max(1, h.Sharding))
		outside = h.Sharding / inside
	}
	for _, a := range []Axis{
		{Size: h.Tensor, Weight: tensorWeight}, {Size: h.Sep, Weight: sepWeight}, {Size: inside, Weight: shardingWeight},
		{Size: h.Pipeline, Weight: pipelineWeight}, {Size: outside, Weight: shardingWeight}, {Size: max(1, ranks), Weight: dataWeight},
	} {
		if a.Size > 1 && stride < ranks {
			axes = append(axes, Axis{a.Size, stride, a.Weight})
			stride *= a.Size
		}
	}
	if d.Parallelism.Expert > 1 {
		axes = append(axes, Axis{d.Parallelism.Expert, 1, expertWeight})
	}
	return axes
}

// Position returns the position of a rank in its group, and the first rank of the group.
func (a Axis) Position(rank int) (position, first int) {
	position = rank / a.Stride % a.Size
	return position, rank - position*a.Stride
}

// Next returns the rank that follows a rank in its group.
func (a Axis) Next(rank, ranks int) int {
	position, first := a.Position(rank)
	if position+1 < a.Size && rank+a.Stride < ranks {
		return rank + a.Stride
	}
	return first
}

// previous returns the rank that a rank follows in its group.
func (a Axis) previous(rank, ranks int) int {
	if position, first := a.Position(rank); position == 0 {
		return first + min(a.Size-1, (ranks-1-first)/a.Stride)*a.Stride
	}
	return rank - a.Stride
}

// endBytes of one end of an edge of weight 1: of a ring of all ranks, or such that data parallel ranks exchange the gradients of
// their part of the model.
func endBytes(d *gang.Demand, ranks int) float64 {
	if ranks < 2 {
		return 0
	}
	if h := d.Parallelism; h != (gang.Parallelism{}) {
		return d.ModelBytes() / float64(max(1, h.Tensor)) / float64(max(1, h.Pipeline)) / dataWeight
	}
	return float64(ranks-1) / float64(ranks) * d.ModelBytes()
}

// groupCuts returns what a cut between two members costs more if it goes through a parallel group: a separate ring that is cut
// has two ends. Where no end of a run is given, as many whole groups as can be are kept together.
func (c *Ring) groupCuts(position int64) int64 {
	if c.Group > 1 && position%c.Length%c.Group != 0 {
		return 2 * GroupWeight
	}
	return 0
}

// PodsPerGroup returns how many pods of the given number of GPUs share no parallel group with others: 1 if each group is inside one pod.
func PodsPerGroup(d *gang.Demand, gpus int) int64 {
	size := d.GroupSize
	if d.Parallelism != (gang.Parallelism{}) {
		size = d.Parallelism.Tensor
	}
	if size <= 1 || gpus%size == 0 {
		return 1
	}
	pods := 1
	for pods*gpus%size != 0 {
		pods++
	}
	return int64(pods)
}

// maxConnected bounds the pods of a ring whose edges are computed.
const maxConnected = 1 << 12

// Edge is what a pod on the ring exchanges with another one, by its position.
type Edge struct {
	Pod    int32
	Weight int64
}

// connect adds up the edges between the ranks of different pods.
func (c *Ring) connect(gpus func(role int) int) {
	var pods []int32 // of each rank
	for i, member := range c.Members {
		for range max(1, gpus(member.Role)) {
			pods = append(pods, int32(i))
		}
	}
	c.Near = make([][]Edge, len(c.Members))
	add := func(from, to int32, weight int64) {
		for i := range c.Near[from] {
			if c.Near[from][i].Pod == to {
				c.Near[from][i].Weight += weight
				return
			}
		}
		c.Near[from] = append(c.Near[from], Edge{to, weight})
	}
	for _, a := range c.Axes {
		for rank, pod := range pods {
			if next := pods[a.Next(rank, len(pods))]; next != pod {
				add(pod, next, a.Weight)
				add(next, pod, a.Weight)
			}
		}
	}
}

// Nearest takes n pods out of a list, one after the other: always the one with the largest edges to those taken, then the
// smallest ones to those left, then the lowest rank. attached has the edges of each pod to those taken; Nearest adds to it, and
// calls taken with each pod. It returns the pods left.
func (c *Ring) Nearest(pods []int32, n int, attached []int64, may func(pod int32) bool, taken func(pod int32)) []int32 {
	loose := make([]int64, len(c.Members))
	for _, pod := range pods {
		for _, e := range c.Near[pod] {
			loose[e.Pod] += e.Weight
		}
	}
	for range n {
		best := -1
		for i, pod := range pods {
			if best >= 0 {
				with := pods[best]
				if attached[pod] < attached[with] || attached[pod] == attached[with] && loose[pod] >= loose[with] {
					continue
				}
			}
			if may(pod) {
				best = i
			}
		}
		pod := pods[best]
		pods = slices.Delete(pods, best, best+1)
		for _, e := range c.Near[pod] {
			attached[e.Pod] += e.Weight
			loose[e.Pod] -= e.Weight
		}
		taken(pod)
	}
	return pods
}

// measure computes how many ends a domain has that holds 0, 1, 2, ... pods near each other.
func (c *Ring) measure() {
	pods, attached := make([]int32, len(c.Members)), make([]int64, len(c.Members))
	for i := range pods {
		pods[i] = int32(i)
	}
	ends := int64(0)
	c.ends = append(make([]int64, 0, len(pods)+1), 0)
	c.Nearest(pods, len(pods), attached, func(int32) bool { return true }, func(pod int32) {
		for _, e := range c.Near[pod] {
			ends += e.Weight
		}
		ends -= 2 * attached[pod]
		c.ends = append(c.ends, ends)
	})
}
