// SPDX-License-Identifier: Apache-2.0

// Package gang holds one job as the planner sees it: its roles and their members, how these communicate, and its limits.
//
// Demand.Validate refuses what cannot be planned.
package gang

import (
	"fmt"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// Pattern is which members communicate in each step of training.
type Pattern int

const (
	// Single members do not communicate.
	Single Pattern = iota
	// ParameterServer workers exchange all parameters with the servers, each server holding an equal share.
	ParameterServer
	// Collective workers all-reduce the parameters along the ring of their ranks.
	Collective
	// Pipeline adds to ParameterServer pipeline workers by stage: each stage exchanges activations with the next one.
	Pipeline
)

// CommRole is the part that a role has in the communication pattern.
type CommRole int

const (
	// NoTraffic members exchange nothing that counts; they are placed like any other.
	NoTraffic CommRole = iota
	// Server members hold parameters.
	Server
	// Worker members train; in a Collective they are the ranks.
	Worker
	// PipelineWorker members train a later stage of the model; Role.Stage says which.
	PipelineWorker
)

// Colocation is how much it counts that servers and workers are near each other.
type Colocation int

const (
	// Preferred lets the cost decide.
	Preferred Colocation = iota
	// Required puts no worker into a domain of tier ColocationTier that holds none of the job's servers. It binds workers
	// of patterns with servers only.
	Required
	// None leaves traffic out of account: preferences and the least fragmentation decide.
	None
)

// Placed is a member that has its node already. It stays there and counts in the cost.
type Placed struct {
	Index int
	Node  tree.NodeID
}

// Role is a set of members with equal pods.
type Role struct {
	Name     string
	CommRole CommRole
	// Stage of pipeline workers, from 1.
	Stage int
	// Request of one pod, one amount for each resource of the topology; its accelerators are the pod's GPUs.
	Request []int64
	// Pending are the indexes of the members to place, ascending. Ranks follow roles in their order, then indexes.
	Pending []int
	// Placed members, ascending by index.
	Placed []Placed
	// Minimum of members, placed ones included, without which there is no plan. Pending members beyond it are placed as
	// far as they fit.
	Minimum int
	// Eligible nodes; nil means all.
	Eligible *tree.NodeSet
	// Penalty of each node for one member of this role, 0 or more: what soft affinity and nodes to come last amount to. It
	// counts after traffic. nil means none.
	Penalty []int32
}

// Demand is one job: what is to be placed, how it communicates, and what is not allowed.
type Demand struct {
	Pattern Pattern
	Roles   []Role
	// ParameterBytes that a step exchanges: M of the model. 0 means 1: costs are then in sizes of the model.
	ParameterBytes float64
	// GroupSize is how many consecutive ranks (GPUs; pods, where they have none) make one tensor or pipeline parallel group
	// of a Collective. 0 or 1 means none.
	GroupSize int
	// Parallelism of a Collective; without any degree GroupSize counts.
	Parallelism Parallelism
	// HighestTier within one domain of which all members must be, from NodeTier; 0 means no limit.
	HighestTier int
	Colocation  Colocation
	// ColocationTier of Required, from NodeTier; 0 means NodeTier.
	ColocationTier int
}

// Parallelism are the degrees of hybrid parallelism as Paddle's fleet has them; 0 is 1. What they leave of the ranks is data parallel.
//
// Ranks are numbered as fleet's CommunicateTopology numbers them: tensor parallel ranks follow each other, then come sep,
// sharding, pipeline, and data outermost. Expert parallel groups are that many consecutive ranks.
type Parallelism struct {
	Pipeline, Sharding, Sep, Tensor, Expert int
	// ShardingFirst has sharding outside of pipeline. With Expert only as much of it is outside as has its own expert parallel
	// groups, as in fleet's EPHybridCommunicateGroup.
	ShardingFirst bool
}

// Assignment is one pending member and its node.
type Assignment struct {
	// Role is a position in Demand.Roles, Index the member's.
	Role, Index int
	Node        tree.NodeID
}

// Member of a demand: Role is a position in Demand.Roles.
type Member struct{ Role, Index int }

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
		placed, pending := role.Placed, role.Pending
		for ; next < len(assignments) && assignments[next].Role == r; next++ {
			a := assignments[next]
			for ; len(placed) > 0 && placed[0].Index < a.Index; placed = placed[1:] {
				all = append(all, PlacedMember{Role: r, Index: placed[0].Index, Node: placed[0].Node, Fixed: true})
			}
			at := slices.Index(pending, a.Index)
			if at < 0 {
				return nil, fmt.Errorf("member %d of role %q is not pending, or assigned out of order", a.Index, role.Name)
			}
			all, pending = append(all, PlacedMember{Role: r, Index: a.Index, Node: a.Node}), pending[at+1:]
		}
		for _, p := range placed {
			all = append(all, PlacedMember{Role: r, Index: p.Index, Node: p.Node, Fixed: true})
		}
	}
	if next < len(assignments) {
		return nil, fmt.Errorf("assignment %d, of role number %d, is out of order or of no role", next, assignments[next].Role)
	}
	return all, nil
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
