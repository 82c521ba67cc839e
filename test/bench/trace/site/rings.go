// SPDX-License-Identifier: Apache-2.0

package site

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

// Rings are the order in which the members of a collective job send to each other.
type Rings string

// Orders of a ring.
const (
	// ByNode is what NCCL does: nodes in the order of their lowest ranks, and all ranks of a node one after the other. So a
	// scheduler that mixes the ranks up pays for it between racks, but not between nodes.
	ByNode Rings = "node"
	// ByRank is the order of the ranks, wherever they are.
	ByRank Rings = "rank"
)

func (r Rings) check() error {
	if r != ByNode && r != ByRank {
		return fmt.Errorf("rings by %q: want %s or %s", string(r), ByNode, ByRank)
	}
	return nil
}

// ring are the assignments of a collective job with its members renamed in the order of the ring; those of another job stay.
func (s *Site) ring(job *cluster.Job, assignments []placement.Assignment) []placement.Assignment {
	if job.Mode != cluster.Collective || s.rings == ByRank {
		return assignments
	}
	lowest := map[placement.NodeID]int{}
	for _, a := range assignments {
		if first, seen := lowest[a.Node]; !seen || a.Index < first {
			lowest[a.Node] = a.Index
		}
	}
	order := slices.Clone(assignments)
	slices.SortFunc(order, func(a, b placement.Assignment) int {
		return cmp.Or(lowest[a.Node]-lowest[b.Node], a.Index-b.Index)
	})
	for i := range order {
		order[i].Index = i
	}
	return order
}
