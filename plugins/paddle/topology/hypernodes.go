// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	"volcano.sh/volcano/pkg/scheduler/api"
)

// hyperNode is what is kept of a HyperNode.
type hyperNode struct {
	name     string
	tier     int
	tierName string
	members  int
}

// hyperNodes are those that hold a node of the session, by tier and then by name.
type hyperNodes struct {
	list []hyperNode
	// empty are the names of all others.
	empty sets.Set[string]
	// hasUnknownMembers reports that some have members that are no nodes of the session.
	hasUnknownMembers bool
	// sets are the members of each while they are compared.
	sets []sets.Set[string]
}

// readHyperNodes lists the HyperNodes that hold a node of the session. of[i] are those that hold nodes[i], in their order.
func readHyperNodes(v SessionView, nodes []node) (all hyperNodes, of [][]int32) {
	all.empty = sets.New[string]()
	for name, info := range v.HyperNodes {
		if name == v.Top || info == nil {
			continue
		}
		h := hyperNode{name: name, tier: info.Tier(), tierName: tierName(info), members: len(v.Members[name])}
		present := 0
		for member := range v.Members[name] {
			if _, ok := v.Nodes[member]; ok {
				present++
			}
		}
		all.hasUnknownMembers = all.hasUnknownMembers || present < h.members
		if present == 0 {
			all.empty.Insert(name)
			continue
		}
		all.list = append(all.list, h)
	}
	slices.SortFunc(all.list, func(a, b hyperNode) int { return cmp.Or(cmp.Compare(a.tier, b.tier), strings.Compare(a.name, b.name)) })
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

// same reports whether each HyperNode is as it was and holds the same nodes. The nodes are those that there were.
func (h *hyperNodes) same(v SessionView, nodes []node) bool {
	if h.hasUnknownMembers {
		return h.sameAnew(v, nodes)
	}
	if !h.open(v) {
		return false
	}
	defer clear(h.sets) // a session's sets are not kept
	// As many members as before, and all that there were: so there are no others.
	for i := range nodes {
		for _, at := range nodes[i].hypers {
			if !h.sets[at].Has(nodes[i].name) {
				return false
			}
		}
	}
	return true
}

// sameAnew is same where a member may become a node of the session without a change of their number.
func (h *hyperNodes) sameAnew(v SessionView, nodes []node) bool {
	now, of := readHyperNodes(v, nodes)
	for i := range nodes {
		if !slices.Equal(of[i], nodes[i].hypers) {
			return false
		}
	}
	return slices.Equal(now.list, h.list) && now.empty.Equal(h.empty)
}

// open looks the members up; false if something else of a HyperNode has changed, or their number.
func (h *hyperNodes) open(v SessionView) bool {
	count := len(v.HyperNodes)
	if _, ok := v.HyperNodes[v.Top]; ok {
		count--
	}
	if count != len(h.list)+len(h.empty) {
		return false
	}
	for name := range h.empty {
		if v.HyperNodes[name] == nil || len(v.Members[name]) > 0 {
			return false
		}
	}
	h.sets = h.sets[:0]
	for i := range h.list {
		was := &h.list[i]
		info, members := v.HyperNodes[was.name], v.Members[was.name]
		if info == nil || info.Tier() != was.tier || len(members) != was.members || tierName(info) != was.tierName {
			clear(h.sets)
			return false
		}
		h.sets = append(h.sets, members)
	}
	return true
}

// hyperNodeTree is the tiers of the HyperNodes: one for each number that a HyperNode has.
func hyperNodeTree(all hyperNodes, nodes []node) (tree, bool) {
	t := tree{source: SourceHyperNodes}
	of := map[int]int{} // level of each tier number
	for _, h := range all.list {
		if _, ok := of[h.tier]; !ok {
			of[h.tier] = len(t.levels)
			t.levels = append(t.levels, level{number: h.tier, domains: make([]string, len(nodes))})
		}
		given := &t.levels[of[h.tier]].given
		if h.tierName != "" && !slices.Contains(*given, h.tierName) {
			*given = append(*given, h.tierName)
		}
	}
	var outside, doubled []string
	for i := range nodes {
		if len(nodes[i].hypers) == 0 {
			outside = append(outside, nodes[i].name)
		}
		for _, at := range nodes[i].hypers {
			h := all.list[at]
			domain := &t.levels[of[h.tier]].domains[i]
			if *domain == "" {
				*domain = h.name
			} else {
				doubled = append(doubled, fmt.Sprintf("%s in %s and %s", nodes[i].name, *domain, h.name))
			}
		}
	}
	t.warn("nodes in no HyperNode, each counts as apart from all others", outside, len(nodes))
	t.warn("nodes in two HyperNodes of one tier, the first by name counts", doubled, 0)
	t.nameHyperNodes()
	for i := range len(t.levels) - 1 {
		broken := t.broken(i, i+1)
		t.warn(fmt.Sprintf("HyperNodes of tier %d whose nodes are not all in one of tier %d, the parts count as apart",
			t.levels[i].number, t.levels[i+1].number), broken, 0)
	}
	return t, len(t.levels) > 0
}

// nameHyperNodes names the tiers by what their HyperNodes say, else by their number.
func (t *tree) nameHyperNodes() {
	tierOf := map[string]int{}
	var several, again []string
	for i := range t.levels {
		level := &t.levels[i]
		slices.Sort(level.given)
		level.name = "tier " + strconv.Itoa(level.number)
		if len(level.given) > 1 {
			several = append(several, fmt.Sprintf("tier %d: %s", level.number, strings.Join(level.given, ", ")))
		}
		for _, name := range level.given {
			if number, ok := tierOf[name]; ok {
				again = append(again, fmt.Sprintf("%s of tiers %d and %d", name, number, level.number))
				continue
			}
			tierOf[name] = level.number
		}
		if len(level.given) > 0 {
			level.name = level.given[0]
		}
	}
	t.warn("tiers with several tier names, the first by name is shown", several, 0)
	t.warn("tier names of two tiers, they mean the lower one", again, 0)
}

// broken are the domains of a level whose nodes are not all in one domain of a level above.
func (t *tree) broken(level, above int) []string {
	first := map[string]string{}
	found := map[string]bool{}
	var names []string
	for i, domain := range t.levels[level].domains {
		up := t.levels[above].domains[i]
		was, ok := first[domain]
		switch {
		case domain == "":
		case !ok:
			first[domain] = up
		case was != up && !found[domain]:
			found[domain] = true
			names = append(names, domain)
		}
	}
	slices.Sort(names)
	return names
}
