// SPDX-License-Identifier: Apache-2.0

package network

import (
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

const (
	// nvlinkName is what people call the tier of NVLink domains of several nodes, nvlinkGiven what a networkTopology may.
	nvlinkName  = "NVLink domain"
	nvlinkGiven = "nvlink-domain"
)

// joinNVLink puts the NVLink domains that nodes share below the nearest tier. Where they are the same as the nodes, or as
// the domains of the nearest tier, no tier is added: only the name means that one.
func (t *tree) joinNVLink(nodes []node) {
	cliques := make([]string, len(nodes))
	seen := map[string]bool{}
	known, shared := false, false
	for at := range nodes {
		clique := nodes[at].facts.clique
		if clique == "" {
			continue
		}
		known = true
		shared = shared || seen[clique]
		seen[clique] = true
		cliques[at] = clique
	}
	t.names = map[string]int{}
	switch {
	case !known:
	case !shared:
		t.names[nvlinkGiven] = placement.NodeTier
	case len(t.levels) > 0 && samePartition(cliques, t.levels[0].domains):
		t.names[nvlinkGiven] = t.tier(0)
	default:
		t.levels = slices.Insert(t.levels, 0, level{name: nvlinkName, given: []string{nvlinkGiven}, domains: cliques})
	}
}

// samePartition tells whether two lists of names part the same nodes in the same way.
func samePartition(a, b []string) bool {
	ab, ba := map[string]string{}, map[string]string{}
	for i := range a {
		if (a[i] == "") != (b[i] == "") {
			return false
		}
		if was, ok := ab[a[i]]; ok && was != b[i] {
			return false
		}
		if was, ok := ba[b[i]]; ok && was != a[i] {
			return false
		}
		ab[a[i]], ba[b[i]] = b[i], a[i]
	}
	return true
}
