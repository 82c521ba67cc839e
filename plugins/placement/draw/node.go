// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"slices"
	"strconv"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// nodeBox is a node with what is on it. Places are relative to its upper left corner.
type nodeBox struct {
	w, h    int
	name    string
	islands []islandBox
	chips   []chipBox
}

// islandBox are the cells of one island, in columns.
type islandBox struct {
	group         group
	x, y, columns int
}

// chipBox is a pod that has no cells.
type chipBox struct {
	pod, x, y, w int
}

// nodeBoxes of all nodes with pods. All are equally wide, so that they line up.
func (s *scene) nodeBoxes() map[placement.NodeID]*nodeBox {
	ids := make([]placement.NodeID, 0, len(s.pods))
	for id := range s.pods {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	names, width := s.nodeNames(ids), s.cells(4)
	boxes := make(map[placement.NodeID]*nodeBox, len(ids))
	for _, id := range ids {
		n := &nodeBox{name: names[id]}
		width = max(width, textWidth(n.name, s.scale.name))
		for _, g := range s.groups(id) {
			n.islands = append(n.islands, islandBox{group: g, columns: columns(len(g))})
		}
		width = max(width, s.widest(n))
		boxes[id] = n
	}
	for id, n := range boxes {
		s.fill(n, s.pods[id], width)
	}
	return boxes
}

// outline is how far the outline of an island is from its cells.
const outline = 3

// columns of an island: two rows of cells as long as that is not too wide.
func columns(cells int) int { return min(16, (cells+1)/2) }

// widest row of islands: no wider than eight GPUs in two islands of two rows, and a little more.
func (s *scene) widest(n *nodeBox) int {
	most, row := 0, -s.islandGap()
	for _, i := range n.islands {
		w := s.cells(i.columns)
		if row += s.islandGap() + w; row > s.cells(8)+3*s.islandGap() {
			row = w
		}
		most = max(most, row)
	}
	return most
}

func (s *scene) cells(n int) int { return n*(s.scale.cell+s.scale.gap) - s.scale.gap }

func (s *scene) islandGap() int { return s.scale.pad + 1 }

// fill puts islands and chips into a node that is so wide inside.
func (s *scene) fill(n *nodeBox, pods []pod, width int) {
	c := s.scale
	n.w = width + 2*c.pad
	x, y, height := 0, c.header, 0
	if len(n.islands) > 1 {
		y += outline
	}
	for i := range n.islands {
		island := &n.islands[i]
		if w := s.cells(island.columns); x > 0 && x+w > width {
			x, y = 0, y+height+s.islandGap()
			height = 0
		}
		island.x, island.y = c.pad+x, y
		x += s.cells(island.columns) + s.islandGap()
		height = max(height, s.cells((len(island.group)+island.columns-1)/island.columns))
	}
	if len(n.islands) > 0 {
		y += height + c.pad
	}
	if len(n.islands) > 1 && c.number > 0 {
		y += outline
	}
	x = 0
	seated := seats(n)
	for p := range pods {
		if seated[p] {
			continue
		}
		s.shows.chip = true
		w := s.chipWidth(pods[p].index)
		if x > 0 && x+w > width {
			x, y = 0, y+c.chip+c.gap
		}
		n.chips = append(n.chips, chipBox{pod: p, x: c.pad + x, y: y, w: w})
		x += w + c.gap
	}
	if len(n.chips) > 0 {
		y += c.chip + c.pad
	}
	n.h = y
}

func (s *scene) chipWidth(index int) int {
	if s.scale.number == 0 {
		return s.scale.chip
	}
	return max(s.scale.cell, textWidth(strconv.Itoa(index), s.scale.number)+8)
}

// seats are the positions of pods that have cells.
func seats(n *nodeBox) map[int]bool {
	seated := map[int]bool{}
	for _, island := range n.islands {
		for _, cell := range island.group {
			if cell >= 0 {
				seated[cell] = true
			}
		}
	}
	return seated
}
