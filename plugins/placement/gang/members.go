// SPDX-License-Identifier: Apache-2.0

package gang

import (
	"fmt"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// PlacedMember is one member on its node.
type PlacedMember struct {
	Role, Index int
	Node        tree.NodeID
	Fixed       bool
}

// Members returns all members that have a node, placed before or by the assignments, in the order of ranks: roles, then indexes.
func (d *Demand) Members(assignments []Assignment) ([]PlacedMember, error) {
	members := len(assignments)
	for r := range d.Roles {
		members += len(d.Roles[r].Placed)
	}
	all := make([]PlacedMember, 0, members)
	next := 0
	for r := range d.Roles {
		role := &d.Roles[r]
		p, pending := 0, 0
		for next < len(assignments) && assignments[next].Role == r || p < len(role.Placed) {
			ours := next < len(assignments) && assignments[next].Role == r
			if p < len(role.Placed) && (!ours || role.Placed[p].Index < assignments[next].Index) {
				all = append(all, PlacedMember{Role: r, Index: role.Placed[p].Index, Node: role.Placed[p].Node, Fixed: true})
				p++
				continue
			}
			a := assignments[next]
			for pending < len(role.Pending) && role.Pending[pending] < a.Index {
				pending++
			}
			if pending == len(role.Pending) || role.Pending[pending] != a.Index {
				return nil, fmt.Errorf("member %d of role %q is not pending, or assigned out of order", a.Index, role.Name)
			}
			pending++
			all = append(all, PlacedMember{Role: r, Index: a.Index, Node: a.Node})
			next++
		}
	}
	if next < len(assignments) {
		return nil, fmt.Errorf("assignment %d, of role number %d, is out of order or of no role", next, assignments[next].Role)
	}
	return all, nil
}

// OnRing returns the members that form the ring of a Collective.
func (d *Demand) OnRing(members []PlacedMember) []PlacedMember {
	ring := make([]PlacedMember, 0, len(members))
	for _, s := range members {
		if d.Roles[s.Role].CommRole == Worker {
			ring = append(ring, s)
		}
	}
	return ring
}

// Class returns the class of a role's members in patterns of flows; -1 if they are silent.
func (d *Demand) Class(role int) int {
	r := &d.Roles[role]
	switch {
	case d.Pattern == Single || d.Pattern == Collective:
	case r.CommRole == Server:
		return ServerClass
	case r.CommRole == Worker:
		return WorkerClass
	case r.CommRole == PipelineWorker && d.Pattern == Pipeline:
		return FirstStageClass + r.Stage - 1
	case r.CommRole == PipelineWorker:
		return WorkerClass
	}
	return -1
}

// ModelBytes returns the bytes of parameters that a step exchanges, 1 where they are not given.
func (d *Demand) ModelBytes() float64 {
	if d.ParameterBytes > 0 {
		return d.ParameterBytes
	}
	return 1
}

// Classes returns the number of classes of members that a demand of flows has.
func (d *Demand) Classes() int {
	most := FirstStageClass
	for r := range d.Roles {
		most = max(most, d.Class(r)+1)
	}
	return most
}

// Classes of members in patterns with flows. FirstStageClass is that of pipeline workers of stage 1; others follow by stage.
const (
	ServerClass = iota
	WorkerClass
	FirstStageClass
)

// Limited reports whether a tier is the highest one for the job.
func (d *Demand) Limited() bool { return d.HighestTier > 0 }

// Colocated reports whether workers must have a server near them.
func (d *Demand) Colocated() bool {
	return d.Colocation == Required && (d.Pattern == ParameterServer || d.Pattern == Pipeline)
}

// ServerTier returns the tier in whose domains workers must have a server, if Colocated.
func (d *Demand) ServerTier() int { return max(tree.NodeTier, d.ColocationTier) }
