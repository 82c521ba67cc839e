// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// painter writes what is inside the SVG of a scene.
type painter struct {
	*scene
	bytes.Buffer
}

// put writes a line.
func (p *painter) put(format string, values ...any) {
	fmt.Fprintf(&p.Buffer, format, values...)
	p.WriteByte('\n')
}

func (s *scene) paint() []byte {
	p, sheet := s.compose()
	var all bytes.Buffer
	fmt.Fprintf(&all, `<svg xmlns="http://www.w3.org/2000/svg" class="pv" role="img" aria-label="%s" width="%d" height="%d" viewBox="0 0 %d %d">`+"\n",
		escape(s.title()), sheet.w, sheet.h, sheet.w, sheet.h)
	all.WriteString(style(len(s.d.Roles)))
	all.WriteString(patterns(len(s.d.Roles)))
	fmt.Fprintf(&all, `<rect class="paper" width="%d" height="%d"/>`+"\n", sheet.w, sheet.h)
	all.Write(p.Bytes())
	all.WriteString("</svg>\n")
	return all.Bytes()
}

// compose puts the words above the tree, or beside it where that needs a smaller sheet.
func (s *scene) compose() (*painter, extent) {
	tree := s.layout()
	beside, above := &painter{scene: s}, &painter{scene: s}
	words := beside.words(margin + besideWidth)
	side := extent{words.w + gutter + tree.w + margin, max(words.h, margin+tree.h) + margin}

	width := max(tree.w+2*margin, leastWidth)
	top := above.words(width-margin).h + 20
	stacked := extent{width, top + tree.h + margin}

	if side.w <= paperWidth && side.paper() < stacked.paper() {
		tree.place(words.w+gutter, margin, s)
		beside.box(tree)
		return beside, side
	}
	tree.place(margin, top, s)
	above.box(tree)
	return above, stacked
}

func (p *painter) box(b *box) {
	if b.node != nil {
		p.node(b)
		return
	}
	p.put(`<rect class="box" x="%d" y="%d" width="%d" height="%d" rx="8"/>`, b.x, b.y, b.w, b.h)
	p.wires(b)
	p.boxName(b)
	for _, row := range b.rows {
		for _, inner := range row {
			p.box(inner)
		}
	}
	if b.rest != nil {
		x, height := b.x+inset, restHeight(b.rest)
		y := b.y + b.h - frame - height
		p.put(`<rect class="rest" x="%d" y="%d" width="%d" height="%d" rx="5"/>`, x, y, b.w-inset-frame, height)
		for i, line := range b.rest {
			p.text("s", x+8, y+15+13*i, restSize, line)
		}
	}
}

// boxName is a domain's tier and its name within its parent.
func (p *painter) boxName(b *box) {
	tier, name := p.tierName(b.domain), p.nameOf(b.domain)
	x := b.x + trunk + 8
	short := shorten(name, bodySize, b.x+b.w-frame-x-textWidth(tier+" ", bodySize))
	tooltip := ""
	if short != name {
		tooltip = "<title>" + escape(name) + "</title>"
	}
	p.put(`<text x="%d" y="%d" font-size="%d">%s<tspan class="s">%s</tspan> <tspan class="b">%s</tspan></text>`,
		x, b.y+17, bodySize, tooltip, escape(tier), escape(short))
}

// wires from where a box's own uplink enters it to a rail above each row, and an uplink from the rail to each domain.
func (p *painter) wires(b *box) {
	x, from, last := b.x+trunk, b.y, b.rows[len(b.rows)-1][0].y-p.scale.stub
	var rails strings.Builder
	for i, row := range b.rows {
		left, rail := x, row[0].y-p.scale.stub
		if b.domain == p.top() && i == 0 {
			from = rail // nothing enters from above
			if len(b.rows) == 1 {
				left = row[0].x + trunk
			}
		}
		if right := row[len(row)-1].x + trunk; right > left {
			fmt.Fprintf(&rails, "M%d,%dH%d", left, rail, right)
		}
	}
	if last > from {
		fmt.Fprintf(&rails, "M%d,%dV%d", x, from, last)
	}
	if rails.Len() > 0 {
		p.put(`<path class="wire" d="%s"/>`, rails.String())
	}
	for _, row := range b.rows {
		for _, inner := range row {
			p.uplink(inner)
		}
	}
}

func (p *painter) uplink(b *box) {
	load := p.load[b.domain]
	x, top := b.x+trunk, b.y-p.scale.stub
	p.put(`<g><title>%s</title><path class="u%d" d="M%d,%dV%d"/></g>`,
		escape(p.uplinkTitle(b.domain)), p.class(load.Bytes), x, top, b.y)
	if load.Bytes > 0 && (b.node == nil || p.scale.number > 0) {
		p.text("s", x+7, top+p.scale.stub/2+4, labelSize, p.amount(load.Bytes))
	}
}

func (s *scene) uplinkTitle(d placement.DomainID) string {
	load := s.load[d]
	text := fmt.Sprintf("uplink of %s %s: ", s.tierName(d), s.t.DomainName(d))
	if load.Bytes == 0 {
		return text + "carries nothing"
	}
	text += s.amount(load.Bytes) + " each way per step"
	if seconds := s.seconds(load.Seconds, s.t.Bandwidth(d)); seconds != "" {
		text += ", " + seconds
	}
	return text
}

// class of a load: 0 for nothing, else the quarter of the largest load that it is in, from 1.
func (s *scene) class(load float64) int {
	if load == 0 {
		return 0
	}
	n := len(loadInks)
	for i := 1; i < n; i++ {
		if load*float64(n) <= s.largest.Bytes*float64(i) {
			return i
		}
	}
	return n
}

func (p *painter) text(class string, x, y, size int, text string) {
	if text == "" {
		return
	}
	p.put(`<text class="%s" x="%d" y="%d" font-size="%d">%s</text>`, class, x, y, size, escape(text))
}

// titled is a text with a tooltip, where the text is not the whole of it.
func (p *painter) titled(class string, x, y, size int, text, whole string) {
	if text == whole {
		p.text(class, x, y, size, text)
		return
	}
	p.put(`<text class="%s" x="%d" y="%d" font-size="%d"><title>%s</title>%s</text>`,
		class, x, y, size, escape(whole), escape(text))
}
