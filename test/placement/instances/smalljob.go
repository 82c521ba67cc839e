// SPDX-License-Identifier: Apache-2.0

package instances

import (
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// job draws roles, with all members pending.
func (s *small) job() {
	pods := 2 + max(s.IntN(MaxPods-1), s.IntN(MaxPods-1), s.IntN(MaxPods-1)) // more of the large ones
	d := &placement.Demand{Pattern: placement.ParameterServer, ParameterBytes: pick(s.Rand, 0, 1, 3e8)}
	if chance(s.Rand, 0.5) {
		d.Pattern = placement.Collective
		d.Roles = s.ring(pods)
		s.groups(d)
	} else {
		d.Roles = s.parameterServer(pods)
	}
	for r := range d.Roles {
		d.Roles[r].Minimum = len(d.Roles[r].Pending)
	}
	s.in.Demand = d
}

func (s *small) parameterServer(pods int) []placement.Role {
	servers := 1 + s.IntN(max(1, min(4, pods-1)))
	workers := pods - servers
	server := placement.Role{Name: "server", Traffic: placement.Server, Request: s.request(0), Pending: upTo(servers)}
	worker := placement.Role{Name: "worker", Traffic: placement.Worker, Request: s.request(pick(s.Rand, 0, 0, 1, 2, 3))}
	roles := []placement.Role{server, worker}
	if workers > 2 && chance(s.Rand, 0.15) {
		other := placement.Role{Name: "other", Traffic: pick(s.Rand, placement.Silent, placement.Worker), Request: s.request(0)}
		other.Pending = upTo(1 + s.IntN(2))
		workers -= len(other.Pending)
		roles = append(roles, other)
	}
	roles[1].Pending = upTo(workers)
	return roles
}

func (s *small) ring(pods int) []placement.Role {
	gpus := pick(s.Rand, 0, 1, 1, 2, 2, 3, 4)
	roles := []placement.Role{{Name: "worker", Traffic: placement.Worker, Request: s.request(gpus)}}
	if pods > 3 && chance(s.Rand, 0.15) {
		other := placement.Role{Name: "other", Traffic: placement.Silent, Request: s.request(0)}
		if chance(s.Rand, 0.6) {
			other.Traffic, other.Request = placement.Worker, s.request(min(gpus, 1)*pick(s.Rand, 1, 2, 4))
		}
		other.Pending = upTo(1 + s.IntN(2))
		pods -= len(other.Pending)
		roles = append(roles, other)
	}
	roles[0].Pending = upTo(pods)
	return roles
}

func (s *small) groups(d *placement.Demand) {
	if !chance(s.Rand, 0.3) {
		return
	}
	per := max(1, int(d.Roles[0].Request[GPU]))
	d.GroupSize = per * pick(s.Rand, 2, 2, 2, 3, 4)
	if chance(s.Rand, 0.1) {
		d.GroupSize = 2 + s.IntN(6)
	}
	d.GroupWeight = pick(s.Rand, 0, 0, 2, 16)
}

// request of a pod with so many GPUs. Small whole numbers make packing hard.
func (s *small) request(gpus int) []int64 {
	request := make([]int64, columns)
	request[GPU] = int64(gpus)
	request[CPU] = 1 + s.Int64N(4)
	if chance(s.Rand, 0.5) {
		request[Memory] = s.Int64N(4)
	}
	return request
}

func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// limit draws limits that hold for members placed already.
func (s *small) limit() {
	d := s.in.Demand
	if chance(s.Rand, 0.2) {
		for r := range d.Roles {
			role := &d.Roles[r]
			if fewer := len(role.Pending) + len(role.Placed); chance(s.Rand, 0.5) && fewer > 1 {
				role.Minimum = s.IntN(fewer) // the gang may start with less
			}
		}
	}
	if d.Pattern == placement.ParameterServer && chance(s.Rand, 0.2) {
		d.Colocation = placement.Required
		d.ColocationTier = s.IntN(len(s.order.Tiers()))
	}
	if chance(s.Rand, 0.1) {
		for r := range d.Roles {
			d.Roles[r].Penalty = make([]int32, s.order.Nodes())
			for n := range d.Roles[r].Penalty {
				d.Roles[r].Penalty[n] = s.Int32N(3)
			}
		}
	}
}

// place moves some members to nodes that they have already, and draws the highest tier, which binds them.
func (s *small) place() {
	d := s.in.Demand
	if chance(s.Rand, 0.15) {
		d.HighestTier = 1 + s.IntN(len(s.order.Tiers())-1)
		s.home = s.order.Ancestor(placement.NodeID(s.IntN(s.order.Nodes())), d.HighestTier)
	}
	if !chance(s.Rand, 0.35) {
		return
	}
	share := pick(s.Rand, 0.15, 0.3, 0.6)
	left := 0
	for r := range d.Roles {
		role := &d.Roles[r]
		role.Pending = slices.DeleteFunc(role.Pending, func(index int) bool {
			if !chance(s.Rand, share) {
				return false
			}
			role.Placed = append(role.Placed, placement.Placed{Index: index, Node: s.node()})
			return true
		})
		left += len(role.Pending)
	}
	if left == 0 {
		role := &d.Roles[0]
		role.Pending, role.Placed = []int{role.Placed[0].Index}, role.Placed[1:]
	}
}

// node at random, within the domain that holds the job.
func (s *small) node() placement.NodeID {
	lo, hi := s.order.NodesOf(s.home)
	return lo + placement.NodeID(s.IntN(int(hi-lo)))
}
