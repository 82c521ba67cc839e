// SPDX-License-Identifier: Apache-2.0

// Package topology puts a cluster's nodes into the tree of its network's tiers, as the scheduler's plugin does: pure, no API calls, no output, and nothing of pods and jobs.
package topology
