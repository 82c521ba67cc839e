// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// Source is where the tiers above the nodes come from.
type Source string

// Sources of tiers.
const (
	SourceHyperNodes Source = "hypernodes"
	SourceLabels     Source = "labels"
	SourceFlat       Source = "flat"
)

type level struct {
	// number of the tier in a networkTopology; NVLink domains have none.
	number int
	nvlink bool
	// name is the tier's name for users; given are other names by which a networkTopology may mean it.
	name  string
	given []string
	// domains of the nodes, in the order of their names: "" where it is not known.
	domains []string
	// largest is how many nodes the largest of the NVLink domains has.
	largest int
}

// tree is the tiers above the nodes by one source, nearest first.
type tree struct {
	source   Source
	levels   []level
	warnings []string
	// names that a networkTopology may use, and the placement tier of each.
	names map[string]int
	// hyperNodes are those that domains are, by DomainID less the number of nodes.
	hyperNodes []string
}

func (t *tree) warn(what string, examples []string, of int) {
	t.warnings = append(t.warnings, warning(what, examples, of)...)
}

// tier returns the placement tier of a level.
func (t *tree) tier(level int) int { return placement.NodeTier + 1 + level }

// place of a level among the weights and bandwidths of the options, where the node's is 0: labels keep their places when one of
// them is on no node.
func (t *tree) place(level int) int {
	if t.source == SourceLabels {
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

// path returns the domains of one node, for placement.
func (t *tree) path(node int) []string {
	path := make([]string, len(t.levels))
	for i := range t.levels {
		path[i] = escaper.Replace(t.levels[i].domains[node])
	}
	return path
}

// allow makes a name valid in networkTopology, unless it is a lower tier's.
func (t *tree) allow(name string, tier int) {
	if t.names == nil {
		t.names = map[string]int{}
	}
	if was, ok := t.names[name]; !ok || tier < was {
		t.names[name] = tier
	}
}

// name gives the tiers names that differ from each other, and collects those that a networkTopology may use: first those
// that were given, then those that users see.
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
	if t.source != SourceHyperNodes {
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

// HyperNode returns the HyperNode that a domain is; "" for nodes, NVLink domains, the whole cluster, domains of nodes that
// are in no HyperNode of the tier, and whenever the tiers do not come from HyperNodes.
func (c *Cache) HyperNode(d placement.DomainID) string {
	if c.topology != nil {
		if at := int(d) - c.topology.Nodes(); at >= 0 && at < len(c.tree.hyperNodes) {
			return c.tree.hyperNodes[at]
		}
	}
	return ""
}

// labelTree returns the tiers that node labels name: one for each key that a node has, numbered by its place among the keys.
func labelTree(keys []string, nodes []node) *tree {
	t := &tree{source: SourceLabels}
	var nowhere []string
	for k, key := range keys {
		l := level{number: k + 1, name: key[strings.LastIndex(key, "/")+1:], given: []string{key}, domains: make([]string, len(nodes))}
		var missing []string
		for i := range nodes {
			l.domains[i] = nodes[i].info.labels[k]
			if l.domains[i] == "" {
				missing = append(missing, nodes[i].name)
			}
		}
		if len(missing) == len(nodes) {
			nowhere = append(nowhere, key)
			continue
		}
		t.warn(fmt.Sprintf("nodes without the label %s, each counts as apart from all others", key), missing, len(nodes))
		t.levels = append(t.levels, l)
	}
	t.warn("labels that no node has, their tiers are left out", nowhere, len(keys))
	return t
}

// Tier is the placement tier of a networkTopology's highestTierAllowed: a HyperNode's tier, or the place of a label in
// the arguments, 1 being the nearest. Between two tiers the lower one holds; above the highest there is no limit, 0.
func (c *Cache) Tier(number int) (int, error) {
	lowest, highest, tier := 1, 0, 0
	for i, level := range slices.Backward(c.tree.levels) {
		if level.nvlink {
			continue
		}
		lowest, highest = level.number, max(highest, level.number)
		if tier == 0 && level.number <= number {
			tier = c.tree.tier(i)
		}
	}
	switch {
	case number < lowest:
		return 0, fmt.Errorf("highestTierAllowed %d: the lowest tier is %d", number, lowest)
	case number > highest:
		return 0, nil
	default:
		return tier, nil
	}
}

// TierNamed is the placement tier of a networkTopology's highestTierName: the tierName of HyperNodes, the key of a label
// or a tier's name for users.
func (c *Cache) TierNamed(name string) (int, error) {
	if tier, ok := c.tree.names[name]; ok {
		return tier, nil
	}
	if len(c.tree.names) == 0 {
		return 0, fmt.Errorf("highestTierName %q is not known: the cluster has no tiers above its nodes", name)
	}
	return 0, fmt.Errorf("highestTierName %q is not known: there are %s", name, strings.Join(slices.Sorted(maps.Keys(c.tree.names)), ", "))
}

// escaper keeps "/", which separates the domains of a path, out of their names, so that names that differ still do.
var escaper = strings.NewReplacer("%", "%25", "/", "%2F")

// uniqueName returns a name that is not taken yet: the short one, else the full one, else one with a number.
func uniqueName(taken []string, short, full string) string {
	if !slices.Contains(taken, short) {
		return short
	}
	name := full
	for i := 2; slices.Contains(taken, name); i++ {
		name = fmt.Sprintf("%s %d", full, i)
	}
	return name
}

// maxWeight is placement's limit.
const maxWeight = 1 << 14

// tiers returns placement's tiers for a tree. The options do not name NVLink domains: where the weights next to their own are
// given, their weight is the geometric mean. They have no uplink but those of their nodes, so their bandwidth is that of these.
func (o Options) tiers(t *tree) ([]placement.Tier, []string) {
	tiers := placement.DefaultTiers(t.name()...)
	if o.IntraNodeWeight > 0 {
		tiers[placement.IslandTier].Weight = o.IntraNodeWeight
	}
	highest := 0
	weight := func(tier, place int) {
		highest = max(highest, place)
		if place < len(o.Weights) {
			tiers[tier].Weight = o.Weights[place]
		}
	}
	weight(placement.NodeTier, 0)
	for i, level := range t.levels {
		tier := t.tier(i)
		tiers[tier].Weight = min(4*tiers[tier-1].Weight, maxWeight)
		if !level.nvlink {
			weight(tier, t.place(i))
		} else if len(t.levels) > 1 && t.place(1) < len(o.Weights) {
			tiers[tier].Weight = math.Sqrt(tiers[tier-1].Weight * o.Weights[t.place(1)])
		}
	}
	switch {
	case len(o.Bandwidths) == 0:
		return tiers, nil
	case len(o.Bandwidths) <= highest:
		return tiers, []string{fmt.Sprintf("%d bandwidths are too few, %d are needed: all uplinks count as equally wide", len(o.Bandwidths), highest+1)}
	}
	tiers[placement.NodeTier].Bandwidth = o.Bandwidths[0]
	for i, level := range t.levels {
		if level.nvlink {
			tiers[t.tier(i)].Bandwidth = o.Bandwidths[0] * float64(level.largest)
		} else {
			tiers[t.tier(i)].Bandwidth = o.Bandwidths[t.place(i)]
		}
	}
	return tiers, nil
}

// maxExamples of one kind of warning are named.
const maxExamples = 3

// warning returns a warning that counts its examples and names the first few, none without examples. of is how many there
// could be, 0 if that is not known.
func warning(what string, examples []string, of int) []string {
	if len(examples) == 0 {
		return nil
	}
	count := strconv.Itoa(len(examples))
	if of > 0 {
		count += " of " + strconv.Itoa(of)
	}
	named := strings.Join(examples[:min(len(examples), maxExamples)], ", ")
	if more := len(examples) - maxExamples; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	return []string{fmt.Sprintf("%s: %s (%s)", what, count, named)}
}
