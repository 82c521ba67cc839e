// SPDX-License-Identifier: Apache-2.0

package anneal

import (
	"cmp"
	"slices"
)

// move changes the state at random and returns how to undo it, or nil if what it tried has no room.
func (w *walk) move() (undo func()) {
	switch {
	case len(w.p.total) > 1 && w.IntN(3) == 0:
		return w.swap()
	case w.IntN(8) == 0:
		return w.clear()
	case w.IntN(16) == 0:
		return w.relocate()
	default:
		role := w.IntN(len(w.pods))
		return w.shift(role, w.IntN(len(w.pods[role])), w.target())
	}
}

// target is a node: any, or one of a rack that holds pods, or one that holds pods itself.
func (w *walk) target() int {
	role := w.IntN(len(w.pods))
	held := w.pods[role][w.IntN(len(w.pods[role]))]
	switch w.IntN(4) {
	case 0:
		return w.IntN(len(w.left))
	case 1:
		return held
	default:
		rack := w.p.racks[w.p.up[held][1]]
		return rack[w.IntN(len(rack))]
	}
}

// shift moves one pod.
func (w *walk) shift(role, pod, to int) (undo func()) {
	from := w.pods[role][pod]
	if from == to || !w.fits(role, to) {
		return nil
	}
	w.place(role, pod, to)
	return func() { w.place(role, pod, from) }
}

func (w *walk) place(role, pod, to int) {
	w.put(role, w.pods[role][pod], -1)
	w.put(role, to, 1)
	w.pods[role][pod] = to
}

// swap lets a server and a worker, or several workers, change places: as many workers leave the server's node as it takes
// for the server they make room for.
func (w *walk) swap() (undo func()) {
	one, other := 0, 1
	if w.IntN(2) == 0 {
		one, other = 1, 0
	}
	a := w.IntN(len(w.pods[one]))
	from := w.pods[one][a]
	b := w.IntN(len(w.pods[other]))
	to := w.pods[other][b]
	if from == to {
		return nil
	}
	w.put(one, from, -1)
	moved := []int{}
	back := func() {
		for _, pod := range moved {
			w.place(other, pod, to)
		}
	}
	for pod := range w.pods[other] {
		if w.fits(one, to) {
			break
		}
		if w.pods[other][pod] == to && w.fits(other, from) {
			w.place(other, pod, from)
			moved = append(moved, pod)
		}
	}
	if len(moved) == 0 || !w.fits(one, to) {
		back()
		w.put(one, from, 1)
		return nil
	}
	w.put(one, to, 1)
	w.pods[one][a] = to
	return func() {
		w.put(one, to, -1)
		back()
		w.put(one, from, 1)
		w.pods[one][a] = from
	}
}

// clear moves as many pods of one node as another one takes.
func (w *walk) clear() (undo func()) {
	role := w.IntN(len(w.pods))
	from, to := w.pods[role][w.IntN(len(w.pods[role]))], w.target()
	if from == to {
		return nil
	}
	var undone []func()
	for role := range w.pods {
		for pod := range w.pods[role] {
			if w.pods[role][pod] != from {
				continue
			}
			if undo := w.shift(role, pod, to); undo != nil {
				undone = append(undone, undo)
			}
		}
	}
	return all(undone)
}

// relocate moves as many pods of one rack as another one takes.
func (w *walk) relocate() (undo func()) {
	role := w.IntN(len(w.pods))
	from := w.p.up[w.pods[role][w.IntN(len(w.pods[role]))]][1]
	to := w.IntN(len(w.p.racks))
	if w.IntN(2) == 0 {
		to = w.p.up[w.target()][1]
	}
	if from == to {
		return nil
	}
	rack := w.order(w.p.racks[to])
	var undone []func()
	for role := range w.pods {
		for pod := range w.pods[role] {
			if w.p.up[w.pods[role][pod]][1] != from {
				continue
			}
			for _, node := range rack {
				if undo := w.shift(role, pod, node); undo != nil {
					undone = append(undone, undo)
					break
				}
			}
		}
	}
	return all(undone)
}

// order is the nodes of a rack from some node on, or those with the most left first.
func (w *walk) order(rack []int) []int {
	first := w.IntN(len(rack))
	ordered := append(append(make([]int, 0, len(rack)), rack[first:]...), rack[:first]...)
	if w.IntN(2) == 0 {
		slices.SortStableFunc(ordered, func(a, b int) int {
			return cmp.Or(cmp.Compare(w.left[b].GPU, w.left[a].GPU), cmp.Compare(w.left[b].CPU, w.left[a].CPU))
		})
	}
	return ordered
}

// all undoes everything, last first; nil if there is nothing.
func all(undone []func()) (undo func()) {
	if len(undone) == 0 {
		return nil
	}
	return func() {
		for _, undo := range slices.Backward(undone) {
			undo()
		}
	}
}

// names gives the pods of each role their nodes, in index order along the tree.
func (p *problem) names(pods [][]int) map[string]string {
	bound := map[string]string{}
	for role := range pods {
		slices.Sort(pods[role])
		for index, node := range pods[role] {
			bound[p.job.PodName(p.job.Roles[role].Task, index)] = p.fleet[node].Name
		}
	}
	return bound
}
