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
	lo, hi := t.Domains(tier)
	for domain := lo; domain < hi; domain++ {
		if mightFit(t, d, domain) {
			return false
		}
	}
	return true
}

// mightFit reports whether the minimums of a demand may fit into a domain, by sums alone.
func mightFit(t *placement.Topology, d *placement.Demand, domain placement.DomainID) bool {
	asked := make([]int64, len(t.Free(domain)))
	for r := range d.Roles {
		role := &d.Roles[r]
		for _, placed := range role.Placed {
			if !t.Holds(domain, placed.Node) {
				return false
			}
		}
		needed := max(0, role.Minimum-len(role.Placed))
		if !fitsAll(t, role, domain, needed) {
			return false
		}
		for i, amount := range role.Request {
			asked[i] += int64(needed) * amount
		}
	}
	return hasFree(t, domain, asked)
}

// hasFree reports whether a domain has as much free of each resource, as if it were one node.
func hasFree(t *placement.Topology, domain placement.DomainID, asked []int64) bool {
	free := make([]int64, len(asked))
	lo, hi := t.NodesOf(domain)
	for node := lo; node < hi; node++ {
		for r, amount := range t.Free(placement.DomainID(node)) {
			free[r] += max(0, amount)
		}
	}
	for r := range asked {
		if asked[r] > free[r] {
			return false
		}
	}
	return true
}

// fitsAll reports whether so many pods of a role fit into a domain.
func fitsAll(t *placement.Topology, role *placement.Role, domain placement.DomainID, needed int) bool {
	lo, hi := t.NodesOf(domain)
	for node := lo; node < hi && needed > 0; node++ {
		if role.Eligible == nil || role.Eligible.Has(node) {
			needed -= fits(t.Free(placement.DomainID(node)), role.Request, needed)
		}
	}
	return needed <= 0
}

// fits returns how many requests fit into what is free, at most most.
func fits(free, request []int64, most int) int {
	for r, amount := range request {
		if amount > 0 {
			most = min(most, int(max(0, free[r])/amount))
		}
	}
	return most
}
