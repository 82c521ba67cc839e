// SPDX-License-Identifier: Apache-2.0

package drawing

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
)

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
	m.Cluster.each(func(n *Node) {
		for _, owner := range m.cells(n) {
			seen[m.sign(owner)] = true
		}
		seen["( )"] = seen["( )"] || n.Total.GPUs == 0
		seen["+"] = seen["+"] || len(beside(n)) > 0
		seen["!"] = seen["!"] || n.State != ""
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
