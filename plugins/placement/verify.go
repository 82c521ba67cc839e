// SPDX-License-Identifier: Apache-2.0

package placement

import "fmt"

// Check says whether a plan keeps every capacity, eligibility, minimum and limit of its demand on the topology before
// the plan is taken. A nil error means that it does.
func Check(t *Topology, d *Demand, plan *Plan) error {
	if err := d.check(t); err != nil {
		return err
	}
	for _, a := range plan.Assignments {
		if a.Node < 0 || int(a.Node) >= t.Nodes() {
			return fmt.Errorf("check a plan: node %d is not in the topology", a.Node)
		}
	}
	seats, err := d.seats(plan.Assignments)
	if err != nil {
		return fmt.Errorf("check a plan: %w", err)
	}
	if err := d.checkNodes(t, seats); err != nil {
		return fmt.Errorf("check a plan: %w", err)
	}
	if len(plan.Assignments) == 0 {
		return nil // members placed before may break a limit; no plan does
	}
	if err := d.checkLimits(t, seats); err != nil {
		return fmt.Errorf("check a plan: %w", err)
	}
	return nil
}

func (d *Demand) checkNodes(t *Topology, seats []seat) error {
	used := map[NodeID][]int64{}
	count := make([]int, len(d.Roles))
	for _, s := range seats {
		count[s.role]++
		if s.fixed {
			continue
		}
		role := &d.Roles[s.role]
		if role.Eligible != nil && !role.Eligible.Has(s.node) {
			return fmt.Errorf("member %d of role %q is on node %s, which is not eligible", s.index, role.Name, t.NodeName(s.node))
		}
		if used[s.node] == nil {
			used[s.node] = make([]int64, len(t.resources))
		}
		for r, amount := range role.Request {
			used[s.node][r] += amount
			if free := t.Free(DomainID(s.node))[r]; amount > 0 && used[s.node][r] > free {
				return fmt.Errorf("node %s has %d %s free and is to give %d", t.NodeName(s.node), free, t.resources[r], used[s.node][r])
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

func (d *Demand) checkLimits(t *Topology, seats []seat) error {
	servers := map[DomainID]bool{}
	for _, s := range seats {
		if d.limited() && t.Ancestor(s.node, d.HighestTier) != t.Ancestor(seats[0].node, d.HighestTier) {
			return fmt.Errorf("members are in more than one %s", t.tiers[d.HighestTier].Name)
		}
		if d.class(s.role) == serverClass {
			servers[t.Ancestor(s.node, d.colocationTier())] = true
		}
	}
	for _, s := range seats {
		if d.colocated() && !s.fixed && d.class(s.role) > serverClass && !servers[t.Ancestor(s.node, d.colocationTier())] {
			return fmt.Errorf("member %d of role %q has no server in its %s", s.index, d.Roles[s.role].Name, t.tiers[d.colocationTier()].Name)
		}
	}
	return nil
}

// limited says whether a tier is the highest one for the job.
func (d *Demand) limited() bool { return d.HighestTier > 0 }

// colocated says whether workers must have a server near them.
func (d *Demand) colocated() bool {
	return d.Colocation == Required && (d.Pattern == ParameterServer || d.Pattern == Heter)
}

func (d *Demand) colocationTier() int { return max(NodeTier, d.ColocationTier) }
