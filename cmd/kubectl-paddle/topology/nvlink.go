// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

const (
	// NVLinkDomain is the tier of nodes that share NVLink.
	NVLinkDomain = "NVLink domain"
	// CliqueLabel is the label of nodes that names theirs.
	CliqueLabel = "nvidia.com/gpu.clique"
)

// joinNVLink puts the NVLink domains of several nodes below the nearest tier, unless that has the same nodes in each.
func joinNVLink(nodes []*corev1.Node, levels []level) []level {
	l := level{name: NVLinkDomain, domains: map[string]string{}}
	size, largest := map[string]int{}, 0
	for _, node := range nodes {
		if clique := node.Labels[CliqueLabel]; clique != "" {
			l.domains[node.Name] = clique
			size[clique]++
			largest = max(largest, size[clique])
		}
	}
	if largest < 2 || len(levels) > 0 && samePartition(nodes, l.domains, levels[0].domains) {
		return levels
	}
	return slices.Insert(levels, 0, l)
}

// samePartition says whether two tiers part the nodes in the same way.
func samePartition(nodes []*corev1.Node, a, b map[string]string) bool {
	ab, ba := map[string]string{}, map[string]string{}
	for _, node := range nodes {
		x, y := a[node.Name], b[node.Name]
		forth, seen := ab[x]
		back, known := ba[y]
		if (x == "") != (y == "") || seen && forth != y || known && back != x {
			return false
		}
		ab[x], ba[y] = y, x
	}
	return true
}
