// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"fmt"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// box is a domain that holds pods of the job.
type box struct {
	domain     placement.DomainID
	x, y, w, h int
	// rows of the domains inside that hold pods.
	rows [][]*box
	// rest says, in one line or two, what the other domains inside are; at the bottom of the box.
	rest []string
	node *nodeBox
}

// layout is the tree of boxes with their sizes; place gives them places. Domains of nodes are as wide as the paper or a
// part of it, so that several stand side by side, whatever needs the smallest sheet.
func (s *scene) layout() (best *box) {
	nodes := s.nodeBoxes()
	for s.abreast = 1; s.abreast <= 4; s.abreast++ {
		b := s.box(s.top(), nodes, paperWidth-2*margin)
		if best == nil || (extent{b.w, b.h}).paper() < (extent{best.w, best.h}).paper() {
			best = b
		}
	}
	return best
}

// box of a domain, with its size.
func (s *scene) box(d placement.DomainID, nodes map[placement.NodeID]*nodeBox, most int) *box {
	if s.t.TierOf(d) == placement.NodeTier {
		n := nodes[placement.NodeID(d)]
		return &box{domain: d, w: n.w, h: n.h, node: n}
	}
	if s.t.TierOf(d) == placement.NodeTier+1 {
		most = (most - (s.abreast-1)*between) / s.abreast
	}
	b := &box{domain: d}
	var inside []*box
	lo, hi := s.t.Children(d)
	for child := lo; child < hi; child++ {
		if s.holds[child] {
			inside = append(inside, s.box(child, nodes, most-inset-frame))
		}
	}
	b.rows = pack(inside, between, s.scale.stub, most-inset-frame)
	size := sizeOf(b.rows, between, s.scale.stub)
	w, h := max(size.w, min(s.boxNameWidth(d), 300)-inset), size.h
	b.rest = s.rest(d, w)
	for _, line := range b.rest {
		w = max(w, restWidth(line))
	}
	if b.rest != nil {
		h += between + restHeight(b.rest)
	}
	b.w = inset + w + frame
	b.h = boxHeader + h + frame
	return b
}

func (s *scene) boxNameWidth(d placement.DomainID) int {
	return trunk + 8 + textWidth(s.tierName(d)+" ", bodySize) + textWidth(s.nameOf(d), bodySize)
}

// rest of a domain: its children without pods, in one line if it fits into a width. nil if there are none.
func (s *scene) rest(d placement.DomainID, width int) []string {
	var unused, nodes int
	var gpus int64
	lo, hi := s.t.Children(d)
	for child := lo; child < hi; child++ {
		if !s.holds[child] {
			first, last := s.t.NodesOf(child)
			unused++
			nodes += int(last - first)
			gpus += s.t.FreeGPUs(child)
		}
	}
	if unused == 0 {
		return nil
	}
	lines := []string{fmt.Sprintf("+ %s not used", count(unused, s.tierName(lo)))}
	var details []string
	if s.t.TierOf(lo) > placement.NodeTier {
		details = append(details, count(nodes, s.tierName(0)))
	}
	if gpus > 0 {
		details = append(details, count(int(gpus), "GPU")+" free")
	}
	if len(details) > 0 {
		lines = append(lines, strings.Join(details, ", "))
	}
	if line := strings.Join(lines, ": "); restWidth(line) <= width {
		return []string{line}
	}
	return lines
}

const restSize = 10

func restWidth(line string) int { return textWidth(line, restSize) + 2*8 }

func restHeight(lines []string) int { return 8 + 13*len(lines) }

// place puts a box and all inside it. Boxes in a row are equally high.
func (b *box) place(x, y int, s *scene) {
	b.x, b.y = x, y
	top := y + boxHeader
	for _, row := range b.rows {
		left, height := x+inset, 0
		for _, inner := range row {
			height = max(height, inner.h)
		}
		for _, inner := range row {
			inner.h = height
			inner.place(left, top+s.scale.stub, s)
			left += inner.w + between
		}
		top += s.scale.stub + height
	}
}
