// SPDX-License-Identifier: Apache-2.0

// Package quality places single gangs on loaded clusters with several set-ups of Volcano and compares what their plans
// cost; the bars are in package session.
//
// Clusters are drawn from a seed. Costs are counted by plugins/placement on a topology that is built here from the drawn
// cluster, not by the plugin. Volcano itself picks a random one of the nodes of equal score, so the figures of stock set-ups
// differ a little from run to run.
package quality
