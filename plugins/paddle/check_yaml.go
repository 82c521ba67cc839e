// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// spot is a place in a YAML document.
type spot struct {
	node *yaml.Node
	path string
	line int // of the key, or of the entry of a list
}

// entry is one key of a mapping, with the place of its value.
type entry struct {
	key string
	spot
}

// mapping gives the entries of a mapping, and an error for what is none, for keys named twice and, if any are known, for
// unknown ones. An empty value is an empty mapping.
func (c *check) mapping(s spot, known ...string) []entry {
	if empty(s.node) {
		return nil
	}
	if s.node.Kind != yaml.MappingNode {
		c.errorAt(s, "it is no mapping of keys to values")
		return nil
	}
	var entries []entry
	for _, e := range pairs(s, mergeDepth) {
		if at := find(entries, e.key); at >= 0 {
			c.errorAt(e.spot, "%s is here a second time; only this one counts", e.key)
			entries[at] = e
			continue
		}
		if len(known) > 0 && !slices.Contains(known, e.key) {
			c.unknown(e.spot, "there is no such key", e.key, known)
		}
		entries = append(entries, e)
	}
	return entries
}

// mergeDepth is how many merged mappings (<<) are followed, one into the next.
const mergeDepth = 4

// pairs are a mapping's own entries, then those that are merged into it and are not its own.
func pairs(s spot, depth int) []entry {
	var own, merged []entry
	for i := 0; i+1 < len(s.node.Content); i += 2 {
		key, value := s.node.Content[i], resolved(s.node.Content[i+1])
		if key.Tag == "!!merge" {
			for _, from := range mappings(value) {
				if depth > 0 {
					merged = append(merged, pairs(spot{node: from, path: s.path}, depth-1)...)
				}
			}
			continue
		}
		at := spot{node: value, path: key.Value, line: key.Line}
		if s.path != "" {
			at.path = s.path + "." + key.Value
		}
		own = append(own, entry{key.Value, at})
	}
	for _, e := range merged {
		if find(own, e.key) < 0 {
			own = append(own, e)
		}
	}
	return own
}

// mappings are the one or more mappings that a merge names; Volcano's parser refuses anything else.
func mappings(node *yaml.Node) []*yaml.Node {
	switch node.Kind {
	case yaml.MappingNode:
		return []*yaml.Node{node}
	case yaml.SequenceNode:
		var found []*yaml.Node
		for _, one := range node.Content {
			if one = resolved(one); one.Kind == yaml.MappingNode {
				found = append(found, one)
			}
		}
		return found
	default:
		return nil
	}
}

// list gives the entries of a list, and an error for what is none. An empty value is an empty list.
func (c *check) list(s spot) []spot {
	if empty(s.node) {
		return nil
	}
	if s.node.Kind != yaml.SequenceNode {
		c.errorAt(s, "it is no list")
		return nil
	}
	var spots []spot
	for i, node := range s.node.Content {
		spots = append(spots, spot{node: resolved(node), path: fmt.Sprintf("%s[%d]", s.path, i), line: node.Line})
	}
	return spots
}

// unknown says that a word is not known, and which one may be meant.
func (c *check) unknown(s spot, what, word string, known []string) {
	if meant, ok := nearest(word, known); ok {
		c.errorAt(s, "%s; did you mean %s?", what, meant)
		return
	}
	c.errorAt(s, "%s; known are %s", what, strings.Join(known, ", "))
}

func find(entries []entry, key string) int {
	return slices.IndexFunc(entries, func(e entry) bool { return e.key == key })
}

// lookup is the value of a key, and false where there is none.
func lookup(entries []entry, key string) (spot, bool) {
	if at := find(entries, key); at >= 0 {
		return entries[at].spot, true
	}
	return spot{}, false
}

// resolved is the node that an alias stands for.
func resolved(node *yaml.Node) *yaml.Node {
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	return node
}

func empty(node *yaml.Node) bool {
	return node == nil || node.Kind == 0 || node.Tag == "!!null"
}
