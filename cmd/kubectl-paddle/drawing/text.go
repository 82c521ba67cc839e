// SPDX-License-Identifier: Apache-2.0

package drawing

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
)

// span is a part of a line: text, and cells of one node that have one owner.
type span struct {
	text  string
	owner *Job
	node  *Node // nil for text
}

func plain(text string) span { return span{text: text, owner: free} }

// Text returns the map for a terminal with a number of columns, in colours if asked for: a line for each rack, which is continued below where
// it is too long.
func (m *Map) Text(columns int, colours bool) string {
	var b strings.Builder
	for _, line := range m.lines(columns) {
		for _, s := range line {
			b.WriteString(m.paint(colours, s))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// lines returns the map in lines of at most the given number of columns.
func (m *Map) lines(columns int) (lines [][]span) {
	say := func(texts ...string) {
		for _, text := range texts {
			lines = append(lines, []span{plain(text)})
		}
	}
	say(m.heading()...)
	indent := 0
	for _, d := range m.racks {
		indent = max(indent, utf8.RuneCountInString(d.label())+3)
	}
	for i, d := range m.racks {
		if i == 0 || m.racks[i-1].up != d.up {
			say("")
			if title := d.up.title(); title != "" {
				say(title)
			}
		}
		line, used := []span{plain(fmt.Sprintf("  %-*s", indent-3, d.label()))}, indent-1
		for i, n := range d.Nodes {
			cells, width := n.spans()
			if i > 0 && used+1+width > columns {
				lines = append(lines, line)
				line, used = []span{plain(strings.Repeat(" ", indent-1))}, indent-1
			}
			line = append(append(line, plain(" ")), cells...)
			used += 1 + width
		}
		lines = append(lines, line)
	}
	say("")
	for _, job := range m.Jobs {
		legend, sign := m.legend(job), plain(" ")
		if job.Sign != "" {
			sign = span{text: job.Sign, owner: job}
		}
		lines = append(lines, []span{sign, plain(" " + legend[0])})
		for _, more := range legend[1:] {
			say("  " + more)
		}
	}
	for _, line := range explanations(lines) {
		say(line[0] + " " + line[1])
	}
	return lines
}

// spans returns a node's cells, a letter each, and how wide they are.
func (n *Node) spans() (spans []span, width int) {
	put := func(s string, owner *Job) {
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
	for _, owner := range n.cells() {
		put(owner.Sign, owner)
	}
	if n.Total.GPUs == 0 {
		put(")", free)
	}
	for i, owner := range cpuJobs(n) {
		if i == 0 {
			put("+", free)
		}
		put(owner.Sign, owner)
	}
	if n.State != "" {
		put("!", free)
	}
	return spans, width
}

// paint colours letters, if the terminal has colours. Letters tell jobs apart without them.
func (m *Map) paint(colours bool, s span) string {
	if !colours || s.owner.pods == 0 {
		return s.text
	}
	how := fmt.Sprintf("1;%d", []int{34, 33, 32, 35, 36, 31}[s.owner.at%6])
	switch {
	case s.owner == m.chosen:
		how += ";7"
	case m.chosen != nil:
		how = "2" + how[1:]
	}
	return "\x1b[" + how + "m" + s.text + "\x1b[0m"
}

// heading returns what stands above the cells: the cluster, where the tiers come from and what contradicts them, and what is not read.
func (m *Map) heading() []string {
	var tiers []string
	for _, tier := range m.Tiers {
		tiers = append(tiers, describe.Count(m.counts[tier], tier))
	}
	text := describe.Count(m.Cluster.Size, "node")
	if len(tiers) > 0 {
		text += " in " + strings.Join(tiers, " of ")
	}
	source := map[string]string{"hypernodes": "The tiers are those of the HyperNodes.", "labels": "The tiers are those of the nodes' labels."}[m.Source]
	lines := []string{text + "; " + m.Cluster.amounts() + ".",
		cmp.Or(source, "The cluster has no HyperNodes, and no labels are known that name racks (--topology-labels names such labels).")}
	for _, note := range m.Notes {
		lines = append(lines, strings.ToUpper(note[:1])+note[1:]+".")
	}
	for _, what := range m.Unread {
		lines = append(lines, "Skipped: "+what+".")
	}
	return lines
}

// amounts returns what a domain has and what of it is free.
func (d *Domain) amounts() string {
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

// title names the domain that racks are in, "" if that is the cluster, or nil.
func (d *Domain) title() string {
	if d == nil || d.up == nil {
		return ""
	}
	path := d.label()
	for up := d.up; up.up != nil; up = up.up {
		path = up.label() + " / " + path
	}
	return path + " (" + d.Tier + "): " + describe.Count(d.Size, "node") + ", " + d.amounts()
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
func (m *Map) legend(job *Job) (lines []string) {
	text := key(job.Namespace, job.Name) + ": " + job.Phase
	if len(job.Place) == 0 {
		return []string{text}
	}
	if job.Phase != "" {
		text += "; "
	}
	lines = []string{text + strings.TrimSuffix(job.Place[0], ".")}
	if job == m.chosen {
		lines = append(lines, job.Place[1:]...)
	}
	return lines
}

// explanations explains the signs of nodes in lines that are no job's.
func explanations(lines [][]span) [][2]string {
	seen := map[string]bool{}
	for _, s := range slices.Concat(lines...) {
		if s.node != nil {
			for _, sign := range strings.Split(s.text, "") {
				seen[sign] = true
			}
		}
	}
	return slices.DeleteFunc([][2]string{
		{".", "free"},
		{"#", "others: pods that are no PaddleJob's"},
		{"?", "free, or others': pods that you have no permission to read"},
		{"!", "a node that takes no pods: not ready, or cordoned"},
		{"( )", "a node without GPUs: each cell is an eighth of its CPUs"},
		{"+", "jobs with pods without GPUs on this node"},
	}, func(line [2]string) bool { return !seen[line[0][:1]] })
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

// Sizes: columns of text, and pixels.
const pictureColumns, columnWidth, lineHeight, margin = 160, 8, 18, 16

// inks are the colours of Okabe and Ito (Color Universal Design, 2008), which people with any colour vision distinguish, and those of
// letters on them. Letters tell jobs of one colour apart.
var inks = [][2]string{
	{"#0072b2", "#fff"}, {"#e69f00", "#111"}, {"#009e73", "#fff"}, {"#cc79a7", "#111"}, {"#56b4e9", "#111"}, {"#d55e00", "#fff"}, {"#f0e442", "#111"},
}

// SVG returns the map as a picture that needs nothing else: the text, its cells in colours, details of a node under the pointer.
func (m *Map) SVG() string {
	var style, b strings.Builder
	style.WriteString("text{font:13px monospace;fill:#1f2328}rect{fill:#eaeef2}.dim{opacity:.3}")
	for i, ink := range inks {
		fmt.Fprintf(&style, ".c%[1]d rect{fill:%[2]s}.c%[1]d text{fill:%[3]s;font-weight:700}", i, ink[0], ink[1])
	}
	lines := append(m.lines(pictureColumns), []span{plain("Seen at " + m.At.Format("2006-01-02 15:04:05 UTC") + ".")})
	widest := 0
	for row, line := range lines {
		column := 0
		for _, s := range line {
			b.WriteString(m.svg(s, margin+column*columnWidth, margin+row*lineHeight))
			column += utf8.RuneCountInString(s.text)
		}
		widest = max(widest, column)
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]d %[2]d" width="%[1]d" height="%[2]d"><title>%[3]s</title><style>%[4]s</style><path fill="#fff" d="M0 0h%[1]dv%[2]dH0z"/>`+"\n%[5]s</svg>\n",
		2*margin+widest*columnWidth, 2*margin+len(lines)*lineHeight, html.EscapeString(m.heading()[0]), style.String(), b.String())
}

// svg draws a span with its top left corner at a point. Fonts differ in width: textLength makes all letters as wide as a column.
func (m *Map) svg(s span, x, y int) string {
	text := strings.TrimLeft(s.text, " ")
	x += (len(s.text) - len(text)) * columnWidth
	if text = strings.TrimRight(text, " "); text == "" {
		return ""
	}
	width := utf8.RuneCountInString(text) * columnWidth
	drawn := fmt.Sprintf(`<text x="%d" y="%d" textLength="%d">%s</text>`, x, y+13, width, html.EscapeString(text))
	class := "none"
	if s.owner.pods > 0 {
		if class = fmt.Sprintf("c%d", s.owner.at%len(inks)); m.chosen != nil && s.owner != m.chosen {
			class += " dim"
		}
	}
	if s.owner.pods > 0 || s.node != nil {
		drawn = fmt.Sprintf(`<rect x="%d" y="%d" width="%d" height="%d"/>`, x, y, width, lineHeight-1) + drawn
	}
	if s.node != nil {
		drawn = "<title>" + html.EscapeString(s.node.details()) + "</title>" + drawn
	}
	return `<g class="` + class + `">` + drawn + "</g>\n"
}

// HTML returns the picture as a page that needs nothing else.
func (m *Map) HTML() string {
	return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>` + html.EscapeString(m.heading()[0]) + `</title></head>
<body style="margin:0">
` + m.SVG() + `</body></html>
`
}
