// SPDX-License-Identifier: Apache-2.0

package placement

import "fmt"

// seat is one member on its node.
type seat struct {
	role, index int
	node        NodeID
	fixed       bool
}

// seats are all members that have a node, placed before or by the assignments, in the order of ranks: roles, then indexes.
func (d *Demand) seats(assignments []Assignment) ([]seat, error) {
	members := len(assignments)
	for r := range d.Roles {
		members += len(d.Roles[r].Placed)
	}
	all := make([]seat, 0, members)
	next := 0
	for r := range d.Roles {
		role := &d.Roles[r]
		p, pending := 0, 0
		for next < len(assignments) && assignments[next].Role == r || p < len(role.Placed) {
			ours := next < len(assignments) && assignments[next].Role == r
			if p < len(role.Placed) && (!ours || role.Placed[p].Index < assignments[next].Index) {
				all = append(all, seat{role: r, index: role.Placed[p].Index, node: role.Placed[p].Node, fixed: true})
				p++
				continue
			}
			a := assignments[next]
			for pending < len(role.Pending) && role.Pending[pending] < a.Index {
				pending++
			}
			if pending == len(role.Pending) || role.Pending[pending] != a.Index {
				return nil, fmt.Errorf("member %d of role %q is not pending, or assigned out of order", a.Index, role.Name)
			}
			pending++
			all = append(all, seat{role: r, index: a.Index, node: a.Node})
			next++
		}
	}
	if next < len(assignments) {
		return nil, fmt.Errorf("assignment %d, of role number %d, is out of order or of no role", next, assignments[next].Role)
	}
	return all, nil
}

// ranked are the seats that form the ring of a Collective.
func (d *Demand) ranked(seats []seat) []seat {
	ring := make([]seat, 0, len(seats))
	for _, s := range seats {
		if d.Roles[s.role].Traffic == Worker {
			ring = append(ring, s)
		}
	}
	return ring
}

// class of a role's members in patterns of flows; -1 if they are silent.
func (d *Demand) class(role int) int {
	r := &d.Roles[role]
	switch {
	case d.Pattern == Single || d.Pattern == Collective:
	case r.Traffic == Server:
		return serverClass
	case r.Traffic == Worker:
		return workerClass
	case r.Traffic == HeterWorker && d.Pattern == Heter:
		return firstHeterClass + r.Stage - 1
	case r.Traffic == HeterWorker:
		return workerClass
	}
	return -1
}

func (d *Demand) parameterBytes() float64 {
	if d.ParameterBytes > 0 {
		return d.ParameterBytes
	}
	return 1
}

// flowsOf the demand with so many members of each class.
func (d *Demand) flowsOf(total []int) *flows {
	if d.Pattern == Heter {
		return heter(total, d.parameterBytes())
	}
	return parameterServer(total[serverClass], total[workerClass], d.parameterBytes())
}

// classes is the number of classes of members that a demand of flows has.
func (d *Demand) classes() int {
	most := firstHeterClass
	for r := range d.Roles {
		most = max(most, d.class(r)+1)
	}
	return most
}
