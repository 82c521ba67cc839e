// SPDX-License-Identifier: Apache-2.0

package drawing

import (
	"fmt"
	"html"
	"strconv"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
)

// Sizes in pixels.
const (
	rowWidth, rowHeight, rowPitch = 80.0, 10.0, 14.0
	cardPad, cardHead             = 5.0, 15.0
	columnPitch                   = rowWidth + 8
	// column is how many nodes stand above each other; a card has at most columns of them, which a phone is wide enough for.
	column, columns = 8, 3
)

// card is a domain of the nearest tier, or a part of a large one.
type card struct {
	name, title, note string
	nodes             []*Node
}

// block are the cards below one domain.
type block struct {
	title string
	cards []card
}

// blocks are all cards, in the order of the tree.
func (m *Map) blocks() (all []block) {
	var over *Domain
	m.Cluster.cards(nil, func(above []*Domain, d *Domain) {
		up := m.Cluster
		if len(above) > 0 {
			up = above[len(above)-1]
		}
		if len(all) == 0 || up != over {
			over = up
			all = append(all, block{title: m.title(above)})
		}
		b := &all[len(all)-1]
		parts := (len(d.Nodes) + column*columns - 1) / (column * columns)
		for i := range parts {
			c := card{name: d.label(), title: path(above, d) + "\n" + describe.Count(d.Size, "node") + ", " + m.amounts(d), note: d.short()}
			if parts > 1 {
				c.name, c.note = fmt.Sprintf("%s %d/%d", c.name, i+1, parts), ""
			}
			c.nodes = d.Nodes[i*column*columns : min((i+1)*column*columns, len(d.Nodes))]
			b.cards = append(b.cards, c)
		}
	})
	return all
}

// title names a block, unless it is the cluster itself.
func (m *Map) title(above []*Domain) string {
	if len(above) < 2 {
		return ""
	}
	d := above[len(above)-1]
	return path(above[:len(above)-1], d) + " (" + d.Tier + "): " + describe.Count(d.Size, "node") + ", " + m.amounts(d)
}

// short is how much is free, in a card's corner.
func (d *Domain) short() string {
	switch {
	case d.Free == nil:
		return ""
	case d.Total.GPUs > 0:
		return strconv.FormatInt(d.Free.GPUs, 10) + " free"
	}
	return cpus(d.Free.MilliCPUs/1000*1000) + " CPU"
}

func (c *card) width() float64 {
	return 2*cardPad + float64((len(c.nodes)+column-1)/column)*columnPitch - (columnPitch - rowWidth)
}

func (c *card) height() float64 {
	return cardHead + float64(min(len(c.nodes), column))*rowPitch + cardPad
}

// drawCard draws a card as the inside of an svg of its size.
func (m *Map) drawCard(b *strings.Builder, c *card) {
	fmt.Fprintf(b, `<rect class="card" x=".5" y=".5" width="%s" height="%s" rx="3"/><g><title>%s</title><text x="%s" y="11">%s</text></g>`,
		px(c.width()-1), px(c.height()-1), html.EscapeString(c.title), px(cardPad), html.EscapeString(fitted(c.name, c.width(), c.note)))
	if c.note != "" {
		fmt.Fprintf(b, `<text class="e" x="%s" y="11">%s</text>`, px(c.width()-cardPad), html.EscapeString(c.note))
	}
	b.WriteByte('\n')
	for i, n := range c.nodes {
		m.drawNode(b, n, cardPad+float64(i/column)*columnPitch, cardHead+float64(i%column)*rowPitch)
	}
}

// letter is about how wide one is.
const letter = 5.0

// fitted returns a name, cut so that the note fits beside it.
func fitted(name string, width float64, note string) string {
	limit := max(int((width-2*cardPad)/letter)-len([]rune(note)), 4)
	if runes := []rune(name); len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return name
}

func (m *Map) drawNode(b *strings.Builder, n *Node, x, y float64) {
	fmt.Fprintf(b, `<g class="h" transform="translate(%s %s)"><title>%s</title><path d="M-2 -2h84v14h-84z" fill="#fff" fill-opacity="0"/>`, px(x), px(y), html.EscapeString(n.title()))
	apart := n.Total.GPUs > 0 && n.Total.GPUs <= mostCells
	m.drawRow(b, m.row(n), rowHeight, apart)
	if beside := m.beside(n); beside != nil {
		b.WriteString(`<g transform="translate(0 10.7)">`)
		m.drawRow(b, beside, 2, false)
		b.WriteString(`</g>`)
	}
	if n.State != "" {
		b.WriteString(`<path class="off" d="M-2 11L82 -1"/>`)
	}
	b.WriteString("</g>\n")
}

// drawRow draws cells, with gaps between them or not, and on each run its job's sign where it fits.
func (m *Map) drawRow(b *strings.Builder, runs []run, height float64, apart bool) {
	total := 0
	for _, r := range runs {
		total += r.cells
	}
	step := rowWidth / float64(total)
	at := 0
	for _, r := range runs {
		from, wide := float64(at)*step, float64(r.cells)*step
		class := map[int]string{others: "x", free: "f", unknown: "u"}[r.owner]
		if r.owner >= 0 {
			class = "k k" + strconv.Itoa(r.owner)
		}
		if r.owner == free && height < rowHeight {
			at += r.cells
			continue
		}
		fmt.Fprintf(b, `<path class="%s" d="`, class)
		if apart {
			for i := range r.cells {
				fmt.Fprintf(b, "M%s 0h%sv%sh-%sz", px(from+float64(i)*step), px(step-gap), px(height), px(step-gap))
			}
		} else {
			fmt.Fprintf(b, "M%s 0h%sv%sh-%sz", px(from), px(wide), px(height), px(wide))
		}
		b.WriteString(`"/>`)
		if r.owner >= 0 && height == rowHeight && wide >= 7 {
			middle := from + (wide-gap)/2
			if apart && r.cells%2 == 0 {
				middle -= step / 2 // on a GPU, and not between two
			}
			fmt.Fprintf(b, `<text class="l k k%d" x="%s" y="8">%s</text>`, r.owner, px(middle), m.Jobs[r.owner].Sign)
		}
		at += r.cells
	}
}

// gap is between GPUs.
const gap = 1.0

// px is a length, to a tenth of a pixel.
func px(v float64) string {
	return strconv.FormatFloat(float64(int(v*10+0.5))/10, 'f', -1, 64)
}
