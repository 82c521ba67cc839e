// SPDX-License-Identifier: Apache-2.0

package placement

// Assignment is one pending member and its node.
type Assignment struct {
	// Role is a position in Demand.Roles, Index the member's.
	Role, Index int
	Node        NodeID
}

// Plan is where the members of one job go.
type Plan struct {
	// Assignments of pending members by role, then index.
	Assignments []Assignment
	// Left are members beyond the minimums that have no room, by role, then index.
	Left []Member
	// Cost of the whole job with its placed members.
	Cost Cost
	// Optimal says that no plan of these members is cheaper (in the sense of the objective).
	Optimal bool
}

// Member of a demand: Role is a position in Demand.Roles.
type Member struct{ Role, Index int }

// Cost of a job on its nodes, per step.
type Cost struct {
	// Tiers from the island tier upwards.
	Tiers []TierCost
	// Priced is the sum over tiers of price times bytes.
	Priced float64
	// BusiestSeconds is the largest load of one direction of an uplink, divided by its bandwidth.
	BusiestSeconds float64
	// BusiestUplink is the domain that it leads out of; NoDomain if nothing leaves any domain, or if it is an island's.
	BusiestUplink DomainID
	// Penalty is the sum of the roles' penalties, of members that were to be placed.
	Penalty int64
}

// TierCost is what one tier carries in a step.
type TierCost struct {
	Tier Tier
	// Bytes that cross the border of some domain of the tier: X in the formulas of parameterServer.
	Bytes float64
	// Busiest is the largest load of one direction of an uplink of the tier, in bytes: the largest T.
	Busiest float64
	// Domains that hold members, from the node tier upwards.
	Domains int
}
