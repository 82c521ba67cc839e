// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// node with its islands, the pods in them, and the chips of pods without cells.
func (p *painter) node(b *box) {
	c, n := p.scale, b.node
	id := placement.NodeID(b.domain)
	name := p.t.NodeName(id)
	p.put(`<rect class="node" x="%d" y="%d" width="%d" height="%d" rx="5"/>`, b.x, b.y, b.w, b.h)
	p.titled("", b.x+c.pad, b.y+c.header-6, c.name, n.name, name)
	blobs := map[int]*blob{}
	for _, island := range n.islands {
		p.island(b, island, blobs)
	}
	for i, pod := range p.pods[id] {
		if blob := blobs[i]; blob != nil {
			p.pod(pod, name, blob)
		}
	}
	for _, chip := range n.chips {
		pod := p.pods[id][chip.pod]
		x, y := b.x+chip.x, b.y+chip.y
		shape := fmt.Sprintf(`<rect%s x="%d" y="%d" width="%d" height="%d" rx="%d"/>`, p.role(pod), x, y, chip.w, c.chip, c.chip/2)
		p.member(pod, name, shape, strconv.Itoa(pod.index), x+chip.w/2, y+c.chip/2)
	}
}

// blob is the shape of one pod: its cells, and the joints between them.
type blob struct {
	cells, joints strings.Builder
	x, y          int // centre of the first cell
	wide          int // 1 if the second cell is to the right of the first
}

// island draws its outline and the cells that are not the job's, and gathers those that are.
func (p *painter) island(b *box, island islandBox, blobs map[int]*blob) {
	c := p.scale
	step := c.cell + c.gap
	rows := (len(island.group) + island.columns - 1) / island.columns
	if len(b.node.islands) > 1 {
		p.put(`<rect class="isle" x="%d" y="%d" width="%d" height="%d" rx="4"/>`,
			b.x+island.x-outline, b.y+island.y-outline, p.cells(island.columns)+2*outline, p.cells(rows)+2*outline)
	}
	side := c.cell / 4 // joints are in the middle of the sides
	middle := c.cell - 2*side
	var empty, taken strings.Builder
	for i, cell := range island.group {
		x, y := b.x+island.x+i%island.columns*step, b.y+island.y+i/island.columns*step
		switch cell {
		case free:
			square(&empty, x, y, c.cell)
			continue
		case others:
			square(&taken, x, y, c.cell)
			continue
		}
		pod := blobs[cell]
		if pod == nil {
			pod = &blob{x: x + c.cell/2, y: y + c.cell/2}
			blobs[cell] = pod
		}
		square(&pod.cells, x, y, c.cell)
		if i%island.columns+1 < island.columns && i+1 < len(island.group) && island.group[i+1] == cell {
			fmt.Fprintf(&pod.joints, "M%d,%dh%dv%dh-%dz", x+c.cell, y+side, c.gap, middle, c.gap)
			if i == 0 || island.group[i-1] != cell {
				pod.wide = 1
			}
		}
		if below := i + island.columns; below < len(island.group) && island.group[below] == cell {
			fmt.Fprintf(&pod.joints, "M%d,%dh%dv%dh-%dz", x+side, y+c.cell, middle, c.gap, middle)
		}
	}
	if empty.Len() > 0 {
		p.put(`<path class="free" d="%s"/>`, empty.String())
	}
	if taken.Len() > 0 {
		p.put(`<path class="other" d="%s"/>`, taken.String())
	}
}

// square of a cell, with round corners; its outline is inside it.
func square(b *strings.Builder, x, y, size int) {
	side := size - 5
	fmt.Fprintf(b, "M%d.5,%d.5h%da2,2 0 0 1 2,2v%da2,2 0 0 1 -2,2h-%da2,2 0 0 1 -2,-2v-%da2,2 0 0 1 2,-2z", x+2, y, side, side, side, side)
}

func (p *painter) pod(pod pod, node string, b *blob) {
	shape := ""
	if b.joints.Len() > 0 {
		shape = fmt.Sprintf(`<path class="r%d q" opacity=".5" d="%s"/>`, pod.role%len(roleInks), b.joints.String())
	}
	shape += fmt.Sprintf(`<path%s d="%s"/>`, p.role(pod), b.cells.String())
	number, middle := strconv.Itoa(pod.index), 0
	if textWidth(number, p.scale.number) > p.scale.cell {
		middle = b.wide * (p.scale.cell + p.scale.gap) / 2
		if middle == 0 || textWidth(number, p.scale.number) > p.cells(2) {
			number = ""
		}
	}
	p.member(pod, node, shape, number, b.x+middle, b.y)
}

// role is how the pods of a role are filled.
func (p *painter) role(pod pod) string {
	class := pod.role % len(roleInks)
	classes := fmt.Sprintf("r%d", class)
	if pod.fixed {
		classes += fmt.Sprintf(" f%d", class)
	}
	if pod.role >= len(roleInks) {
		classes += " again"
	}
	return fmt.Sprintf(` class="%s"`, classes)
}

// member is one pod with its tooltip, and its number.
func (p *painter) member(pod pod, node, shape, number string, x, y int) {
	if size := p.scale.number; size == 0 {
		number = ""
	} else if number != "" {
		class := "n t" + strconv.Itoa(pod.role%len(roleInks))
		if pod.fixed {
			class = "n halo"
		}
		number = fmt.Sprintf(`<text class="%s" x="%d" y="%d" font-size="%d">%s</text>`, class, x, y+3, size, number)
	}
	p.put("<g><title>%s</title>%s%s</g>", escape(p.podTitle(pod, node)), shape, number)
}
