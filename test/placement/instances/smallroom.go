// SPDX-License-Identifier: Apache-2.0

package instances

import "github.com/paddle-volcano/paddle-volcano/plugins/placement"

// capacity draws what is free on the nodes, and which of them are eligible.
func (s *small) capacity() {
	planted := chance(s.Rand, 0.6)
	sets := make([]*placement.NodeSet, len(s.in.Demand.Roles))
	for r := range sets {
		if chance(s.Rand, 0.12) {
			sets[r] = placement.NewNodeSet(s.order)
			s.in.Demand.Roles[r].Eligible = sets[r]
			for n := range s.order.Nodes() {
				if chance(s.Rand, 0.6) {
					sets[r].Add(placement.NodeID(n))
				}
			}
		}
	}
	if planted {
		s.plant(sets)
		return
	}
	s.scatter()
}

// plant puts every pending member somewhere and gives the nodes that much, and some of them a little more.
func (s *small) plant(sets []*placement.NodeSet) {
	few := make([]placement.NodeID, 2+s.IntN(4))
	for i := range few {
		few[i] = s.node()
	}
	for r := range s.in.Demand.Roles {
		role := &s.in.Demand.Roles[r]
		for range role.Pending {
			node := pick(s.Rand, few...)
			add(s.free[node], role.Request)
			if sets[r] != nil {
				sets[r].Add(node)
			}
		}
	}
	slack := pick(s.Rand, 0.3, 0.6, 1)
	for n := range s.free {
		if !chance(s.Rand, slack) {
			continue
		}
		for range 1 + s.IntN(3) {
			add(s.free[n], pick(s.Rand, s.in.Demand.Roles...).Request)
		}
		if chance(s.Rand, 0.3) {
			s.free[n][s.IntN(columns)] += s.Int64N(3)
		}
	}
}

// scatter deals out about as much as the job needs, or up to three times as much, unevenly.
func (s *small) scatter() {
	need := make([]float64, columns)
	for r := range s.in.Demand.Roles {
		role := &s.in.Demand.Roles[r]
		for c, amount := range role.Request {
			need[c] += float64(amount) * float64(len(role.Pending))
		}
	}
	factor := 1 + 2*s.Float64()
	weight, sum := make([]float64, len(s.free)), 0.0
	for n := range weight {
		weight[n] = 0.1 + s.Float64()
		sum += weight[n]
	}
	for n := range s.free {
		for c := range need {
			exact := factor * need[c] * weight[n] / sum * (0.7 + 0.6*s.Float64())
			s.free[n][c] = int64(exact + s.Float64())
		}
	}
}

func add(to, amounts []int64) {
	for c, amount := range amounts {
		to[c] += amount
	}
}

// islands splits the free GPUs of some nodes, where the job takes GPUs.
func (s *small) islands() {
	share := pick(s.Rand, 0, 0.5, 1)
	gpus := false
	for r := range s.in.Demand.Roles {
		// A rank without a GPU is in no island, so it gets a topology without any.
		if role := &s.in.Demand.Roles[r]; role.Request[GPU] > 0 {
			gpus = true
		} else if s.in.Demand.Pattern == placement.Collective && role.Traffic == placement.Worker {
			return
		}
	}
	for n := range s.free {
		free := int(s.free[n][GPU])
		if !gpus || free == 0 || !chance(s.Rand, share) {
			continue
		}
		islands := make([]placement.Island, 2+2*s.IntN(2))
		for range free {
			islands[s.IntN(len(islands))].Free++
		}
		for i := range islands {
			islands[i].Size = islands[i].Free + s.IntN(3)
		}
		s.islandz[n] = islands
	}
}
