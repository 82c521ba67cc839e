// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"cmp"
	"slices"
)

// stopOtherwise says what is in the way where it is not room: running members that break the limit, servers that must be
// near, or the search.
func (e *Explanation) stopOtherwise(g *gang) {
	tier := &e.Tiers[e.Decisive]
	if g.apart > 1 {
		apart := Stop{Role: g.firstRole(), Cause: RunningApart, Nodes: g.apart}
		tier.Best[0].Stops = append([]Stop{apart}, tier.Best[0].Stops...)
		return
	}
	for i := range tier.Best {
		g.stopSearch(&tier.Best[i])
	}
}

// stopSearch says why there is no plan in a domain that has room, or has room for more workers than may be beside servers.
func (g *gang) stopSearch(room *DomainRoom) {
	if !g.d.colocated() {
		if len(room.Stops) == 0 {
			room.Stops = []Stop{{Role: g.firstRole(), Cause: NotFound}}
		}
		return
	}
	var workers int64
	for _, r := range g.roles {
		if g.d.class(r) > serverClass {
			workers += int64(room.Together[r])
		}
	}
	alone := g.noServer(room.Domain)
	if len(room.Stops) == 0 || alone.Free >= 0 && alone.Free < workers {
		room.Stops = append([]Stop{alone}, room.Stops...)
	}
}

// company is a domain that may hold servers and workers side by side.
type company struct {
	domain  DomainID
	runs    bool // a server runs there
	workers int64
}

// noServer counts how many workers have room in as many domains as servers can be in: the best ones.
func (g *gang) noServer(v DomainID) Stop {
	tier := g.d.colocationTier()
	s := Stop{Role: g.workerRole(), Cause: NoServer, Free: -1, Tier: tier}
	first, end := g.t.NodesOf(v)
	running, servers := g.servers(tier)
	var all []company
	for c := g.t.Ancestor(first, tier); c <= g.t.Ancestor(end-1, tier); c++ {
		at := company{domain: c, runs: running[c]}
		hosts := int64(0)
		for _, r := range g.roles {
			if class := g.d.class(r); class == serverClass {
				hosts += g.shapes[r].sumOf(c)
			} else if class > serverClass {
				at.workers += min(g.need[r], g.shapes[r].sumOf(c))
			}
		}
		if at.runs || hosts > 0 {
			all = append(all, at)
		}
	}
	slices.SortFunc(all, func(a, b company) int {
		return cmp.Or(cmp.Compare(b.workers, a.workers), cmp.Compare(a.domain, b.domain))
	})
	var room, needed int64
	used := 0
	for _, at := range all {
		if at.runs || servers > 0 {
			room += at.workers
			used++
		}
		if !at.runs {
			servers--
		}
	}
	for _, r := range g.roles {
		if g.d.class(r) > serverClass {
			needed += g.need[r]
		}
	}
	if room < needed {
		s.Free, s.Needed, s.Nodes = room, needed, used
	}
	return s
}

// servers are the domains of a tier in which some run, and how many more there will be.
func (g *gang) servers(tier int) (running map[DomainID]bool, more int64) {
	running = map[DomainID]bool{}
	for r := range g.d.Roles {
		if g.d.class(r) != serverClass {
			continue
		}
		more += g.need[r]
		for _, member := range g.d.Roles[r].Placed {
			running[g.t.Ancestor(member.Node, tier)] = true
		}
	}
	return running, more
}

func (g *gang) workerRole() int {
	for _, r := range g.roles {
		if g.d.class(r) > serverClass {
			return r
		}
	}
	return g.firstRole()
}

// firstRole that needs members, the hardest one.
func (g *gang) firstRole() int {
	if len(g.roles) == 0 {
		return 0
	}
	return g.roles[0]
}
