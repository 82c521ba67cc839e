// SPDX-License-Identifier: Apache-2.0

package solver

import (
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// binPackWork bounds the table of binPack.
const binPackWork = 1 << 21

// packTable is what pack works out: over the nodes one by one, for each number of members of all roles but the last, the most
// members of the last role that fit beside them.
type packTable struct {
	b       *partialAssignment
	demands []roleDemand // the one that wants most last
	nodes   []tree.NodeID
	states  int
	vectors [][]int32 // of each state: how many of each role demand but the last
	choice  []int32   // node-major: of each state, the node's own
}

// binPack places roles that compete for the same nodes, where descent ran into a corner. It finds capacity if there is any, and
// looks at no cost. It gives up on what is too much work.
func (b *partialAssignment) binPack(lo, hi tree.NodeID) bool {
	b.reset()
	k := &packTable{b: b, demands: b.p.roleDemands(), states: 1}
	if len(k.demands) < 2 {
		return false
	}
	most := 0
	for i := range k.demands {
		if k.demands[i].want >= k.demands[most].want {
			most = i
		}
	}
	last := len(k.demands) - 1
	k.demands[most], k.demands[last] = k.demands[last], k.demands[most]
	for i := range k.demands[:last] {
		if k.states *= int(k.demands[i].want) + 1; k.states > binPackWork {
			return false
		}
	}
	k.enumerate()
	work := 0
	for n := lo; n < hi; n++ {
		own, some := 1, false
		for i := range k.demands {
			fit := min(k.demands[i].shape.Fit(n), k.demands[i].want)
			some = some || fit > 0
			if i < last {
				own *= int(fit) + 1
			}
		}
		if some {
			k.nodes = append(k.nodes, n)
			work += own * k.states
		}
	}
	if work > binPackWork*b.p.effort || !k.fill() {
		return false
	}
	k.place()
	return b.complete()
}

func (k *packTable) enumerate() {
	last := len(k.demands) - 1
	for s := range k.states {
		vector := make([]int32, last)
		for i := range vector {
			size := int(k.demands[i].want) + 1
			vector[i] = int32(s % size)
			s /= size
		}
		k.vectors = append(k.vectors, vector)
	}
}

const noFit = -1

// fill works the table out, and reports whether everybody finds capacity.
func (k *packTable) fill() bool {
	most, next := make([]int32, k.states), make([]int32, k.states)
	for s := range most {
		most[s] = noFit
	}
	most[0] = 0
	k.choice = make([]int32, len(k.nodes)*k.states)
	for i, n := range k.nodes {
		for s := range next {
			next[s] = noFit
		}
		for own, vector := range k.vectors {
			k.b.p.stop.count(1)
			beside := k.b.beside(n, k.demands, vector)
			if beside == noFit {
				continue
			}
			k.b.p.stop.count(k.states - own)
			for s := own; s < k.states; s++ {
				if before := most[s-own]; before >= 0 && before+beside > next[s] && k.sums(s, own) {
					next[s], k.choice[i*k.states+s] = before+beside, int32(own)
				}
			}
		}
		most, next = next, most
	}
	return most[k.states-1] >= k.demands[len(k.demands)-1].want
}

// sums reports whether a part of a state is no more than the state.
func (k *packTable) sums(state, part int) bool {
	for i, n := range k.vectors[part] {
		if n > k.vectors[state][i] {
			return false
		}
	}
	return true
}

func (k *packTable) place() {
	last := len(k.demands) - 1
	for i, s := len(k.nodes)-1, k.states-1; i >= 0; i-- {
		own := int(k.choice[i*k.states+s])
		for l, n := range k.vectors[own] {
			k.b.put(k.nodes[i], &k.demands[l], n)
		}
		s -= own
	}
	for _, n := range k.nodes {
		if k.b.mayHold(n, &k.demands[last]) {
			k.b.put(n, &k.demands[last], k.demands[last].want)
		}
	}
}

// beside is how many members of the last role demand fit on a node beside so many of the others; noFit if those do not fit.
func (b *partialAssignment) beside(n tree.NodeID, demands []roleDemand, vector []int32) int32 {
	p := b.p
	last := &demands[len(demands)-1]
	for i, c := range vector {
		if c > demands[i].shape.Fit(n) {
			return noFit
		}
	}
	fit := min(last.shape.Fit(n), last.want)
	for r, free := range p.t.Free(tree.DomainID(n)) {
		var used int64
		for i, c := range vector {
			used += int64(c) * p.request(&demands[i])[r]
		}
		if used > 0 && used > free {
			return noFit
		}
		if amount := p.request(last)[r]; amount > 0 && fit > 0 {
			fit = min(fit, int32(min(tree.MaxFit, (max(0, free)-used)/amount)))
		}
	}
	if p.colocationTier != tree.NodeTier || b.serves(n) {
		return fit
	}
	return b.besideServer(demands, vector, fit)
}

// besideServer honours the colocation limit: workers fit only where a server is.
func (b *partialAssignment) besideServer(demands []roleDemand, vector []int32, fit int32) int32 {
	class := func(i int) int { return b.p.podClasses[demands[i].podClasses[0]].class }
	last := len(demands) - 1
	if class(last) == gang.ServerClass && fit > 0 {
		return fit
	}
	for i, c := range vector {
		if c > 0 && class(i) == gang.ServerClass {
			return fit
		}
	}
	for i, c := range vector {
		if c > 0 && class(i) > gang.ServerClass {
			return noFit
		}
	}
	if class(last) > gang.ServerClass {
		return 0
	}
	return fit
}

// mayHold reports whether a role may be on a node, as far as it must have a server there.
func (b *partialAssignment) mayHold(n tree.NodeID, l *roleDemand) bool {
	return b.p.colocationTier != tree.NodeTier || b.p.podClasses[l.podClasses[0]].class <= gang.ServerClass || b.serves(n)
}

// serves reports whether a node holds a server.
func (b *partialAssignment) serves(n tree.NodeID) bool {
	c := b.position[n]
	return c > 0 && b.row(int(c) - 1)[gang.ServerClass] > 0
}
