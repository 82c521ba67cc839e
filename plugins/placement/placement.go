// SPDX-License-Identifier: Apache-2.0

// Package placement plans where the members of one training job go, and says what that costs.
//
// Plain values in, a plan out: a Topology (tiers, nodes, what is free) and a Demand (roles with pending and placed members,
// traffic, limits) go in; a node for each member comes out, with the cost of the plan on every tier. Nothing of Kubernetes or
// Volcano may be imported. README.md explains the model with an example to check by hand. The scheduler plugin, the commands and
// the benchmarks call the same functions.
//
// The types are those of the packages below: tree (the cluster), gang (the job), traffic (the cost), internal/solver (the plan) and
// internal/diagnose (why there is none).
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
	// Island is a set of a node's GPUs that are joined by links much faster than the node's bus.
	Island = tree.Island
	// Uplink gives one domain a bandwidth of its own.
	Uplink = tree.Uplink
	// Tier is one level of the tree.
	Tier = tree.Tier
	// NodeID is a node of one Topology.
	NodeID = tree.NodeID
	// DomainID is a domain of one Topology; nodes are domains too.
	DomainID = tree.DomainID
	// NodeSet is a set of nodes of one Topology.
	NodeSet = tree.NodeSet
	// Claim is what one pod takes of a node.
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

// NewTopology builds a topology. It keeps nothing of the spec.
func NewTopology(spec TopologySpec) (*Topology, error) { return tree.New(spec) }

// NewNodeSet returns an empty set of a topology's nodes.
func NewNodeSet(t *Topology) *NodeSet { return tree.NewNodeSet(t) }

// DefaultTiers returns island and node, and then a tier for each name, nearest first, with weights that grow fourfold from tier
// to tier, 1 at the node.
func DefaultTiers(above ...string) []Tier { return tree.DefaultTiers(above...) }

// PickIslands takes a pod's GPUs from a node's islands as the kubelet prefers to: it lowers their free GPUs and returns the
// island of each GPU that was free.
func PickIslands(islands []Island, gpus int) []int { return tree.PickIslands(islands, gpus) }

// Types of the job.
type (
	// Demand is one job: what is to be placed, how its members talk, and what is not allowed.
	Demand = gang.Demand
	// Role is a set of members with equal pods.
	Role = gang.Role
	// Placed is a member that has its node already.
	Placed = gang.Placed
	// Member of a demand.
	Member = gang.Member
	// Assignment is one pending member and its node.
	Assignment = gang.Assignment
	// Pattern is who talks to whom in each step of training.
	Pattern = gang.Pattern
	// CommRole is the part that a role has in the communication pattern.
	CommRole = gang.CommRole
	// Colocation is how much it counts that servers and workers are near each other.
	Colocation = gang.Colocation
)

// Patterns of traffic.
const (
	Single          = gang.Single
	ParameterServer = gang.ParameterServer
	Collective      = gang.Collective
	Pipeline        = gang.Pipeline
)

// Parts of a role in the communication pattern.
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
	// Plan is where the members of one job go.
	Plan = solver.Plan
	// Options of planning.
	Options = solver.Options
	// Objective orders the two costs of traffic.
	Objective = solver.Objective
	// Cost of a job on its nodes, per step.
	Cost = traffic.Cost
	// TierCost is what one tier carries in a step.
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

// Solve plans one job: every pending member if they fit, else the minimums and as many more as fit, lowest indexes first. It
// changes nothing of the topology.
func Solve(t *Topology, d *Demand, o Options) (*Plan, error) { return solver.Solve(t, d, o) }

// Evaluate returns the cost of any assignment of pending members, ordered by role and index, with the members placed before. It
// looks at no capacity and no limit; Check does.
func Evaluate(t *Topology, d *Demand, assignments []Assignment) (Cost, error) {
	return traffic.Evaluate(t, d, assignments)
}

// Check returns an error unless a plan keeps every capacity, eligibility, minimum and limit of its demand on the topology before
// the plan is taken.
func Check(t *Topology, d *Demand, plan *Plan) error {
	return gang.Check(t, d, plan.Assignments)
}

// Types of the explanation of a job without a plan.
type (
	// Diagnosis says why a demand has no plan, and the least that would have to change.
	Diagnosis = diagnose.Diagnosis
	// RoleNeed is what one role needs.
	RoleNeed = diagnose.RoleNeed
	// TierCapacity is the capacity of the domains of one tier.
	TierCapacity = diagnose.TierCapacity
	// DomainCapacity is the capacity of one domain for what a gang still needs.
	DomainCapacity = diagnose.DomainCapacity
	// Blocker says what is in the way of the next member of a role in one domain.
	Blocker = diagnose.Blocker
	// BlockerKind is what is in the way of a member.
	BlockerKind = diagnose.BlockerKind
	// Suggestion is one change with which a demand fits.
	Suggestion = diagnose.Suggestion
	// Change is what a Suggestion changes.
	Change = diagnose.Change
	// FewerReplicas of a role.
	FewerReplicas = diagnose.FewerReplicas
	// NodeIncrease is more that is free on one node.
	NodeIncrease = diagnose.NodeIncrease
	// Unit is how texts write amounts of a resource.
	Unit = diagnose.Unit
)

// Kinds of blockers.
const (
	Insufficient   = diagnose.Insufficient
	Fragmented     = diagnose.Fragmented
	NoSingleNode   = diagnose.NoSingleNode
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

// Diagnose reports why Solve finds no plan. The topology is unchanged afterwards. Errors are those of Solve, but for ErrNoFit.
func Diagnose(t *Topology, d *Demand, o Options) (*Diagnosis, error) {
	return diagnose.Diagnose(t, d, o)
}
