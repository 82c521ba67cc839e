// SPDX-License-Identifier: Apache-2.0

package report

import "fmt"

// The functions below return causes for which the planner finds no plan. where is a Place, tier the name of a tier.

// NotEligible returns that a role may not use enough of the nodes.
func NotEligible(eligible, nodes int, where, role string) string {
	return fmt.Sprintf("%d of %d nodes of %s are eligible for a %s", eligible, nodes, where, role)
}

// NoServer returns that some workers have no server near them.
func NoServer(role, tier string) string {
	return fmt.Sprintf("each %s must have a server in its %s (colocation Required)", role, tier)
}

// RunningApart returns that running pods break a limit.
func RunningApart(tier string) string { return "the running pods are not in one " + Domains(1, tier) }

// NotFound returns that nothing is known to be in the way.
func NotFound(where string) string {
	return "no plan was found, though " + where + " seems to have capacity for all"
}

// Limited returns a cause that holds within one domain of a tier, by the tier's label.
func Limited(cause, tier string) string {
	return cause + " (networkTopology hard, " + tierLabel(tier) + ")"
}
