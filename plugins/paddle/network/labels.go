// SPDX-License-Identifier: Apache-2.0

package network

import "fmt"

// labelTree is the tiers that node labels name: one for each key that a node has, numbered by its place among the keys.
func labelTree(keys []string, nodes []node) (tree, bool) {
	t := tree{source: sourceLabels}
	var nowhere []string
	for k, key := range keys {
		l := level{number: k + 1, name: lastPart(key), given: []string{key}, domains: make([]string, len(nodes))}
		var missing []string
		for i := range nodes {
			l.domains[i] = nodes[i].facts.labels[k]
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
	return t, len(t.levels) > 0
}
