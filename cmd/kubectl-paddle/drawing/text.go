// SPDX-License-Identifier: Apache-2.0

package drawing

import (
	"fmt"
	"strings"
)

// Terminal is what text is written for.
type Terminal struct {
	// Width in columns.
	Width  int
	Colour bool
}

// Text is the map for a terminal: a line for each rack, which goes on below where it is too long.
func (m *Map) Text(t Terminal) string {
	var b strings.Builder
	put := func(indent int, text string) {
		for _, line := range wrapped(text, max(t.Width-indent, 20)) {
			b.WriteString(strings.TrimRight(strings.Repeat(" ", indent)+line, " ") + "\n")
		}
	}
	put(0, m.summary())
	for _, sentence := range m.source() {
		put(0, sentence)
	}
	named := 0
	m.Cluster.cards(nil, func(_ []*Domain, d *Domain) { named = max(named, len([]rune(d.label()))) })
	named = min(named, t.Width/3)
	var over *Domain
	m.Cluster.cards(nil, func(above []*Domain, d *Domain) {
		if len(above) > 0 && above[len(above)-1] != over {
			over = above[len(above)-1]
			b.WriteByte('\n')
			if title := m.title(above); title != "" {
				put(0, title)
			}
		}
		m.rack(&b, t, d, named)
	})
	b.WriteByte('\n')
	for i, job := range m.Jobs {
		sign := " "
		if job.Sign != "" {
			sign = t.paint(job.Sign, i, m.chosen)
		}
		lines := wrapped(job.called()+": "+m.about(job), max(t.Width-2, 20))
		b.WriteString(sign + " " + strings.Join(lines, "\n  ") + "\n")
		if i == m.chosen {
			for _, sentence := range job.Place {
				put(2, sentence)
			}
		}
	}
	for _, line := range m.key() {
		if line.sign != "" {
			put(0, line.sign+" "+line.text)
		}
	}
	return b.String()
}

// rack writes the nodes of a domain, each as its cells.
func (m *Map) rack(b *strings.Builder, t Terminal, d *Domain, named int) {
	name := []rune(d.label())
	if len(name) > named {
		name = append(name[:max(named-1, 0)], '…')
	}
	lead := "  " + string(name) + strings.Repeat(" ", named-len(name))
	b.WriteString(lead)
	used := len([]rune(lead))
	for i, n := range d.Nodes {
		text, wide := m.cellsOf(t, n)
		if i > 0 && used+1+wide > t.Width {
			b.WriteString("\n" + strings.Repeat(" ", named+2))
			used = named + 2
		}
		b.WriteString(" " + text)
		used += 1 + wide
	}
	b.WriteByte('\n')
}

// cellsOf is a node's cells, a letter each, and how wide they are.
func (m *Map) cellsOf(t Terminal, n *Node) (text string, wide int) {
	var b strings.Builder
	for _, r := range m.row(n) {
		sign := map[int]string{others: "#", free: ".", unknown: "?"}[r.owner]
		if r.owner >= 0 {
			sign = m.Jobs[r.owner].Sign
		}
		wide += r.cells
		b.WriteString(t.paint(strings.Repeat(sign, r.cells), r.owner, m.chosen))
	}
	text = b.String()
	if n.Total.GPUs == 0 {
		text, wide = "("+text+")", wide+2
	}
	for i, r := range m.beside(n) {
		if r.owner < 0 {
			continue
		}
		if i == 0 {
			text, wide = text+"+", wide+1
		}
		text, wide = text+t.paint(m.Jobs[r.owner].Sign, r.owner, m.chosen), wide+1
	}
	if n.State != "" {
		text, wide = text+"!", wide+1
	}
	return text, wide
}

// paint colours letters, if the terminal has colours. Letters tell jobs apart without them.
func (t Terminal) paint(text string, owner, chosen int) string {
	if !t.Colour || owner < 0 {
		return text
	}
	colours := []int{34, 33, 32, 35, 36, 31}
	how := fmt.Sprintf("1;%d", colours[owner%len(colours)])
	switch {
	case owner == chosen:
		how += ";7"
	case chosen >= 0:
		how = fmt.Sprintf("2;%d", colours[owner%len(colours)])
	}
	return "\x1b[" + how + "m" + text + "\x1b[0m"
}
