// SPDX-License-Identifier: Apache-2.0

package drawing

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Terminal is what text is written for.
type Terminal struct {
	// Width in columns.
	Width  int
	Colour bool
}

// Text returns the map for a terminal: a line for each rack, which is continued below where it is too long.
func (m *Map) Text(t Terminal) string {
	var b strings.Builder
	b.WriteString(strings.Join(m.heading(), "\n") + "\n")
	indent := 0
	m.Cluster.racks(nil, func(_ []*Domain, d *Domain) { indent = max(indent, utf8.RuneCountInString(d.label())+3) })
	var over *Domain
	m.Cluster.racks([]*Domain{nil}, func(above []*Domain, d *Domain) {
		if up := above[len(above)-1]; up != over || up == nil {
			over = up
			b.WriteByte('\n')
			if title := m.title(above[1:]); title != "" {
				b.WriteString(title + "\n")
			}
		}
		fmt.Fprintf(&b, "  %-*s", indent-3, d.label())
		used := indent - 1
		for i, n := range d.Nodes {
			text, width := m.nodeText(t, n)
			if i > 0 && used+1+width > t.Width {
				b.WriteString("\n" + strings.Repeat(" ", indent-1))
				used = indent - 1
			}
			b.WriteString(" " + text)
			used += 1 + width
		}
		b.WriteByte('\n')
	})
	b.WriteByte('\n')
	for i, job := range m.Jobs {
		sign := " "
		if job.Sign != "" {
			sign = m.paint(t, job.Sign, i)
		}
		b.WriteString(sign + " " + strings.Join(m.legend(i), "\n  ") + "\n")
	}
	for _, line := range m.key() {
		b.WriteString(line.sign + " " + line.text + "\n")
	}
	return b.String()
}

// nodeText returns a node's cells, a letter each, and how wide they are.
func (m *Map) nodeText(t Terminal, n *Node) (text string, width int) {
	put := func(s string, owner int) {
		text += m.paint(t, s, owner)
		width += len(s)
	}
	if n.Total.GPUs == 0 {
		put("(", free)
	}
	cells := m.cells(n)
	for len(cells) > 0 {
		same := 1
		for same < len(cells) && cells[same] == cells[0] {
			same++
		}
		put(strings.Repeat(m.sign(cells[0]), same), cells[0])
		cells = cells[same:]
	}
	if n.Total.GPUs == 0 {
		put(")", free)
	}
	for i, owner := range beside(n) {
		if i == 0 {
			put("+", free)
		}
		put(m.sign(owner), owner)
	}
	if n.State != "" {
		put("!", free)
	}
	return text, width
}

// paint colours letters, if the terminal has colours. Letters tell jobs apart without them.
func (m *Map) paint(t Terminal, text string, owner int) string {
	if !t.Colour || owner < 0 {
		return text
	}
	how := fmt.Sprintf("1;%d", []int{34, 33, 32, 35, 36, 31}[owner%6])
	switch {
	case owner == m.chosen:
		how += ";7"
	case m.chosen >= 0:
		how = "2" + how[1:]
	}
	return "\x1b[" + how + "m" + text + "\x1b[0m"
}
