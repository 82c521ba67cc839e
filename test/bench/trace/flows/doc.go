// SPDX-License-Identifier: Apache-2.0

// Package flows judges placements: it simulates the flows of training jobs over NICs and uplinks, max-min fairly, and knows nothing
// of schedulers, of the project's planner, or of its model of cost.
//
// A job computes and then sends all flows of its step at once: those of each edge of a ring, of each server and worker, of each
// group of hybrid parallelism. Whenever a flow begins or ends, all rates are computed again.
package flows
