// SPDX-License-Identifier: Apache-2.0

package drawing

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/topology"
)

// summary returns the whole cluster in one sentence.
func (m *Map) summary() string {
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
	text := describe.Count(m.Cluster.Size, "node")
	if len(m.Tiers) > 0 {
		tiers := make([]string, len(m.Tiers))
		for i, tier := range m.Tiers {
			tiers[i] = describe.Count(counts[i], tier)
		}
		text += " in " + strings.Join(tiers, " of ")
	}
	return text + "; " + m.amounts(m.Cluster) + "."
}

// amounts returns what a domain has and what of it is free.
func (m *Map) amounts(d *Domain) string {
	total, noun := d.Total.GPUs, "GPU"
	if total == 0 {
		total, noun = d.Total.MilliCPUs/1000, "CPU"
	}
	text := describe.Count(int(total), noun)
	switch {
	case d.Free == nil:
	case noun == "GPU":
		text += fmt.Sprintf(", %d free", d.Free.GPUs)
	default:
		text += ", " + cpus(d.Free.MilliCPUs) + " free"
	}
	return text
}

// source returns where the tiers come from, what is odd about them, and what could not be read.
func (m *Map) source() (sentences []string) {
	switch m.Source {
	case topology.SourceHyperNodes:
		sentences = append(sentences, "The tiers are those of the HyperNodes.")
	case topology.SourceLabels:
		sentences = append(sentences, "The tiers are those of the nodes' labels.")
	default:
		level := "all nodes are one level"
		if len(m.Tiers) > 0 {
			level = "only NVLink domains are distinguished"
		}
		sentences = append(sentences, "The cluster has no HyperNodes, and no labels are known that name racks: "+level+" (--topology-labels names such labels).")
	}
	if slices.Contains(m.Tiers, topology.NVLinkTier) {
		sentences = append(sentences, "NVLink domains are those of the label "+topology.CliqueLabel+".")
	}
	for _, note := range m.Notes {
		sentences = append(sentences, strings.ToUpper(note[:1])+note[1:]+".")
	}
	for _, what := range m.Unread {
		sentences = append(sentences, "Left out: "+what+".")
	}
	return sentences
}

// key explains the kinds of cells that the map has and that are no job's.
func (m *Map) key() (lines []keyLine) {
	seen := map[int]bool{}
	cpuOnly, off, beside := false, false, false
	m.Cluster.each(nil, func(_ []*Domain, n *Node) {
		for _, r := range m.row(n) {
			seen[min(r.owner, 0)] = true
		}
		cpuOnly = cpuOnly || n.Total.GPUs == 0
		beside = beside || m.beside(n) != nil
		off = off || n.State != ""
	})
	add := func(there bool, l keyLine) {
		if there {
			lines = append(lines, l)
		}
	}
	add(seen[free], keyLine{free, ".", "free"})
	add(seen[others], keyLine{others, "#", "others: pods that are no PaddleJob's"})
	add(seen[unknown], keyLine{unknown, "?", "free, or others': pods that you have no permission to read"})
	add(off, keyLine{outOfUse, "!", "a node that takes no pods: not ready, or cordoned"})
	add(cpuOnly, keyLine{eighth, "( )", "a node without GPUs: each cell is an eighth of its CPUs"})
	add(beside, keyLine{strip, "+", "below or behind a node's GPUs: its jobs that have pods without GPUs there"})
	return lines
}

// keyLine is one line of the key.
type keyLine struct {
	kind       int
	sign, text string
}

// Kinds of the key's lines beyond who has a cell.
const (
	outOfUse = -10 - iota
	eighth
	strip
)

// about returns the phase, pods and spread of a job.
func (m *Map) about(j *Job) string {
	var parts []string
	if j.Phase != "" {
		parts = append(parts, j.Phase)
	}
	var roles []string
	for _, r := range j.Roles {
		text, most := "", r.Placed
		if r.Wanted > 0 && r.Placed != r.Wanted {
			text, most = fmt.Sprintf("%d of ", r.Placed), r.Wanted
		}
		if r.Name == builder.RoleWorker {
			text += describe.Count(most, r.Name)
		} else {
			text += fmt.Sprintf("%d %s", most, r.Name)
		}
		roles = append(roles, text)
	}
	if len(roles) > 0 {
		parts = append(parts, strings.Join(roles, ", "))
	}
	if j.Nodes > 0 {
		where := []string{describe.Count(j.Nodes, "node")}
		for i, n := range j.Spread {
			where = append(where, describe.Count(n, m.Tiers[i]))
		}
		parts = append(parts, strings.Join(where, ", "))
	}
	return strings.Join(parts, "; ")
}

// called returns the namespace and the name of a job.
func (j *Job) called() string { return j.Namespace + "/" + j.Name }

// path returns a domain's name below those above it, without the cluster.
func path(above []*Domain, d *Domain) string {
	var names []string
	for _, a := range append(above[:len(above):len(above)], d) {
		if a.Tier != "" {
			names = append(names, a.label())
		}
	}
	return strings.Join(names, " / ")
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

// title returns the details of a node, in lines.
func (n *Node) title() string {
	lines := []string{n.Name}
	if n.State != "" {
		lines[0] += " (" + n.State + ")"
	}
	amount := func(a *Amounts) string {
		text := cpus(a.MilliCPUs) + " CPUs, " + bytesOf(a.Bytes)
		if n.Total.GPUs > 0 {
			text = describe.Count(int(a.GPUs), "GPU") + ", " + text
		}
		return text
	}
	lines = append(lines, amount(&n.Total))
	if n.Free != nil {
		lines = append(lines, "free: "+amount(n.Free))
	}
	rest := 0
	for _, p := range n.Pods {
		if p.owner == others && p.Holds.GPUs == 0 {
			rest++
			continue
		}
		text := p.Namespace + "/" + p.Name
		if p.Holds.GPUs > 0 {
			text += ": " + describe.Count(int(p.Holds.GPUs), "GPU")
		} else {
			text += ": " + cpus(p.Holds.MilliCPUs) + " CPUs"
		}
		lines = append(lines, text)
	}
	if rest > 0 {
		lines = append(lines, describe.Count(rest, "other pod"))
	}
	return strings.Join(lines, "\n")
}

func cpus(milli int64) string { return strconv.FormatFloat(float64(milli/100)/10, 'f', -1, 64) }

func bytesOf(n int64) string {
	const gi = 1 << 30
	if n >= gi {
		return strconv.FormatInt(n/gi, 10) + " GiB"
	}
	return strconv.FormatInt(n>>20, 10) + " MiB"
}
