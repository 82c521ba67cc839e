// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
)

// Placement is where a gang runs and what each step of its training sends over the network.
type Placement struct {
	// Tiers from the nodes up. They are empty where the network is not known.
	Tiers []Tier `json:"tiers,omitempty"`
	// InBytes reports that traffic is in bytes. It is else in sizes of the model.
	InBytes bool `json:"inBytes,omitempty"`
	// Nodes are the first nodes that hold pods.
	Nodes []Node `json:"nodes,omitempty"`
	// MoreNodes is how many others there are.
	MoreNodes int `json:"moreNodes,omitempty"`
}

// Tier is what a gang does with one tier of the network.
type Tier struct {
	Name string `json:"name"`
	// Count is in how many domains of the tier the gang runs, Domains are the first of them.
	Count   int      `json:"count"`
	Domains []string `json:"domains,omitempty"`
	// Crossing is what a step of training sends between domains of the tier.
	Crossing float64 `json:"crossing"`
	// Seconds is what the busiest link of the tier takes in each step, 0 where that is not known.
	Seconds float64 `json:"seconds,omitempty"`
}

// Node is the pods on one node, by role.
type Node struct {
	Name string         `json:"name"`
	Pods map[string]int `json:"pods"`
}

// NewTier returns a tier by the domains of it that a gang uses.
func NewTier(name string, domains []string, crossing, seconds float64) Tier {
	return Tier{Name: name, Count: len(domains), Domains: domains[:min(len(domains), maxNames)], Crossing: crossing, Seconds: seconds}
}

// Traffic returns what a step of training sends: "12 GiB between nodes and 3 GiB between racks". It is empty where that is not
// known.
func (p *Placement) Traffic() string {
	if len(p.Tiers) == 0 {
		return ""
	}
	var parts []string
	for _, tier := range p.Tiers {
		if tier.Crossing > 0 {
			parts = append(parts, p.Amount(tier.Crossing)+" between "+Domains(2, tier.Name))
		}
	}
	if len(parts) == 0 {
		return "nothing between nodes"
	}
	return List(parts)
}

// Busiest returns the longest time that a link takes in each step: "0.16 s of each step, between racks". It is empty where that
// is not known.
func (p *Placement) Busiest() string {
	most := Tier{}
	for _, tier := range p.Tiers {
		if tier.Seconds > most.Seconds {
			most = tier
		}
	}
	if most.Seconds == 0 {
		return ""
	}
	return fmt.Sprintf("%.3g s of each step, between %s", most.Seconds, Domains(2, most.Name))
}

// Sentences returns one about the traffic and one about the busiest link, as far as they are known.
func (p *Placement) Sentences() (sentences []string) {
	if traffic := p.Traffic(); traffic != "" {
		sentences = append(sentences, "a step of training sends "+traffic)
	}
	if busiest := p.Busiest(); busiest != "" {
		sentences = append(sentences, "the busiest link takes "+busiest)
	}
	return sentences
}

// Better reports whether another placement of the same gang sends less between the domains of a tier.
func (p *Placement) Better(other *Placement, tier string) bool {
	named := func(t Tier) bool { return t.Name == tier }
	here, there := slices.IndexFunc(p.Tiers, named), slices.IndexFunc(other.Tiers, named)
	return here >= 0 && there >= 0 && other.Tiers[there].Crossing < p.Tiers[here].Crossing
}

// Amount returns an amount of traffic: "12.5 GiB" or "3 times the model".
func (p *Placement) Amount(amount float64) string {
	if !p.InBytes {
		return strconv.FormatFloat(amount, 'g', 3, 64) + " times the model"
	}
	size, unit := float64(mib), " MiB"
	if amount >= gib {
		size, unit = gib, " GiB"
	}
	return strconv.FormatFloat(math.Ceil((amount-1e-3)/size*10)/10, 'f', -1, 64) + unit
}

var roleOrder = []string{"server", "heter worker", "worker", "other pod"}

// FormatPods returns pods by role: "1 server and 4 workers".
func FormatPods(byRole map[string]int) string {
	var parts []string
	for _, role := range slices.SortedFunc(maps.Keys(byRole), func(a, b string) int {
		return cmp.Or(cmp.Compare(slices.Index(roleOrder, a), slices.Index(roleOrder, b)), cmp.Compare(a, b))
	}) {
		if n := byRole[role]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, Plural(n, role)))
		}
	}
	if len(parts) == 0 {
		return "no pods"
	}
	return List(parts)
}

const maxNodes = 32

// NewPlaced returns the report of a gang that has its nodes, by the pods of each role on each node. Tiers are from the nodes
// up, and may be unknown.
func NewPlaced(on map[string]map[string]int, tiers []Tier, inBytes bool) Report {
	p := &Placement{Tiers: tiers, InBytes: inBytes, MoreNodes: max(0, len(on)-maxNodes)}
	all, sum := map[string]int{}, 0
	for _, node := range slices.Sorted(maps.Keys(on)) {
		if len(p.Nodes) < maxNodes {
			p.Nodes = append(p.Nodes, Node{Name: node, Pods: on[node]})
		}
		for role, n := range on[node] {
			all[role] += n
			sum += n
		}
	}
	verb := " are on "
	if sum == 1 {
		verb = " is on "
	}
	return Report{Reason: Placed, Message: FormatPods(all) + verb + p.where(len(on)), Placement: p}
}

// where returns "2 nodes of rack r1", or "5 nodes in 2 racks of block b1".
func (p *Placement) where(nodes int) string {
	text := fmt.Sprintf("%d %s", nodes, Plural(nodes, "node"))
	for i, tier := range p.Tiers {
		switch {
		case i == 0: // the nodes themselves
		case tier.Count > 1:
			text += fmt.Sprintf(" in %d %s", tier.Count, Domains(2, tier.Name))
		case len(tier.Domains) == 1:
			return text + " of " + Place(tier.Name, tier.Domains[0])
		}
	}
	return text
}

// SurplusText returns a sentence about pods beyond the minimum, by role, that wait. why may be empty.
func SurplusText(byRole map[string]int, why string) string {
	sum := 0
	for _, n := range byRole {
		sum += n
	}
	text := FormatPods(byRole) + " beyond the minimum wait"
	if sum == 1 {
		text += "s"
	}
	if why != "" {
		text += ": " + why
	}
	return text
}

// details returns the nodes, on lines.
func (p *Placement) details() (lines []string) {
	for _, node := range p.Nodes {
		lines = append(lines, node.Name+": "+FormatPods(node.Pods))
	}
	if p.MoreNodes > 0 {
		lines = append(lines, fmt.Sprintf("and %d more nodes", p.MoreNodes))
	}
	return lines
}
