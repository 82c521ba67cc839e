// SPDX-License-Identifier: Apache-2.0

package placement

// ringWalk counts, rank by rank, what a Collective on given nodes carries. The solver counts per domain instead
// (collective.go); tests hold the two together.
//
// Ranks are GPUs, contiguous within a pod; a pod without GPUs is one rank. An all-reduce along the ring of N ranks sends
// 2 (N-1)/N M bytes over each edge (Patarasuk and Yuan 2009), so a domain that holds some ranks and not all carries, in
// each direction of its uplink,
//
//	T_v = c_v * 2 (N-1)/N * M        X_tier = sum over domains v of T_v
//
// where c_v is the number of its runs of consecutive ranks, N-1 and 0 being neighbours. A run has two ends: loads are
// counted in ends, of (N-1)/N * M bytes each.
//
// A parallel group of g consecutive ranks is a ring of its own, each end of which weighs GroupWeight times as much.
type ringWalk struct {
	t *Topology
	// node and island of each rank. Islands are numbered within a node; below 0 is an island that no other rank shares.
	node   []NodeID
	island []int
	ends   *tally
	inside map[islandKey]int64 // of nodes that have several islands; of others the node's own ends stand for the island's
}

type islandKey struct {
	node   NodeID
	island int
}

// walkRing counts the ends of each domain and of each island.
func walkRing(t *Topology, d *Demand, ring []seat) *ringWalk {
	w := &ringWalk{t: t, ends: newTally(t), inside: map[islandKey]int64{}}
	w.rank(d, ring)
	w.around(0, len(w.node), 1)
	if d.GroupSize > 1 {
		for lo := 0; lo < len(w.node); lo += d.GroupSize {
			w.around(lo, min(lo+d.GroupSize, len(w.node)), GroupWeight)
		}
	}
	return w
}

func (w *ringWalk) rank(d *Demand, ring []seat) {
	ranks := 0
	for _, s := range ring {
		ranks += max(1, int(w.t.gpusOf(d.Roles[s.role].Request)))
	}
	w.node, w.island = make([]NodeID, 0, ranks), make([]int, 0, ranks)
	free := map[NodeID][]int16{}
	var picked []uint8
	for position, s := range ring {
		gpus := int(w.t.gpusOf(d.Roles[s.role].Request))
		islands := w.t.gpus.of(s.node)
		if gpus == 0 {
			islands = nil // a pod without GPUs is on the node as a whole
		}
		picked = picked[:0]
		if len(islands) > 0 && !s.fixed {
			if free[s.node] == nil {
				free[s.node] = append([]int16(nil), islands...)
			}
			picked = pickIslands(free[s.node], gpus, picked)
		}
		for g := range max(1, gpus) {
			island := 0
			switch {
			case g < len(picked):
				island = int(picked[g])
			case len(islands) > 0:
				island = -1 - position
			}
			w.node, w.island = append(w.node, s.node), append(w.island, island)
		}
	}
}

// around counts one ring over the ranks from lo up to hi.
func (w *ringWalk) around(lo, hi int, weight int64) {
	for rank := lo; rank < hi; rank++ {
		next := rank + 1
		if next == hi {
			next = lo
		}
		a, b := w.node[rank], w.node[next]
		if a != b || w.island[rank] != w.island[next] {
			w.end(a, w.island[rank], weight)
			w.end(b, w.island[next], weight)
		}
		for u, v := DomainID(a), DomainID(b); u != v; u, v = w.t.parent[u], w.t.parent[v] {
			w.ends.add(u, weight)
			w.ends.add(v, weight)
		}
	}
}

func (w *ringWalk) end(node NodeID, island int, weight int64) {
	if len(w.t.gpus.of(node)) > 0 {
		w.inside[islandKey{node, island}] += weight
	}
}

// islands are the sum of the loads of all islands, and the largest.
func (w *ringWalk) islands() (sum, most int64) {
	for i, v := range w.ends.domains {
		if int(v) < w.t.Nodes() && len(w.t.gpus.of(NodeID(v))) == 0 {
			sum += w.ends.sums[i]
			most = max(most, w.ends.sums[i])
		}
	}
	for _, n := range w.inside {
		sum += n
		most = max(most, n)
	}
	return sum, most
}

// endBytes of one end of a run of ranks.
func endBytes(ranks int, parameterBytes float64) float64 {
	if ranks < 2 {
		return 0
	}
	return float64(ranks-1) / float64(ranks) * parameterBytes
}
