// SPDX-License-Identifier: Apache-2.0

// Package placement holds pure planning of one gang on a topology tree; nothing of Kubernetes or Volcano may be imported.
//
// Plain values in, a plan out: topology, demand of each role and members already placed go in, a node for each member
// comes out, with the cost of the plan. The scheduler plugin, the commands and the benchmarks call the same functions.
package placement
