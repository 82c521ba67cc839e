// SPDX-License-Identifier: Apache-2.0

package network

import (
	"cmp"
	"slices"
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
	// strangers tells that some have members that are no nodes of the session.
	strangers bool
	// sets are the members of each while they are compared.
	sets []sets.Set[string]
}

// readHyperNodes lists the HyperNodes that hold a node of the session. of[i] are those that hold nodes[i], in their order.
func readHyperNodes(v View, nodes []node) (all hyperNodes, of [][]int32) {
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
		all.strangers = all.strangers || present < h.members
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

// same tells whether each HyperNode is as it was and holds the same nodes. The nodes are those that there were.
func (h *hyperNodes) same(v View, nodes []node) bool {
	if h.strangers {
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
func (h *hyperNodes) sameAnew(v View, nodes []node) bool {
	now, of := readHyperNodes(v, nodes)
	for i := range nodes {
		if !slices.Equal(of[i], nodes[i].hypers) {
			return false
		}
	}
	return slices.Equal(now.list, h.list) && now.empty.Equal(h.empty)
}

// open looks the members up; false if something else of a HyperNode has changed, or their number.
func (h *hyperNodes) open(v View) bool {
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
