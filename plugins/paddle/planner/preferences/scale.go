// SPDX-License-Identifier: Apache-2.0

package preferences

import (
	"math"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// Scale combines three ranks of penalties into one number: a node on which a pod of the job failed weighs more than the soft
// constraints of all its pods, and these weigh more than leaving the nodes that the pods had.
type Scale struct {
	step int64 // more than all pods of the job can have of the rank below
	most int64 // the largest penalty of a soft constraint
	top  int64 // what it is scaled down to, if the ranks would not fit else
}

// maxStep bounds the members for which the order of ranks is strict. It leaves 2,000 values for soft constraints, twice what
// nodeorder's default weights make of one constraint of each kind.
const maxStep = 1024

// NewScale returns the scale for a job of so many pending members whose soft constraints have penalties up to most.
func NewScale(members int, most int32) Scale {
	s := Scale{step: int64(min(members, maxStep)) + 1, most: int64(most)}
	s.top = min(s.most, (math.MaxInt32/(s.step+1)-1)/s.step)
	return s
}

// Penalties returns the penalty of each node, nil if there are none. own are those of soft constraints by NodeID, or nil.
// Nodes that are not among previous, if any are, have a penalty of 1.
func (s Scale) Penalties(nodes int, own []int32, previous, failed []placement.NodeID) []int32 {
	if len(previous) == 0 && len(failed) == 0 {
		return own
	}
	penalties := make([]int32, nodes)
	for id, penalty := range own {
		scaled := int64(penalty)
		if s.most > s.top {
			scaled = (scaled*s.top + s.most - 1) / s.most
		}
		penalties[id] = int32(scaled * s.step)
	}
	if len(previous) > 0 {
		for id := range penalties {
			penalties[id]++
		}
		for _, id := range previous {
			penalties[id]--
		}
	}
	for _, id := range failed {
		penalties[id] += int32((s.top*s.step + 1) * s.step)
	}
	return penalties
}
