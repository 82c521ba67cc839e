// SPDX-License-Identifier: Apache-2.0

package network

import (
	"cmp"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// What Source answers.
const (
	sourceHyperNodes = "hypernodes"
	sourceLabels     = "labels"
	sourceFlat       = "flat"
)

// maxTiers above the node is what placement allows.
const maxTiers = 14

// level is one tier above the nodes.
type level struct {
	// number of the tier in a networkTopology; 0 for NVLink domains, which have none.
	number int
	// name is what people call the tier; given are all names by which a networkTopology may mean it.
	name  string
	given []string
	// domains of the nodes, in the order of their names: "" where it is not known.
	domains []string
}

// tree is what one source says of the tiers above the nodes, nearest first.
type tree struct {
	source   string
	levels   []level
	warnings []warning
	// names that a networkTopology may use, and the placement tier of each.
	names map[string]int
	// hyperNodes are those that domains are, by number of the domain above the nodes; nil but for HyperNodes.
	hyperNodes []string
}

// tier is the placement tier of a level.
func (t *tree) tier(level int) int { return placement.NodeTier + 1 + level }

// path is the domains of one node, for placement.
func (t *tree) path(node int) []string {
	path := make([]string, len(t.levels))
	for i := range t.levels {
		path[i] = escaper.Replace(t.levels[i].domains[node])
	}
	return path
}

// name gives the tiers names that differ, and collects those that a networkTopology may use: where two tiers were given
// the same name, the lower one has it.
func (t *tree) name() []string {
	taken := []string{"island", "node"}
	var names []string
	for i := range t.levels {
		level := &t.levels[i]
		level.name = uniqueName(taken, level.name, cmp.Or(slices.Concat(level.given, []string{level.name})...))
		taken = append(taken, level.name)
		names = append(names, level.name)
	}
	if t.names == nil {
		t.names = map[string]int{}
	}
	put := func(name string, tier int) {
		if _, ok := t.names[name]; !ok {
			t.names[name] = tier
		}
	}
	for i, level := range t.levels {
		for _, name := range level.given {
			put(name, t.tier(i))
		}
	}
	for i, level := range t.levels {
		put(level.name, t.tier(i))
	}
	return names
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
			if level.number != 0 && level.domains[at] != "" {
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
