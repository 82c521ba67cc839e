// SPDX-License-Identifier: Apache-2.0

// Package traffic holds what a step of training sends over the links of a tree, and what that costs.
//
// Model is the one interface of all patterns: parameter servers and heter workers (Flows), and rings with parallel groups (Ring).
// A Model counts loads from how many members a domain holds; Evaluate counts them member by member, and tests hold the two together.
package traffic

import (
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// Model is what a domain's uplink carries, worked out from how many members of each class the domain holds. Each
// pattern has one.
type Model interface {
	// classes is the length of a row.
	Classes() int
	// load in one direction, in units.
	Load(v tree.DomainID, row []int32) int64
	// island loads of a node, in units, for members with so many GPUs each: their sum and the largest.
	Island(node tree.NodeID, row []int32, gpus int) (sum, most int64)
	// unit in bytes.
	Unit() float64
}
