// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// rankWalk counts, rank by rank, what a Collective on given nodes carries. The solver counts per domain instead
// (ring.go); tests compare the two.
//
// Ranks are GPUs, contiguous within a pod; a pod without GPUs is one rank. An all-reduce along the ring of N ranks sends
// 2 (N-1)/N M bytes over each edge (Patarasuk and Yuan 2009), so a domain that holds some ranks and not all carries, in
// each direction of its uplink,
//
//	T_v = c_v * 2 (N-1)/N * M        X_tier = sum over domains v of T_v
//
// where c_v is the number of its runs of consecutive ranks, N-1 and 0 being neighbors. A run has two ends: loads are
// counted in ends, of (N-1)/N * M bytes each.
//
// A parallel group is a separate ring, each end of which weighs as much as its axis says (groups.go).
type rankWalk struct {
	t *tree.Topology
	// node and island of each rank. Islands are numbered within a node; below 0 is an island that no other rank shares.
	node   []tree.NodeID
	island []int
	ends   *tree.Sums
	inside map[islandKey]int64 // of nodes that have several islands; of others the node's own ends stand for the island's
}

type islandKey struct {
	node   tree.NodeID
	island int
}

// walkRanks counts the ends of each domain and of each island.
func walkRanks(t *tree.Topology, d *gang.Demand, ring []gang.PlacedMember) *rankWalk {
	w := &rankWalk{t: t, ends: tree.NewSums(t), inside: map[islandKey]int64{}}
	w.rank(d, ring)
	for _, a := range Axes(d, len(w.node)) {
		w.along(a)
	}
	return w
}

func (w *rankWalk) rank(d *gang.Demand, ring []gang.PlacedMember) {
	ranks := 0
	for _, s := range ring {
		ranks += max(1, int(w.t.GPUs(d.Roles[s.Role].Request)))
	}
	w.node, w.island = make([]tree.NodeID, 0, ranks), make([]int, 0, ranks)
	free := map[tree.NodeID][]int16{}
	var picked []uint8
	for position, s := range ring {
		gpus := int(w.t.GPUs(d.Roles[s.Role].Request))
		islands := w.t.FreeIslands(s.Node)
		if gpus == 0 {
			islands = nil // a pod without GPUs is on the node as a whole
		}
		picked = picked[:0]
		if len(islands) > 0 && !s.Fixed {
			if free[s.Node] == nil {
				free[s.Node] = append([]int16(nil), islands...)
			}
			picked = tree.AssignGPUs(free[s.Node], gpus, picked)
		}
		for g := range max(1, gpus) {
			island := 0
			switch {
			case g < len(picked):
				island = int(picked[g])
			case len(islands) > 0:
				island = -1 - position
			}
			w.node, w.island = append(w.node, s.Node), append(w.island, island)
		}
	}
}

// along counts the rings of an axis.
func (w *rankWalk) along(axis Axis) {
	for rank, a := range w.node {
		next := axis.Next(rank, len(w.node))
		b := w.node[next]
		if a != b || w.island[rank] != w.island[next] {
			w.end(a, w.island[rank], axis.Weight)
			w.end(b, w.island[next], axis.Weight)
		}
		for u, v := tree.DomainID(a), tree.DomainID(b); u != v; u, v = w.t.Parent(u), w.t.Parent(v) {
			w.ends.Add(u, axis.Weight)
			w.ends.Add(v, axis.Weight)
		}
	}
}

func (w *rankWalk) end(node tree.NodeID, island int, weight int64) {
	if len(w.t.FreeIslands(node)) > 0 {
		w.inside[islandKey{node, island}] += weight
	}
}

// islands are the sum of the loads of all islands, and the largest.
func (w *rankWalk) islands() (sum, most int64) {
	for i, v := range w.ends.Domains {
		if int(v) < w.t.Nodes() && len(w.t.FreeIslands(tree.NodeID(v))) == 0 {
			sum += w.ends.Values[i]
			most = max(most, w.ends.Values[i])
		}
	}
	for _, n := range w.inside {
		sum += n
		most = max(most, n)
	}
	return sum, most
}
