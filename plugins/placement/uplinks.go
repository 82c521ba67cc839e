// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"slices"
)

// UplinkLoad is what the uplink of one domain carries in a step.
type UplinkLoad struct {
	Domain DomainID
	// Bytes of one direction: T in the formulas of parameterServer. The other direction carries as many.
	Bytes float64
	// Seconds that they take at the uplink's bandwidth.
	Seconds float64
}

// Uplinks are the loads of all uplinks that carry something, of nodes and of domains above, when pending members are
// assigned as given; lowest tier first, then in the order of the tree. They are the parts of the Cost that Evaluate
// gives: per tier, their bytes sum to TierCost.Bytes. Islands have no uplink here.
func Uplinks(t *Topology, d *Demand, assignments []Assignment) ([]UplinkLoad, error) {
	if err := d.check(t); err != nil {
		return nil, err
	}
	for _, a := range assignments {
		if a.Node < 0 || int(a.Node) >= t.Nodes() {
			return nil, fmt.Errorf("load the uplinks: node %d is not in the topology", a.Node)
		}
	}
	seats, err := d.seats(assignments)
	if err != nil {
		return nil, fmt.Errorf("load the uplinks: %w", err)
	}
	var loads *tally
	var unit float64
	switch d.Pattern {
	case Single:
		return nil, nil
	case Collective:
		walk := walkRing(t, d, d.ranked(seats))
		loads, unit = walk.ends, endBytes(len(walk.node), d.parameterBytes())
	default:
		loads, unit = flowLoads(t, d, seats)
	}
	defer loads.close()
	uplinks := make([]UplinkLoad, 0, len(loads.domains))
	for i, domain := range loads.domains {
		if bytes := float64(loads.sums[i]) * unit; bytes > 0 {
			uplinks = append(uplinks, UplinkLoad{Domain: domain, Bytes: bytes, Seconds: bytes / t.bandwidth[domain]})
		}
	}
	slices.SortFunc(uplinks, func(a, b UplinkLoad) int { return int(a.Domain - b.Domain) })
	return uplinks, nil
}
