// SPDX-License-Identifier: Apache-2.0

// Package tree puts a cluster's nodes into a tree of the tiers that the scheduler's plugin plans with, in the order in which
// people read names. It knows nothing of pods and jobs.
package tree
