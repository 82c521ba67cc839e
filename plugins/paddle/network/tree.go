// SPDX-License-Identifier: Apache-2.0

package network

import (
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// What Source answers.
const (
	sourceHyperNodes = "hypernodes"
	sourceLabels     = "labels"
	sourceFlat       = "flat"
)

// maxLevels above the node is what placement allows.
const maxLevels = 14

// level is one tier above the nodes.
type level struct {
	// number of the tier in a networkTopology; NVLink domains have none.
	number int
	nvlink bool
	// name is what people call the tier; given are other names by which a networkTopology may mean it.
	name  string
	given []string
	// domains of the nodes, in the order of their names: "" where it is not known.
	domains []string
	// largest is how many nodes the largest of the NVLink domains has.
	largest int
}

// tree is what one source says of the tiers above the nodes, nearest first.
type tree struct {
	source   string
	levels   []level
	highest  int // number of the highest level, also where that was cut off
	warnings []warning
	// names that a networkTopology may use, and the placement tier of each.
	names map[string]int
	// hyperNodes are those that domains are, by DomainID less the number of nodes.
	hyperNodes []string
}

func (t *tree) warn(what string, examples []string, of int) {
	t.warnings = append(t.warnings, warned(what, examples, of)...)
}

// tier is the placement tier of a level.
func (t *tree) tier(level int) int { return placement.NodeTier + 1 + level }

// place of a level among the weights and bandwidths of the options, where the node's is 0: labels keep theirs when one of
// them is on no node.
func (t *tree) place(level int) int {
	if t.source == sourceLabels {
		return t.levels[level].number
	}
	place := 0
	for i := range level + 1 {
		if !t.levels[i].nvlink {
			place++
		}
	}
	return place
}

// path is the domains of one node, for placement.
func (t *tree) path(node int) []string {
	path := make([]string, len(t.levels))
	for i := range t.levels {
		path[i] = escaper.Replace(t.levels[i].domains[node])
	}
	return path
}

// cut leaves out the farthest tiers that placement has no room for: a limit at one of them is then kept a tier lower.
func (t *tree) cut() {
	if len(t.levels) == 0 {
		return
	}
	t.highest = t.levels[len(t.levels)-1].number
	if len(t.levels) <= maxLevels {
		return
	}
	var left []string
	for _, level := range t.levels[maxLevels:] {
		left = append(left, level.name)
		for _, name := range append(level.given, level.name) {
			t.allow(name, t.tier(maxLevels-1))
		}
	}
	t.warn("tiers that the planner has no room for, the farthest ones", left, len(t.levels))
	t.levels = t.levels[:maxLevels]
}

// allow lets a networkTopology use a name, unless it is a lower tier's.
func (t *tree) allow(name string, tier int) {
	if t.names == nil {
		t.names = map[string]int{}
	}
	if was, ok := t.names[name]; !ok || tier < was {
		t.names[name] = tier
	}
}

// name gives the tiers names that differ from each other, and collects those that a networkTopology may use: first those
// that were given, then those that people see.
func (t *tree) name() []string {
	taken := []string{"island", "node"}
	for i := range t.levels {
		level := &t.levels[i]
		full := level.name
		if len(level.given) > 0 {
			full = level.given[0]
		}
		level.name = uniqueName(taken, level.name, full)
		taken = append(taken, level.name)
		for _, name := range level.given {
			t.allow(name, t.tier(i))
		}
	}
	for i, level := range t.levels {
		if _, ok := t.names[level.name]; !ok {
			t.allow(level.name, t.tier(i))
		}
	}
	return slices.Clone(taken[2:])
}

// keepHyperNodes remembers which HyperNode each domain is; nodes are in the order of their names.
func (t *tree) keepHyperNodes(topology *placement.Topology, nodes []node) {
	if t.source != sourceHyperNodes {
		return
	}
	t.hyperNodes = make([]string, int(topology.Root())+1-topology.Nodes())
	for at := range nodes {
		id, _ := topology.Node(nodes[at].name)
		for i, level := range t.levels {
			if !level.nvlink && level.domains[at] != "" {
				d := topology.Ancestor(id, t.tier(i))
				t.hyperNodes[int(d)-topology.Nodes()] = level.domains[at]
			}
		}
	}
}

// HyperNode is the HyperNode that a domain is; "" for nodes, NVLink domains, the whole cluster, domains of nodes that
// are in no HyperNode of the tier, and whenever the tiers do not come from HyperNodes.
func (n *Network) HyperNode(d placement.DomainID) string {
	if n.topology == nil {
		return ""
	}
	at := int(d) - n.topology.Nodes()
	if at < 0 || at >= len(n.tree.hyperNodes) {
		return ""
	}
	return n.tree.hyperNodes[at]
}
