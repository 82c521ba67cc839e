// SPDX-License-Identifier: Apache-2.0

// Package legal checks plans: whether they keep the limits of their demands.
package legal

import (
	"fmt"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// Check returns an error unless a plan keeps every capacity, eligibility, minimum and limit of its demand on the
// topology before the plan is taken.
func Check(t *tree.Topology, d *gang.Demand, assignments []gang.Assignment) error {
	if err := d.Validate(t); err != nil {
		return err
	}
	for _, a := range assignments {
		if a.Node < 0 || int(a.Node) >= t.Nodes() {
			return fmt.Errorf("check a plan: node %d is not in the topology", a.Node)
		}
	}
	members, err := d.Members(assignments)
	if err != nil {
		return fmt.Errorf("check a plan: %w", err)
	}
	if err := checkNodes(t, d, members); err != nil {
		return fmt.Errorf("check a plan: %w", err)
	}
	if len(assignments) == 0 {
		return nil // members placed before may break a limit; no plan does
	}
	if err := checkLimits(t, d, members); err != nil {
		return fmt.Errorf("check a plan: %w", err)
	}
	return nil
}

func checkNodes(t *tree.Topology, d *gang.Demand, members []gang.PlacedMember) error {
	used := map[tree.NodeID][]int64{}
	count := make([]int, len(d.Roles))
	for _, s := range members {
		count[s.Role]++
		if s.Fixed {
			continue
		}
		role := &d.Roles[s.Role]
		if role.Eligible != nil && !role.Eligible.Has(s.Node) {
			return fmt.Errorf("member %d of role %q is on node %s, which is not eligible", s.Index, role.Name, t.NodeName(s.Node))
		}
		if used[s.Node] == nil {
			used[s.Node] = make([]int64, len(t.Resources()))
		}
		for r, amount := range role.Request {
			used[s.Node][r] += amount
			if free := t.Free(tree.DomainID(s.Node))[r]; amount > 0 && used[s.Node][r] > free {
				return fmt.Errorf("node %s has %d %s free and is to give %d", t.NodeName(s.Node), free, t.Resources()[r], used[s.Node][r])
			}
		}
	}
	for r, n := range count {
		if n < d.Roles[r].Minimum {
			return fmt.Errorf("%d members of role %q, want %d at least", n, d.Roles[r].Name, d.Roles[r].Minimum)
		}
	}
	return nil
}

func checkLimits(t *tree.Topology, d *gang.Demand, members []gang.PlacedMember) error {
	servers := map[tree.DomainID]bool{}
	for _, s := range members {
		if d.Limited() && t.Ancestor(s.Node, d.HighestTier) != t.Ancestor(members[0].Node, d.HighestTier) {
			return fmt.Errorf("members are in more than one %s", t.Tiers()[d.HighestTier].Name)
		}
		if d.Class(s.Role) == gang.ServerClass {
			servers[t.Ancestor(s.Node, d.ServerTier())] = true
		}
	}
	for _, s := range members {
		if d.Colocated() && !s.Fixed && d.Class(s.Role) > gang.ServerClass && !servers[t.Ancestor(s.Node, d.ServerTier())] {
			return fmt.Errorf("member %d of role %q has no server in its %s", s.Index, d.Roles[s.Role].Name, t.Tiers()[d.ServerTier()].Name)
		}
	}
	return nil
}
