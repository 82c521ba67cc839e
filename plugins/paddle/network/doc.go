// SPDX-License-Identifier: Apache-2.0

// Package network keeps the cluster's network as the planner sees it, from session to session: it reads nodes and
// HyperNodes and builds a placement.Topology; jobs, plans and framework.Session may not be known here.
//
//   - network.go: what a session shows and what the caller asks; follow.go: what is kept and when the tree is built anew
//   - hypernodes.go, labels.go, nvlink.go: the tiers above the nodes; names.go, tiers.go: what they are called and cost
//   - resources.go, free.go: what is free on a node, as the planner counts it
//   - islands.go, slices.go, links.go, products.go: which GPUs of a node are linked
//   - warnings.go: what was missing or contradictory
package network
