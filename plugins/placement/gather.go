// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"cmp"
	"slices"
)

// gather makes another start for a ring of parallel groups: group by group, those with members placed before first, each
// whole on the tightest node that holds it, as near as can be to what is placed already. Groups that no node holds fill
// the roomiest nodes that are near. It says whether everybody has a node.
func (s *ringSearch) gather(at []NodeID) bool {
	group := int(s.ring.group)
	var starts []int
	for lo := 0; lo < len(s.pods); lo += group {
		starts = append(starts, lo)
	}
	settled := func(lo int) int {
		if s.settled(lo, min(group, len(s.pods)-lo)) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(starts, func(a, b int) int { return cmp.Compare(settled(a), settled(b)) })
	anchor := NodeID(-1)
	for i, pod := range s.pods {
		if at[i] = pod.node; pod.node >= 0 {
			anchor = pod.node
		}
	}
	for _, lo := range starts {
		hi := min(lo+group, len(s.pods))
		for _, pod := range s.pods[lo:hi] {
			if pod.node >= 0 {
				anchor = pod.node
			}
		}
		for i := lo; i < hi; i++ {
			if s.pods[i].node >= 0 {
				continue
			}
			want := hi - i
			j := s.nearest(anchor, &s.p.kinds[s.pods[i].kind], want)
			if j < 0 {
				return false
			}
			for ; i < hi && s.pods[i].node < 0 && s.mayTake(j, &s.p.kinds[s.pods[i].kind]); i++ {
				at[i] = s.nodes[j]
				s.shift(at[i:i+1], i, -1)
			}
			i--
			anchor = s.nodes[j]
		}
	}
	return true
}

// nearest of the nodes that hold so many pods of a kind, the tightest of these; if there is none, the roomiest.
func (s *ringSearch) nearest(anchor NodeID, kind *kind, want int) int {
	best := -1
	var room, far int
	for j, n := range s.nodes {
		if kind.shape.fit[n] == 0 {
			continue
		}
		own, away := s.rooms(j, kind), 0
		if own == 0 {
			continue
		}
		if anchor >= 0 {
			away = s.p.t.meet(anchor, n)
		}
		better := best < 0
		switch {
		case better:
		case (own >= want) != (room >= want):
			better = own >= want
		case away != far:
			better = away < far
		case own >= want:
			better = own < room
		default:
			better = own > room
		}
		if better {
			best, room, far = j, own, away
		}
	}
	return best
}

// mayTake says whether one more pod of a kind may go to a node.
func (s *ringSearch) mayTake(j int, kind *kind) bool {
	return kind.shape.fit[s.nodes[j]] > 0 && s.hasRoom(j, kind)
}

// rooms is how many more pods of a kind a node can take.
func (s *ringSearch) rooms(j int, kind *kind) int {
	rooms := int64(maxFit)
	for _, n := range kind.needs {
		rooms = min(rooms, s.room[j][n.resource]/n.amount)
	}
	return int(rooms)
}
