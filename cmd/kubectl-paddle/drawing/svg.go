// SPDX-License-Identifier: Apache-2.0

package drawing

import (
	"fmt"
	"html"
	"strconv"
	"strings"
)

// Sizes in pixels.
const (
	pictureWidth, margin  = 1200, 16
	lineHeight            = 15
	rowWidth, rowHeight   = 80, 10
	columnPitch, rowPitch = rowWidth + 8, 14
	cardPad, cardHead     = 5, 15
	// A card has columns of at least minRows nodes, and at most maxColumns of them.
	minRows, maxColumns = 8, (pictureWidth - 2*margin - 2*cardPad) / columnPitch
)

// inks are the colours of Okabe and Ito (Color Universal Design, 2008), which people with any colour vision distinguish, and those of
// letters on them. Letters tell jobs of one colour apart.
var inks = [][2]string{
	{"#0072b2", "#fff"}, {"#e69f00", "#111"}, {"#009e73", "#fff"}, {"#cc79a7", "#111"}, {"#56b4e9", "#111"}, {"#d55e00", "#fff"}, {"#f0e442", "#111"},
}

const style = `svg{font:11px sans-serif;fill:#1f2328}.b{font-weight:600}.s{font-size:9px}.l{font-size:8px;font-weight:700;text-anchor:middle}.e{text-anchor:end}` +
	`.card{fill:#f6f8fa;stroke:#d1d9e0}.free{fill:none;stroke:#8c959f;stroke-width:.6}.others{fill:#aab2bb}.unknown{fill:#e3e7eb}.off{stroke:#c62828;stroke-width:1.6}.dim{opacity:.3}`

// HTML returns the map as a page that needs nothing else. Details of a node are shown under the pointer.
func (m *Map) HTML() string {
	return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>` + html.EscapeString(m.heading()[0]) + `</title></head>
<body style="margin:0;overflow-x:auto">
` + m.SVG() + `</body></html>
`
}

// picture is an SVG as far as it is drawn.
type picture struct {
	*Map
	strings.Builder
	// y is where it ends.
	y int
}

func (p *picture) put(format string, args ...any) { fmt.Fprintf(p, format, args...) } //nolint:errcheck // a strings.Builder takes all

// line adds a line of text.
func (p *picture) line(class string, x int, text string) {
	p.y += lineHeight
	p.put("<text class=%q x=\"%d\" y=\"%d\">%s</text>\n", class, x, p.y, html.EscapeString(text))
}

// SVG returns the map as one picture.
func (m *Map) SVG() string {
	p := &picture{Map: m, y: margin}
	for i, line := range m.heading() {
		p.line([]string{"b", ""}[min(i, 1)], margin, line)
	}
	if !m.At.IsZero() {
		p.line("", margin, "Seen at "+m.At.Format("2006-01-02 15:04:05 UTC")+".")
	}
	var over *Domain
	x, height := margin, 0
	m.Cluster.racks([]*Domain{nil}, func(above []*Domain, d *Domain) {
		rows, columns := grid(len(d.Nodes))
		width := 2*cardPad + columns*columnPitch - (columnPitch - rowWidth)
		up := above[len(above)-1]
		if up != over || up == nil || x+width > pictureWidth-margin {
			p.y, x, height = p.y+height+8, margin, 0
		}
		if title := m.title(above[1:]); up != over && title != "" {
			p.line("b", margin, title)
			p.y += 6
		}
		over = up
		p.card(x, d, width, rows)
		x, height = x+width+6, max(height, cardHead+rows*rowPitch+cardPad)
	})
	p.y += height + 12
	for i, job := range m.Jobs {
		if job.Sign != "" {
			p.put(`<g transform="translate(%d %d)">`, margin, p.y+5)
			p.row([]int{i, i, i, i}, 0, rowHeight)
			p.put("</g>")
		}
		for _, line := range m.legend(i) {
			p.line("", margin+rowWidth+8, line)
		}
	}
	for _, line := range m.key() {
		p.put(`<g transform="translate(%d %d)">`, margin, p.y+5)
		switch line.sign {
		case "!":
			p.put(`<path class="off" d="M0 10L80 0"/>`)
		case "( )", "+":
			p.put(`<text x="0" y="9">%s</text>`, line.sign)
		default:
			owner := map[string]int{".": free, "#": others, "?": unknown}[line.sign]
			p.row([]int{owner, owner, owner, owner}, 0, rowHeight)
		}
		p.put("</g>")
		p.line("", margin+rowWidth+8, line.text)
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]d %[2]d" width="%[1]d" height="%[2]d"><title>%[3]s</title><style>%[4]s</style><rect width="100%%" height="100%%" fill="#fff"/>`+"\n%[5]s</svg>\n",
		pictureWidth, p.y+margin, html.EscapeString(m.heading()[0]), style, p.String())
}

// grid returns the rows and columns in which a card has its nodes.
func grid(nodes int) (rows, columns int) {
	rows = max(minRows, (nodes+maxColumns-1)/maxColumns)
	return min(rows, nodes), (nodes + rows - 1) / rows
}

// card draws a domain of the nearest tier.
func (p *picture) card(x int, d *Domain, width, rows int) {
	p.put(`<g transform="translate(%d %d)"><title>%s: %s</title><rect class="card" width="%d" height="%d" rx="3"/><text class="s" x="5" y="11">%s</text>`+"\n",
		x, p.y, html.EscapeString(d.label()), p.amounts(d), width, cardHead+rows*rowPitch+cardPad, html.EscapeString(shortened(d.label(), (width-2*cardPad)/5)))
	for i, n := range d.Nodes {
		p.put(`<g transform="translate(%d %d)"><title>%s</title>`, cardPad+i/rows*columnPitch, cardHead+i%rows*rowPitch, html.EscapeString(n.details()))
		p.row(p.cells(n), 0, rowHeight)
		if jobs := beside(n); len(jobs) > 0 {
			p.row(jobs, rowHeight+.5, 2)
		}
		if n.State != "" {
			p.put(`<path class="off" d="M0 10L80 0"/>`)
		}
		p.put("</g>\n")
	}
	p.put("</g>\n")
}

// shortened returns at most so many letters of a name.
func shortened(name string, most int) string {
	if runes := []rune(name); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return name
}

// row draws cells side by side, and on those of a job its sign where it fits.
func (p *picture) row(cells []int, y, height float64) {
	step := float64(rowWidth) / float64(len(cells))
	gap := min(1, step/4)
	for at := 0; at < len(cells); {
		owner, from := cells[at], at
		attributes := `class="` + map[int]string{others: "others", free: "free", unknown: "unknown"}[owner] + `"`
		if owner >= 0 {
			attributes = `fill="` + inks[owner%len(inks)][0] + `"`
			if p.chosen >= 0 && owner != p.chosen {
				attributes += ` class="dim"`
			}
		}
		p.put(`<path %s d="`, attributes)
		for ; at < len(cells) && cells[at] == owner; at++ {
			p.put("M%s %sh%sv%sh-%sz", px(float64(at)*step), px(y), px(step-gap), px(height), px(step-gap))
		}
		p.put(`"/>`)
		if width := float64(at-from) * step; owner >= 0 && height == rowHeight && width >= 7 {
			p.put(`<text class="l" fill="%s" x="%s" y="8">%s</text>`, inks[owner%len(inks)][1], px(float64(from)*step+(step-gap)/2), p.sign(owner))
		}
	}
}

// px returns a length, to a tenth of a pixel.
func px(v float64) string { return strconv.FormatFloat(float64(int(v*10+0.5))/10, 'f', -1, 64) }
