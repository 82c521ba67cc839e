// SPDX-License-Identifier: Apache-2.0

// Package anneal looks for cheap placements of one gang by simulated annealing, to compare the planner with: neither its
// search nor its arithmetic is called here, only the formulas are the same.
//
// A state is how many pods of each role are on each node. That is enough: the ranks of a ring go along the tree, which
// makes them contiguous in every domain.
package anneal
