// SPDX-License-Identifier: Apache-2.0

// Package traffic holds what a step of training sends over the links of a tree, and what that costs.
//
// Model is the one interface of all patterns: parameter servers and pipeline workers (Flows), and rings with parallel groups (Ring).
// A Model counts loads from how many members a domain holds; Evaluate counts them member by member, and tests hold the two together.
package traffic

import "github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"

// Model is what a domain's uplink carries, worked out from how many members of each class the domain holds: a row. Loads are
// whole numbers of units.
type Model interface {
	// Classes returns the length of a row.
	Classes() int
	// Load returns the load of a domain in one direction.
	Load(v tree.DomainID, row []int32) int64
	// Island returns the sum of the loads of the islands of a node, and the largest of them.
	Island(node tree.NodeID, row []int32) (sum, most int64)
	// Unit returns the bytes of one unit.
	Unit() float64
}
