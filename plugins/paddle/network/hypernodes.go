// SPDX-License-Identifier: Apache-2.0

package network

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	"volcano.sh/volcano/pkg/scheduler/api"
)

// hyperNode is what is kept of a HyperNode that holds a node of the session.
type hyperNode struct {
	name     string
	tier     int
	tierName string
	members  int // all of them
	present  int // those that are nodes of the session
}

// hyperNodes are all of them, by tier and then by name.
type hyperNodes struct {
	list []hyperNode
	// empty is how many others there were, which hold no node.
	empty int
	// sets are the members of each during one Follow.
	sets []sets.Set[string]
}

// readHyperNodes lists the HyperNodes that hold a node of the session. of[i] are those that hold nodes[i], in their order.
func readHyperNodes(v View, nodes []node) (all hyperNodes, of [][]int32) {
	for _, name := range slices.Sorted(maps.Keys(v.HyperNodes)) {
		info := v.HyperNodes[name]
		if name == v.Top || info == nil {
			continue
		}
		h := hyperNode{name: name, tier: info.Tier(), tierName: tierName(info), members: len(v.Members[name])}
		for member := range v.Members[name] {
			if _, ok := v.Nodes[member]; ok {
				h.present++
			}
		}
		if h.present == 0 {
			all.empty++
			continue
		}
		all.list = append(all.list, h)
	}
	slices.SortFunc(all.list, func(a, b hyperNode) int { return cmp.Or(a.tier-b.tier, strings.Compare(a.name, b.name)) })
	of = make([][]int32, len(nodes))
	at := make(map[string]int, len(nodes))
	for i := range nodes {
		at[nodes[i].name] = i
	}
	for h := range all.list {
		for member := range v.Members[all.list[h].name] {
			if i, ok := at[member]; ok {
				of[i] = append(of[i], int32(h))
			}
		}
	}
	return all, of
}

func tierName(info *api.HyperNodeInfo) string {
	if info.HyperNode == nil {
		return ""
	}
	return info.HyperNode.Spec.TierName
}

// open gets ready to compare nodes' HyperNodes; false if the HyperNodes themselves have changed.
func (h *hyperNodes) open(v View) bool {
	h.sets = h.sets[:0]
	for i := range h.list {
		was := &h.list[i]
		info, members := v.HyperNodes[was.name], v.Members[was.name]
		if info == nil || info.Tier() != was.tier || tierName(info) != was.tierName || len(members) != was.members || was.members != was.present {
			return false // a member that is no node of the session might have become one
		}
		h.sets = append(h.sets, members)
	}
	count := 0
	for name := range v.HyperNodes {
		if name != v.Top {
			count++
		}
	}
	return count == len(h.list)+h.empty
}

// hold tells whether a node is still in the HyperNodes that held it. Their members were as many as before: if they hold
// all nodes that they held, they hold no others.
func (h *hyperNodes) hold(of []int32, name string) bool {
	for _, i := range of {
		if !h.sets[i].Has(name) {
			return false
		}
	}
	return true
}

// close forgets the session's sets.
func (h *hyperNodes) close() { clear(h.sets[:cap(h.sets)]) }

// hyperNodeTree is the tiers of the HyperNodes: a tier for each number that one of them has.
func hyperNodeTree(all hyperNodes, nodes []node) (tree, bool) {
	if len(all.list) == 0 {
		return tree{}, false
	}
	t := tree{source: sourceHyperNodes}
	of := map[int]int{} // level of each tier number
	for _, h := range all.list {
		i, ok := of[h.tier]
		if !ok {
			i = len(t.levels)
			of[h.tier] = i
			t.levels = append(t.levels, level{number: h.tier, domains: make([]string, len(nodes))})
		}
		if h.tierName != "" && !slices.Contains(t.levels[i].given, h.tierName) {
			t.levels[i].given = append(t.levels[i].given, h.tierName)
		}
	}
	for i := range t.levels {
		level := &t.levels[i]
		slices.Sort(level.given)
		level.name = "tier " + strconv.Itoa(level.number)
		if len(level.given) > 0 {
			level.name = level.given[0]
		}
	}
	var outside, doubled []string
	for at := range nodes {
		name := nodes[at].name
		if len(nodes[at].hypers) == 0 {
			outside = append(outside, name)
		}
		for _, i := range nodes[at].hypers {
			h := all.list[i]
			domain := &t.levels[of[h.tier]].domains[at]
			if *domain != "" {
				doubled = append(doubled, fmt.Sprintf("%s (%s, %s)", name, *domain, h.name))
				continue
			}
			*domain = h.name
		}
	}
	if len(outside) > 0 {
		t.warnings = append(t.warnings, warning{fmt.Sprintf("%d of %d nodes are in no HyperNode, each counts as one by itself", len(outside), len(nodes)), outside})
	}
	if len(doubled) > 0 {
		t.warnings = append(t.warnings, warning{fmt.Sprintf("%d times a node is in two HyperNodes of one tier, the first by name counts", len(doubled)), doubled})
	}
	return t, true
}
