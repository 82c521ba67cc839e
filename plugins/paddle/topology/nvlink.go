// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"fmt"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

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
