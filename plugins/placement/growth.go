// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"slices"
)

// Growing a running gang, or giving a lost member a new node, is Solve itself: members that run are Placed and count in
// the cost, the others are Pending. This file holds the other direction.

// Shrink picks which count placed members of a role to take away, so that those who stay cost least per step in the order
// of the objective, then have the lowest penalties; between equals the highest index goes. Pending members do not count.
// All choices are looked at where they are few; else the best members go one after the other (several at a time where that
// would take too long) or, on a ring, as one run of neighbors if that is cheaper. The members come by index.
//
// Nobody is taken away below the role's minimum, and with Colocation Required no server whose domain would keep workers
// and lose its last server; if that leaves too few, the error says so.
func Shrink(t *Topology, d *Demand, role, count int, o Options) ([]Member, error) {
	if err := d.check(t); err != nil {
		return nil, err
	}
	if role < 0 || role >= len(d.Roles) {
		return nil, fmt.Errorf("shrink the gang: role number %d of %d", role, len(d.Roles))
	}
	s := newShrinking(t, d, role, count, o)
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("shrink the gang: role %q: %w", d.Roles[role].Name, err)
	}
	if count == 0 {
		return nil, nil
	}
	switch {
	case !s.talks:
		s.byPenalty()
	case s.few():
		s.all(len(s.members)-1, make([]int, 0, count))
	case d.Pattern == Collective:
		s.ring()
	default:
		s.flows()
	}
	members := make([]Member, 0, count)
	for _, i := range s.best {
		members = append(members, Member{Role: role, Index: d.Roles[role].Placed[i].Index})
	}
	slices.SortFunc(members, func(a, b Member) int { return a.Index - b.Index })
	return members, nil
}

// shrinking is a search for members to take away: positions in the role's Placed. Lists of them are descending.
type shrinking struct {
	t       *Topology
	d       *Demand
	role    int
	count   int
	byBusy  bool
	talks   bool // whether the members have a part in the traffic
	members []Placed
	seats   []seat           // of all placed members
	seatOf  []int            // of each member: its place in seats
	gone    []bool           // of each seat
	guards  map[DomainID]int // of each domain that must keep a server: how many it has

	best []int
	cost staying
}

func newShrinking(t *Topology, d *Demand, role, count int, o Options) *shrinking {
	s := &shrinking{t: t, d: d, role: role, count: count, byBusy: o.Objective == BusiestFirst, members: d.Roles[role].Placed}
	for r := range d.Roles {
		for _, member := range d.Roles[r].Placed {
			if r == role {
				s.seatOf = append(s.seatOf, len(s.seats))
			}
			s.seats = append(s.seats, seat{role: r, index: member.Index, node: member.Node, fixed: true})
		}
	}
	s.gone = make([]bool, len(s.seats))
	s.talks = d.Colocation != None && (d.class(role) >= 0 || d.Pattern == Collective && d.Roles[role].Traffic == Worker)
	if d.colocated() && d.class(role) == serverClass {
		s.guard()
	}
	return s
}

// guard finds the domains with workers and counts their servers of any role.
func (s *shrinking) guard() {
	s.guards = map[DomainID]int{}
	tier := s.d.colocationTier()
	for _, seat := range s.seats {
		if s.d.class(seat.role) > serverClass {
			s.guards[s.t.Ancestor(seat.node, tier)] = 0
		}
	}
	for _, seat := range s.seats {
		above := s.t.Ancestor(seat.node, tier)
		if servers, ok := s.guards[above]; ok && s.d.class(seat.role) == serverClass {
			s.guards[above] = servers + 1
		}
	}
}

func (s *shrinking) check() error {
	role := &s.d.Roles[s.role]
	switch has := len(s.members); {
	case s.count < 0 || s.count > has:
		return fmt.Errorf("%d members are to go, and %d run", s.count, has)
	case s.count > 0 && has-s.count < role.Minimum:
		return fmt.Errorf("%d of %d running members are to go, and %d must stay (its minimum): at most %d can go",
			s.count, has, role.Minimum, max(0, has-role.Minimum))
	}
	if can := s.spared(); can < s.count {
		return fmt.Errorf("%d members are to go, but at most %d can: each %s with workers must keep a server (colocation Required)",
			s.count, can, s.t.tiers[s.d.colocationTier()].Name)
	}
	return nil
}

// spared is how many members can go at most without leaving workers alone.
func (s *shrinking) spared() int {
	if s.guards == nil {
		return len(s.members)
	}
	own := map[DomainID]int{}
	can := 0
	for _, member := range s.members {
		above := s.t.Ancestor(member.Node, s.d.colocationTier())
		servers, guarded := s.guards[above]
		if own[above]++; !guarded || own[above] < servers {
			can++
		}
	}
	return can
}

// take marks a member as gone, if the limits allow it.
func (s *shrinking) take(i int) bool {
	if s.guards != nil {
		above := s.t.Ancestor(s.members[i].Node, s.d.colocationTier())
		if servers, guarded := s.guards[above]; guarded {
			if servers <= 1 {
				return false
			}
			s.guards[above] = servers - 1
		}
	}
	s.gone[s.seatOf[i]] = true
	return true
}

func (s *shrinking) giveBack(i int) {
	above := s.t.Ancestor(s.members[i].Node, s.d.colocationTier())
	if servers, guarded := s.guards[above]; guarded {
		s.guards[above] = servers + 1
	}
	s.gone[s.seatOf[i]] = false
}
