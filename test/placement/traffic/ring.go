// SPDX-License-Identifier: Apache-2.0

package traffic

import "github.com/paddle-volcano/paddle-volcano/plugins/placement"

// defaultGroupWeight is how many times more a parallel group talks than the ring, where the job does not say.
const defaultGroupWeight = 64

// place is where one rank is: a node and an island of all islands.
type place struct{ node, island int }

// Ring follows the ranks of a collective job pod by pod and can go back. It counts in ends of runs, each of (N-1)/N M bytes: an edge between
// two ranks adds an end to every domain that one of them is in and not the other, on both sides.
type Ring struct {
	tree   *Tree
	group  int
	weight float64
	total  int // ranks
	ends   []float64

	islandOf []int // number of each node's first island, of all islands
	room     []int // free GPUs by island
	ranks    []place
	used     int // islands that belong to one pod each

	log []undone

	// Priced and Busiest so far, in ends of Unit bytes; busiest in ends by bandwidth.
	Priced, Busiest float64
}

type undone struct {
	slot  int // of ends
	added float64
}

// Mark is a state to go back to.
type Mark struct {
	log, ranks, used int
	priced, busiest  float64
	taken            []taken
}

type taken struct{ island, gpus int }

// gpuColumn is that of package instances.
const gpuColumn = 2

// GPUs of a pod, each of them a rank; a pod without is one rank.
func GPUs(request []int64) int { return max(1, int(request[gpuColumn])) }

// NewRing is an empty ring for a job.
func NewRing(tree *Tree, d *placement.Demand) *Ring {
	w := &Ring{tree: tree, group: d.GroupSize, weight: float64(d.GroupWeight)}
	if w.weight == 0 {
		w.weight = defaultGroupWeight
	}
	pods := 0
	for r := range d.Roles {
		if d.Roles[r].Traffic == placement.Worker {
			pods += len(d.Roles[r].Placed) + len(d.Roles[r].Pending)
			w.total += GPUs(d.Roles[r].Request) * (len(d.Roles[r].Placed) + len(d.Roles[r].Pending))
		}
	}
	for n := range tree.Nodes {
		w.islandOf = append(w.islandOf, len(w.room))
		if tree.Islands[n] == nil {
			w.room = append(w.room, 0)
		}
		for _, island := range tree.Islands[n] {
			w.room = append(w.room, island.Free)
		}
	}
	w.ends = make([]float64, tree.Domains+len(w.room)+pods)
	return w
}

// Pod puts the next ranks, those of one pod, on a node.
func (w *Ring) Pod(node, gpus int, fixed bool) Mark {
	m := Mark{log: len(w.log), ranks: len(w.ranks), used: w.used, priced: w.Priced, busiest: w.Busiest}
	switch islands := len(w.tree.Islands[node]); {
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

// Unit is the bytes of one end.
func (w *Ring) Unit(d *placement.Demand) float64 {
	if w.total < 2 {
		return 0
	}
	return float64(w.total-1) / float64(w.total) * Bytes(d)
}

// alone puts ranks of one pod on a node, in islands that nobody knows: no other pod shares them.
func (w *Ring) alone(node, gpus int) {
	w.used++
	w.rank(place{node, len(w.room) + w.used - 1}, gpus)
}

// kubelet picks an island for GPUs of one pod as its device plugins do: the fullest that holds them all, else the
// emptiest.
func (w *Ring) kubelet(first, islands, gpus int) int {
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
func (w *Ring) rank(at place, count int) {
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

// Close closes the ring.
func (w *Ring) Close() Mark {
	m := Mark{log: len(w.log), ranks: len(w.ranks), used: w.used, priced: w.Priced, busiest: w.Busiest}
	w.edge(w.ranks[len(w.ranks)-1], w.ranks[0], 1)
	return m
}

func (w *Ring) edge(a, b place, weight float64) {
	if a.island == b.island {
		return
	}
	w.end(w.tree.Domains+a.island, weight, w.tree.IslandWidth)
	w.end(w.tree.Domains+b.island, weight, w.tree.IslandWidth)
	w.Priced += 2 * weight * w.tree.Price[placement.IslandTier]
	for tier := placement.NodeTier; tier < w.tree.Tiers; tier++ {
		u, v := w.tree.Up[a.node][tier], w.tree.Up[b.node][tier]
		if u == v {
			return
		}
		w.end(u, weight, w.tree.Width[u])
		w.end(v, weight, w.tree.Width[v])
		w.Priced += 2 * weight * w.tree.Price[tier]
	}
}

func (w *Ring) end(slot int, weight, width float64) {
	w.ends[slot] += weight
	w.log = append(w.log, undone{slot, weight})
	w.Busiest = max(w.Busiest, w.ends[slot]/width)
}

// Undo goes back to a mark.
func (w *Ring) Undo(m Mark) {
	for _, u := range w.log[m.log:] {
		w.ends[u.slot] -= u.added
	}
	for _, t := range m.taken {
		w.room[t.island] += t.gpus
	}
	w.log, w.ranks, w.used, w.Priced, w.Busiest = w.log[:m.log], w.ranks[:m.ranks], m.used, m.priced, m.busiest
}
