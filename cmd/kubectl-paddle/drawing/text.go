// SPDX-License-Identifier: Apache-2.0

package drawing

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
)

// Terminal is what text is written for.
type Terminal struct {
	// Width in columns.
	Width  int
	Colour bool
}

// span is a part of a line: text, and cells of one node that are in one hand.
type span struct {
	text  string
	owner int
	// node is nil for text.
	node *Node
}

func plain(text string) span { return span{text: text, owner: free} }

// Text returns the map for a terminal: a line for each rack, which is continued below where it is too long.
func (m *Map) Text(t Terminal) string {
	var b strings.Builder
	for _, line := range m.lines(t.Width) {
		for _, s := range line {
			b.WriteString(m.paint(t, s))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// lines returns the map in lines of at most so many columns.
func (m *Map) lines(columns int) (lines [][]span) {
	say := func(texts ...string) {
		for _, text := range texts {
			lines = append(lines, []span{plain(text)})
		}
	}
	say(m.heading()...)
	indent := 0
	m.Cluster.racks(nil, func(_ []*Domain, d *Domain) { indent = max(indent, utf8.RuneCountInString(d.label())+3) })
	var over *Domain
	m.Cluster.racks([]*Domain{nil}, func(above []*Domain, d *Domain) {
		if up := above[len(above)-1]; up != over || up == nil {
			over = up
			say("")
			if title := m.title(above[1:]); title != "" {
				say(title)
			}
		}
		line, used := []span{plain(fmt.Sprintf("  %-*s", indent-3, d.label()))}, indent-1
		for i, n := range d.Nodes {
			cells, width := m.nodeSpans(n)
			if i > 0 && used+1+width > columns {
				lines = append(lines, line)
				line, used = []span{plain(strings.Repeat(" ", indent-1))}, indent-1
			}
			line = append(append(line, plain(" ")), cells...)
			used += 1 + width
		}
		lines = append(lines, line)
	})
	say("")
	for i, job := range m.Jobs {
		legend, sign := m.legend(i), plain(" ")
		if job.Sign != "" {
			sign = span{text: job.Sign, owner: i}
		}
		lines = append(lines, []span{sign, plain(" " + legend[0])})
		for _, more := range legend[1:] {
			say("  " + more)
		}
	}
	for _, line := range m.key() {
		say(line.sign + " " + line.text)
	}
	return lines
}

// nodeSpans returns a node's cells, a letter each, and how wide they are.
func (m *Map) nodeSpans(n *Node) (spans []span, width int) {
	put := func(s string, owner int) {
		if last := len(spans) - 1; last >= 0 && spans[last].owner == owner {
			spans[last].text += s
		} else {
			spans = append(spans, span{text: s, owner: owner, node: n})
		}
		width += len(s)
	}
	if n.Total.GPUs == 0 {
		put("(", free)
	}
	for _, owner := range m.cells(n) {
		put(m.sign(owner), owner)
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
	return spans, width
}

// paint colours letters, if the terminal has colours. Letters tell jobs apart without them.
func (m *Map) paint(t Terminal, s span) string {
	if !t.Colour || s.owner < 0 {
		return s.text
	}
	how := fmt.Sprintf("1;%d", []int{34, 33, 32, 35, 36, 31}[s.owner%6])
	switch {
	case s.owner == m.chosen:
		how += ";7"
	case m.chosen >= 0:
		how = "2" + how[1:]
	}
	return "\x1b[" + how + "m" + s.text + "\x1b[0m"
}

// heading returns what stands above the cells: the cluster in one sentence, where the tiers come from, what is contradictory about
// them, and what could not be read.
func (m *Map) heading() []string {
	counts := make([]int, len(m.Tiers))
	var walk func(d *Domain, depth int)
	walk = func(d *Domain, depth int) {
		for _, b := range d.Domains {
			if b.Name != "" {
				counts[depth]++
			}
			walk(b, depth-1)
		}
	}
	walk(m.Cluster, len(m.Tiers)-1)
	var tiers []string
	for i, tier := range m.Tiers {
		tiers = append(tiers, describe.Count(counts[i], tier))
	}
	text := describe.Count(m.Cluster.Size, "node")
	if len(tiers) > 0 {
		text += " in " + strings.Join(tiers, " of ")
	}
	source := "The cluster has no HyperNodes, and no labels are known that name racks (--topology-labels names such labels)."
	switch m.Source {
	case "hypernodes":
		source = "The tiers are those of the HyperNodes."
	case "labels":
		source = "The tiers are those of the nodes' labels."
	}
	lines := []string{text + "; " + m.amounts(m.Cluster) + ".", source}
	for _, note := range m.Notes {
		lines = append(lines, strings.ToUpper(note[:1])+note[1:]+".")
	}
	for _, what := range m.Unread {
		lines = append(lines, "Skipped: "+what+".")
	}
	return lines
}

// amounts returns what a domain has and what of it is free.
func (m *Map) amounts(d *Domain) string {
	if d.Total.GPUs == 0 {
		text := describe.Count(int(d.Total.MilliCPUs/1000), "CPU")
		if d.Free != nil {
			text += ", " + cpus(d.Free.MilliCPUs) + " free"
		}
		return text
	}
	text := describe.Count(int(d.Total.GPUs), "GPU")
	if d.Free != nil {
		text += fmt.Sprintf(", %d free", d.Free.GPUs)
	}
	return text
}

// title names the domain that racks are in, "" if that is the cluster.
func (m *Map) title(above []*Domain) string {
	if len(above) < 2 {
		return ""
	}
	d := above[len(above)-1]
	var names []string
	for _, a := range above[1:] {
		names = append(names, a.label())
	}
	return strings.Join(names, " / ") + " (" + d.Tier + "): " + describe.Count(d.Size, "node") + ", " + m.amounts(d)
}

// label returns a domain's name, or that it is not known.
func (d *Domain) label() string {
	switch {
	case d.Tier == "":
		return "all nodes"
	case d.Name == "":
		return "no " + d.Tier
	}
	return d.Name
}

// legend returns what is known of a job. Of a chosen job that is all that the scheduler reports.
func (m *Map) legend(at int) (lines []string) {
	job := m.Jobs[at]
	parts := []string{}
	if job.Phase != "" {
		parts = append(parts, job.Phase)
	}
	if len(job.Place) > 0 {
		parts = append(parts, strings.TrimSuffix(job.Place[0], "."))
	}
	lines = []string{key(job.Namespace, job.Name) + ": " + strings.Join(parts, "; ")}
	if at == m.chosen && len(job.Place) > 1 {
		lines = append(lines, job.Place[1:]...)
	}
	return lines
}

// keyLine explains a sign that is no job's.
type keyLine struct{ sign, text string }

// key explains the kinds of cells that the map has and that are no job's.
func (m *Map) key() (lines []keyLine) {
	seen := map[string]bool{}
	m.Cluster.racks(nil, func(_ []*Domain, d *Domain) {
		for _, n := range d.Nodes {
			for _, owner := range m.cells(n) {
				seen[m.sign(owner)] = true
			}
			seen["( )"] = seen["( )"] || n.Total.GPUs == 0
			seen["+"] = seen["+"] || len(beside(n)) > 0
			seen["!"] = seen["!"] || n.State != ""
		}
	})
	return slices.DeleteFunc([]keyLine{
		{".", "free"},
		{"#", "others: pods that are no PaddleJob's"},
		{"?", "free, or others': pods that you have no permission to read"},
		{"!", "a node that takes no pods: not ready, or cordoned"},
		{"( )", "a node without GPUs: each cell is an eighth of its CPUs"},
		{"+", "jobs with pods without GPUs on this node"},
	}, func(line keyLine) bool { return !seen[line.sign] })
}

// sign returns the sign of who has a cell.
func (m *Map) sign(owner int) string {
	if owner >= 0 {
		return m.Jobs[owner].Sign
	}
	return map[int]string{others: "#", free: ".", unknown: "?"}[owner]
}

// details returns what is known of a node, in lines.
func (n *Node) details() string {
	lines := []string{n.Name}
	if n.State != "" {
		lines[0] += " (" + n.State + ")"
	}
	for _, p := range n.Pods {
		holds := cpus(p.Holds.MilliCPUs) + " CPUs"
		if p.Holds.GPUs > 0 {
			holds = describe.Count(int(p.Holds.GPUs), "GPU")
		}
		lines = append(lines, key(p.Namespace, p.Name)+": "+holds)
	}
	return strings.Join(lines, "\n")
}

func cpus(milli int64) string { return strconv.FormatFloat(float64(milli/100)/10, 'f', -1, 64) }
