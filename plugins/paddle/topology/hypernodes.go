// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

type hyperNode struct {
	name     string
	tier     int
	tierName string
	members  sets.Set[string]
}

type hyperNodes struct {
	// list are those that hold a node of the session, by tier and then by name.
	list []hyperNode
	// all are those and the others, by name.
	all map[string]hyperNode
}

// readHyperNodes reads the HyperNodes of a session, and sets those of each node.
func readHyperNodes(v SessionView, nodes []node) hyperNodes {
	h := hyperNodes{all: map[string]hyperNode{}}
	for name, info := range v.HyperNodes {
		if name == v.Top || info == nil {
			continue
		}
		h.all[name] = hyperNode{name: name, tier: info.Tier(), tierName: tierName(info), members: v.Members[name]}
	}
	at := make(map[string]int, len(nodes))
	for i := range nodes {
		at[nodes[i].name] = i
	}
	for _, read := range slices.SortedFunc(maps.Values(h.all), func(a, b hyperNode) int {
		return cmp.Or(cmp.Compare(a.tier, b.tier), strings.Compare(a.name, b.name))
	}) {
		holds := false
		for member := range read.members {
			if i, ok := at[member]; ok {
				nodes[i].hypers, holds = append(nodes[i].hypers, int32(len(h.list))), true
			}
		}
		if holds {
			h.list = append(h.list, read)
		}
	}
	return h
}

func tierName(info *api.HyperNodeInfo) string {
	if info.HyperNode == nil {
		return ""
	}
	return info.HyperNode.Spec.TierName
}

// same reports whether a session has the same HyperNodes with the same members.
func (h *hyperNodes) same(v SessionView) bool {
	count := 0
	for name, info := range v.HyperNodes {
		if name == v.Top || info == nil {
			continue
		}
		count++
		was, ok := h.all[name]
		if !ok || info.Tier() != was.tier || tierName(info) != was.tierName || !v.Members[name].Equal(was.members) {
			return false
		}
	}
	return count == len(h.all)
}

// hyperNodeTree returns the tiers of the HyperNodes: one for each number that a HyperNode has.
func hyperNodeTree(all hyperNodes, nodes []node) *tree {
	t := &tree{source: SourceHyperNodes}
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
	return t
}

// nameHyperNodes names the tiers by what their HyperNodes say, else by their number.
func (t *tree) nameHyperNodes() {
	tierOf := map[string]int{}
	var several, repeated []string
	for i := range t.levels {
		level := &t.levels[i]
		slices.Sort(level.given)
		level.name = "tier " + strconv.Itoa(level.number)
		if len(level.given) > 1 {
			several = append(several, fmt.Sprintf("tier %d: %s", level.number, strings.Join(level.given, ", ")))
		}
		for _, name := range level.given {
			if number, ok := tierOf[name]; ok {
				repeated = append(repeated, fmt.Sprintf("%s of tiers %d and %d", name, number, level.number))
				continue
			}
			tierOf[name] = level.number
		}
		if len(level.given) > 0 {
			level.name = level.given[0]
		}
	}
	t.warn("tiers with several tier names, the first by name is shown", several, 0)
	t.warn("tier names of two tiers, they mean the lower one", repeated, 0)
}

// broken returns the domains of a level whose nodes are not all in one domain of a level above.
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

const (
	// CliqueLabel is the label of a node with the NVLink domain that it shares with other nodes. NVIDIA's GPU feature
	// discovery sets it.
	CliqueLabel = "nvidia.com/gpu.clique"
	// NVLinkTier is the name of the tier of NVLink domains of several nodes, and nvlinkGiven what a networkTopology may use.
	NVLinkTier  = "NVLink domain"
	nvlinkGiven = "nvlink-domain"
)

// joinNVLink puts the NVLink domains that nodes share below the nearest tier. Where they are the same as the nodes, or as
// the domains of the nearest tier, no tier is added: only the name means that one.
func (t *tree) joinNVLink(nodes []node) {
	l := level{nvlink: true, name: NVLinkTier, given: []string{nvlinkGiven}, domains: make([]string, len(nodes))}
	size := map[string]int{}
	for i := range nodes {
		clique := nodes[i].info.clique
		l.domains[i] = clique
		if clique != "" {
			size[clique]++
			l.largest = max(l.largest, size[clique])
		}
	}
	switch {
	case l.largest == 0:
	case l.largest == 1:
		t.names = map[string]int{nvlinkGiven: placement.NodeTier}
	case len(t.levels) > 0 && samePartition(l.domains, t.levels[0].domains):
		t.names = map[string]int{nvlinkGiven: t.tier(0)}
	default:
		t.levels = slices.Insert(t.levels, 0, l)
		if len(t.levels) > 1 {
			broken := t.broken(0, 1)
			t.warn(fmt.Sprintf("NVLink domains whose nodes are not all in one domain of the tier %s, the parts count as apart", t.levels[1].name), broken, 0)
		}
	}
}

// samePartition reports whether two lists of domains group the nodes in the same way.
func samePartition(a, b []string) bool {
	ab, ba := map[string]string{}, map[string]string{}
	for i := range a {
		there, seen := ab[a[i]]
		back, known := ba[b[i]]
		if (a[i] == "") != (b[i] == "") || seen && there != b[i] || known && back != a[i] {
			return false
		}
		ab[a[i]], ba[b[i]] = b[i], a[i]
	}
	return true
}
