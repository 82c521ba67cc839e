// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"
)

// labelTree is the tiers that node labels name: one for each key that a node has.
func labelTree(keys []string, nodes []node) (tree, bool) {
	t := tree{source: sourceLabels}
	for k, key := range keys {
		l := level{number: k + 1, name: lastPart(key), given: []string{key}, domains: make([]string, len(nodes))}
		var missing []string
		for at := range nodes {
			l.domains[at] = nodes[at].facts.labels[k]
			if l.domains[at] == "" {
				missing = append(missing, nodes[at].name)
			}
		}
		switch {
		case len(missing) == len(nodes):
			t.warnings = append(t.warnings, warning{what: fmt.Sprintf("no node has the label %s, the tier is left out", key)})
			continue
		case len(missing) > 0:
			t.warnings = append(t.warnings, warning{fmt.Sprintf("%d of %d nodes do not have the label %s, they count as apart from all others",
				len(missing), len(nodes), key), missing})
		}
		t.levels = append(t.levels, l)
	}
	return t, len(t.levels) > 0
}
