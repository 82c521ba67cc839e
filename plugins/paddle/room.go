// SPDX-License-Identifier: Apache-2.0

package paddle

import "github.com/paddle-volcano/paddle-volcano/plugins/placement"

// hopeless tells whether no domain that may hold the gang has room for the minimum of each role, even if each were alone
// in it: then there is no way to place the gang, and nothing to be gained by trying pod by pod.
func hopeless(t *placement.Topology, d *placement.Demand) bool {
	tier := len(t.Tiers())
	if d.HighestTier > 0 {
		tier = d.HighestTier
	}
	lo, hi := t.Domains(tier)
	for domain := lo; domain < hi; domain++ {
		if mayHold(t, d, domain) {
			return false
		}
	}
	return true
}

func mayHold(t *placement.Topology, d *placement.Demand, domain placement.DomainID) bool {
	for r := range d.Roles {
		role := &d.Roles[r]
		for _, placed := range role.Placed {
			if !t.Holds(domain, placed.Node) {
				return false
			}
		}
		if !roomFor(t, role, domain, role.Minimum-len(role.Placed)) {
			return false
		}
	}
	return true
}

// roomFor tells whether so many pods of a role fit into a domain.
func roomFor(t *placement.Topology, role *placement.Role, domain placement.DomainID, needed int) bool {
	lo, hi := t.NodesOf(domain)
	for node := lo; node < hi && needed > 0; node++ {
		if role.Eligible == nil || role.Eligible.Has(node) {
			needed -= fits(t.Free(placement.DomainID(node)), role.Request, needed)
		}
	}
	return needed <= 0
}

// fits is how many requests fit into what is free, no more than most.
func fits(free, request []int64, most int) int {
	for r, amount := range request {
		if amount > 0 {
			most = min(most, int(max(0, free[r])/amount))
		}
	}
	return most
}
