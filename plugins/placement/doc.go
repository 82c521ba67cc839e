// SPDX-License-Identifier: Apache-2.0

// Package placement holds pure planning of one gang on a topology tree; nothing of Kubernetes or Volcano may be imported.
//
// Plain values in, a plan out: a Topology (tiers, nodes, what is free) and a Demand (roles with pending and placed
// members, traffic, limits) go in; a node for each member comes out, with the cost of the plan on every tier. README.md
// explains the model with an example to check by hand. The scheduler plugin, the commands and the benchmarks call the
// same functions.
package placement
