// SPDX-License-Identifier: Apache-2.0

package planner

import "github.com/paddle-volcano/paddle-volcano/plugins/placement"

// provablyInfeasible reports whether a gang without a plan cannot be placed pod by pod either: no domain that may hold it has
// capacity for the minimum of each role alone, or for the sum of all requests; or each worker must be beside a server, which
// is not found by chance. certain reports that the demand excludes no more nodes than the plan did.
func provablyInfeasible(t *placement.Topology, d *placement.Demand, certain bool) bool {
	if d.Colocation == placement.Required && certain {
		return true
	}
	tier := len(t.Tiers())
	if d.HighestTier > 0 {
		tier = d.HighestTier
	}
	fits := make([]func(placement.DomainID) int64, len(d.Roles))
	for r := range d.Roles {
		fits[r] = t.ShapeOn(d.Roles[r].Request, d.Roles[r].Eligible).Sum
	}
	lo, hi := t.Domains(tier)
	for domain := lo; domain < hi; domain++ {
		if mightFit(t, d, domain, fits) {
			return false
		}
	}
	return true
}

// mightFit reports whether the minimums of a demand may fit into a domain, by sums alone. fits returns how many pods of each
// role fit into a domain.
func mightFit(t *placement.Topology, d *placement.Demand, domain placement.DomainID, fits []func(placement.DomainID) int64) bool {
	free := t.Free(domain)
	asked := make([]int64, len(free))
	for r := range d.Roles {
		role := &d.Roles[r]
		for _, placed := range role.Placed {
			if !t.Holds(domain, placed.Node) {
				return false
			}
		}
		needed := int64(max(0, role.Minimum-len(role.Placed)))
		if fits[r](domain) < needed {
			return false
		}
		for i, amount := range role.Request {
			if asked[i] += needed * amount; asked[i] > max(0, free[i]) {
				return false
			}
		}
	}
	return true
}
