// SPDX-License-Identifier: Apache-2.0

// Package placement plans on which node each member of one training job goes.
//
// The input is a Topology (a tree of domains with what is free on each node) and a Demand (roles with pending and placed
// members, how they communicate, and limits). Solve returns a node for each pending member and the cost of the plan on
// every tier of the tree. Diagnose returns why there is no plan. The package imports nothing of Kubernetes or Volcano,
// reads no clock and draws no random numbers: equal input gives an equal plan.
//
// Amounts are whole numbers in units of the caller's choice, one for each of Topology.Resources. Traffic is in bytes per
// training step; with Demand.ParameterBytes 0 it is in sizes of the model.
//
// The types are those of the packages below: tree (the cluster), gang (the job), traffic (the cost), internal/solver (the
// plan) and internal/diagnose (why there is none). deploy/docs/design/planner.md derives the model with an example to check by hand.
package placement

import (
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/internal/diagnose"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/internal/solver"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/traffic"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// Types of the cluster.
type (
	// Topology is a tree of domains with the free amounts of its nodes.
	Topology = tree.Topology
	// TopologySpec describes a cluster; NewTopology builds a Topology of it.
	TopologySpec = tree.Spec
	// NodeSpec is one node.
	NodeSpec = tree.NodeSpec
	// Island is a set of a node's GPUs that are joined by links much faster than the node's bus, as NVLink.
	Island = tree.Island
	// Tier is one level of the tree.
	Tier = tree.Tier
	// NodeID is a node of one Topology.
	NodeID = tree.NodeID
	// DomainID is a domain of one Topology; nodes are domains too.
	DomainID = tree.DomainID
	// NodeSet is a set of nodes of one Topology.
	NodeSet = tree.NodeSet
	// Claim is what one pod took of a node.
	Claim = tree.Claim
)

const (
	// IslandTier is the tier of the islands inside nodes.
	IslandTier = tree.IslandTier
	// NodeTier is the tier of the nodes.
	NodeTier = tree.NodeTier
	// NoDomain is the parent of the root.
	NoDomain = tree.NoDomain
)

// NewTopology builds a topology. It keeps nothing of the spec. It returns an error for a spec that contradicts itself.
func NewTopology(spec TopologySpec) (*Topology, error) { return tree.New(spec) }

// NewNodeSet returns an empty set of a topology's nodes.
func NewNodeSet(t *Topology) *NodeSet { return tree.NewNodeSet(t) }

// DefaultTiers returns the tiers island and node, and then one for each name, nearest first. The weight of a byte is 1/4 at
// the island, 1 at the node, and four times as much at each tier above. Bandwidths are 0: only their ratios would matter.
func DefaultTiers(above ...string) []Tier { return tree.DefaultTiers(above...) }

// PickIslands takes a pod's GPUs from a node's islands as the kubelet's device plugins prefer to: from the fullest island
// that holds them all, else from as few as will do. It lowers their free GPUs and returns the island of each GPU.
func PickIslands(islands []Island, gpus int) []int { return tree.PickIslands(islands, gpus) }

// Types of the job.
type (
	// Demand is one job: the members to place, how they communicate, and its limits.
	Demand = gang.Demand
	// Role is a set of members with equal pods.
	Role = gang.Role
	// Placed is a member that has its node already.
	Placed = gang.Placed
	// Member of a demand.
	Member = gang.Member
	// Assignment is one pending member and its node.
	Assignment = gang.Assignment
	// Parallelism are the degrees of hybrid parallelism of a Collective.
	Parallelism = gang.Parallelism
	// Pattern is which members communicate in each step of training.
	Pattern = gang.Pattern
	// CommRole is what the members of a role do in a pattern.
	CommRole = gang.CommRole
	// Colocation is whether workers must be near a parameter server.
	Colocation = gang.Colocation
)

// Patterns of communication.
const (
	Single          = gang.Single
	ParameterServer = gang.ParameterServer
	Collective      = gang.Collective
	Pipeline        = gang.Pipeline
)

// Roles in a pattern.
const (
	NoTraffic      = gang.NoTraffic
	Server         = gang.Server
	Worker         = gang.Worker
	PipelineWorker = gang.PipelineWorker
)

// Kinds of colocation.
const (
	Preferred = gang.Preferred
	Required  = gang.Required
	None      = gang.None
)

// Types of the plan and its cost.
type (
	// Plan is a node for each member of one job.
	Plan = solver.Plan
	// Options of planning.
	Options = solver.Options
	// Objective orders the two costs of traffic.
	Objective = solver.Objective
	// Cost is what one training step of a job sends over each tier.
	Cost = traffic.Cost
	// TierCost is what one tier carries in a training step.
	TierCost = traffic.TierCost
)

// Objectives.
const (
	BytesFirst   = solver.BytesFirst
	BusiestFirst = solver.BusiestFirst
)

var (
	// ErrNoFit is returned by Solve if no plan was found; Diagnose reports why.
	ErrNoFit = solver.ErrNoFit
	// ErrStopped is returned by Solve and Diagnose if Options.Stop ended them.
	ErrStopped = solver.ErrStopped
)

// Solve returns the plan of one job with the lowest cost that was found: of all pending members if they fit, else of the
// roles' minimums and, role by role, of as many more as fit, lowest indexes first. The topology is unchanged.
//
// Plans are compared by WeightedBytes and then by BusiestSeconds (or the other way round, Options.Objective), then by
// penalties, then by the fragmentation of GPUs, then by names. The work is bounded by counts, which Options.Effort
// multiplies. Solve returns ErrNoFit if no plan was found, ErrStopped if Options.Stop ended it, and another error for a
// demand that is invalid.
func Solve(t *Topology, d *Demand, o Options) (*Plan, error) { return solver.Solve(t, d, o) }

// Evaluate returns the cost of any assignment of pending members, ordered by role and index, with the members placed before.
// It ignores capacities and limits. It returns an error for an assignment of no pending member.
func Evaluate(t *Topology, d *Demand, assignments []Assignment) (Cost, error) {
	return traffic.Evaluate(t, d, assignments)
}

// Types of the diagnosis of a job without a plan.
type (
	// Diagnosis is why a demand has no plan, and the least that would have to change.
	Diagnosis = diagnose.Diagnosis
	// RoleNeed is what one role needs and how many of its members have no capacity.
	RoleNeed = diagnose.RoleNeed
	// DomainCapacity is how much of a gang one domain holds.
	DomainCapacity = diagnose.DomainCapacity
	// Blocker is what keeps the next member of a role out of a domain.
	Blocker = diagnose.Blocker
	// BlockerKind is the kind of a Blocker.
	BlockerKind = diagnose.BlockerKind
	// Suggestion is one change with which a demand fits.
	Suggestion = diagnose.Suggestion
	// Change is what a Suggestion changes.
	Change = diagnose.Change
	// NodeIncrease is how much more would be free on one node.
	NodeIncrease = diagnose.NodeIncrease
)

// Kinds of blockers.
const (
	Insufficient   = diagnose.Insufficient
	NoNode         = diagnose.NoNode
	NotEligible    = diagnose.NotEligible
	NoServerNearby = diagnose.NoServerNearby
	RunningApart   = diagnose.RunningApart
	NotFound       = diagnose.NotFound
)

// Changes.
const (
	HigherTier       = diagnose.HigherTier
	PreferColocation = diagnose.PreferColocation
	BothLimits       = diagnose.BothLimits
	FewerMembers     = diagnose.FewerMembers
	MoreCapacity     = diagnose.MoreCapacity
)

// Diagnose returns why Solve finds no plan, with at most three changes that were solved and do fit. It calls Solve at most a
// dozen times. The topology is unchanged. Errors are those of Solve, but for ErrNoFit.
func Diagnose(t *Topology, d *Demand, o Options) (*Diagnosis, error) {
	return diagnose.Diagnose(t, d, o)
}
