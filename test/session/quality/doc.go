// SPDX-License-Identifier: Apache-2.0

// Package quality places single gangs on loaded clusters with several set-ups of Volcano and compares what their plans
// cost; what counts as good enough is judged in package session.
//
// Clusters are drawn from a seed. Costs are counted by plugins/placement on a topology that is built here from the drawn
// cluster, not by the plugin. Volcano itself throws dice between nodes of equal score, so the figures of stock set-ups
// differ a little from run to run.
package quality
