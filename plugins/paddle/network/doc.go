// SPDX-License-Identifier: Apache-2.0

// Package network keeps the cluster's network as the planner sees it, from session to session: it reads nodes and
// HyperNodes and builds a placement.Topology; jobs, plans and framework.Session may not be known here.
//
//   - network.go: what a session shows and what the caller asks; follow.go: what is kept, and when it no longer holds
//   - rebuild.go: the tree from the first source that there is
//   - hypernodes.go, hypertree.go, labels.go, nvlink.go: the sources of the tiers above the nodes
//   - tree.go, names.go, tiers.go, prices.go: those tiers, what they are called, what a networkTopology means, what they cost
//   - resources.go, free.go, estimate.go: what is free on a node and its islands, as the planner counts it
//   - islands.go, published.go, links.go, products.go: which GPUs of a node are linked
//   - warnings.go: what was missing or contradictory; keys.go: what is read on nodes
package network
