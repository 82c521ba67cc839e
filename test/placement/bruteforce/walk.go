// SPDX-License-Identifier: Apache-2.0

package bruteforce

import "github.com/paddle-volcano/paddle-volcano/plugins/placement"

// defaultGroupWeight is how many times more a parallel group talks than the ring, where the job does not say.
const defaultGroupWeight = 64

// place is where one rank is: a node and an island of all islands.
type place struct{ node, island int }

// quietPods are pods of a role that exchanges nothing.
type quietPods struct{ role, node, pods int }

// walk follows a ring rank by rank and can go back. It counts in ends of runs, each of (N-1)/N M bytes: an edge between
// two ranks adds an end to every domain that one of them is in and not the other, on both sides.
type walk struct {
	tree   *tree
	group  int
	weight float64
	total  int // ranks
	ends   []float64
	quiet  []quietPods

	islandOf []int // number of each node's first island, of all islands
	room     []int // free GPUs by island
	ranks    []place
	used     int // islands that belong to one pod each

	priced, busiest float64
	log             []undone
}

type undone struct {
	slot  int // of ends
	added float64
}

// mark is a state to go back to.
type mark struct {
	log, ranks, used int
	priced, busiest  float64
	taken            []taken
}

type taken struct{ island, gpus int }

func newWalk(s *search) *walk {
	w := &walk{tree: s.tree, group: s.demand.GroupSize, weight: float64(s.demand.GroupWeight)}
	if w.weight == 0 {
		w.weight = defaultGroupWeight
	}
	pods := 0
	for r := range s.demand.Roles {
		pods += len(s.demand.Roles[r].Placed) + len(s.demand.Roles[r].Pending)
	}
	for n := range s.tree.nodes {
		w.islandOf = append(w.islandOf, len(w.room))
		if s.tree.islands[n] == nil {
			w.room = append(w.room, 0)
		}
		for _, island := range s.tree.islands[n] {
			w.room = append(w.room, island.Free)
		}
	}
	w.ends = make([]float64, s.tree.domains+len(w.room)+pods)
	return w
}

// pod puts the next ranks, those of one pod, on a node.
func (w *walk) pod(node, gpus int, fixed bool) mark {
	m := mark{log: len(w.log), ranks: len(w.ranks), used: w.used, priced: w.priced, busiest: w.busiest}
	switch islands := len(w.tree.islands[node]); {
	case islands == 0:
		w.rank(place{node, w.islandOf[node]}, gpus)
	case fixed:
		w.alone(node, gpus)
	default:
		for gpus > 0 {
			island := w.kubelet(w.islandOf[node], islands, gpus)
			some := min(gpus, w.room[island])
			if some == 0 {
				w.alone(node, gpus)
				break
			}
			w.room[island] -= some
			m.taken = append(m.taken, taken{island, some})
			w.rank(place{node, island}, some)
			gpus -= some
		}
	}
	return m
}

// alone puts ranks of one pod on a node, in islands that nobody knows: no other pod shares them.
func (w *walk) alone(node, gpus int) {
	w.used++
	w.rank(place{node, len(w.room) + w.used - 1}, gpus)
}

// kubelet picks an island for GPUs of one pod as its device plugins do: the fullest that holds them all, else the
// emptiest.
func (w *walk) kubelet(first, islands, gpus int) int {
	whole, part := -1, first
	for i := first; i < first+islands; i++ {
		if w.room[i] >= gpus && (whole < 0 || w.room[i] < w.room[whole]) {
			whole = i
		}
		if w.room[i] > w.room[part] {
			part = i
		}
	}
	if whole >= 0 {
		return whole
	}
	return part
}

// rank adds so many ranks in one place, with the edges that they end.
func (w *walk) rank(at place, count int) {
	for range count {
		k := len(w.ranks)
		w.ranks = append(w.ranks, at)
		if k > 0 {
			w.edge(w.ranks[k-1], at, 1)
		}
		if w.group < 2 {
			continue
		}
		if k%w.group > 0 {
			w.edge(w.ranks[k-1], at, w.weight)
		}
		if k%w.group == w.group-1 || k == w.total-1 {
			w.edge(at, w.ranks[k-k%w.group], w.weight)
		}
	}
}

// finish closes the ring.
func (w *walk) finish() mark {
	m := mark{log: len(w.log), ranks: len(w.ranks), used: w.used, priced: w.priced, busiest: w.busiest}
	w.edge(w.ranks[len(w.ranks)-1], w.ranks[0], 1)
	return m
}

func (w *walk) edge(a, b place, weight float64) {
	if a.island == b.island {
		return
	}
	w.end(w.tree.domains+a.island, weight, w.tree.islandWidth)
	w.end(w.tree.domains+b.island, weight, w.tree.islandWidth)
	w.priced += 2 * weight * w.tree.price[placement.IslandTier]
	for tier := placement.NodeTier; tier < w.tree.tiers; tier++ {
		u, v := w.tree.up[a.node][tier], w.tree.up[b.node][tier]
		if u == v {
			return
		}
		w.end(u, weight, w.tree.width[u])
		w.end(v, weight, w.tree.width[v])
		w.priced += 2 * weight * w.tree.price[tier]
	}
}

func (w *walk) end(slot int, weight, width float64) {
	w.ends[slot] += weight
	w.log = append(w.log, undone{slot, weight})
	w.busiest = max(w.busiest, w.ends[slot]/width)
}

func (w *walk) undo(m mark) {
	for _, u := range w.log[m.log:] {
		w.ends[u.slot] -= u.added
	}
	for _, t := range m.taken {
		w.room[t.island] += t.gpus
	}
	w.log, w.ranks, w.used, w.priced, w.busiest = w.log[:m.log], w.ranks[:m.ranks], m.used, m.priced, m.busiest
}
