// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"slices"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// nodeNames are what nodes are called on paper: their names, without the end or the beginning that all have in common
// where a name is too wide otherwise.
func (s *scene) nodeNames(ids []placement.NodeID) map[placement.NodeID]string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = s.t.NodeName(id)
	}
	fit := func() bool {
		return !slices.ContainsFunc(names, func(name string) bool { return textWidth(name, s.scale.name) > s.scale.most })
	}
	if len(ids) > 1 && !fit() {
		names = withoutEnd(names)
	}
	if len(ids) > 1 && !fit() {
		names = withoutBeginning(names)
	}
	short := make(map[placement.NodeID]string, len(ids))
	for i, id := range ids {
		short[id] = shorten(names[i], s.scale.name, s.scale.most)
	}
	return short
}

// withoutEnd takes off what all names end in, from a dot on: their domain.
func withoutEnd(names []string) []string {
	end := names[0]
	for _, name := range names {
		for !strings.HasSuffix(name, end) {
			end = end[1:]
		}
	}
	dot := strings.Index(end, ".")
	if dot < 0 {
		return names
	}
	return cut(names, func(name string) string { return strings.TrimSuffix(name, end[dot:]) })
}

// withoutBeginning takes off what all names begin with, up to a dash or a dot.
func withoutBeginning(names []string) []string {
	beginning := names[0]
	for _, name := range names {
		for !strings.HasPrefix(name, beginning) {
			beginning = beginning[:len(beginning)-1]
		}
	}
	end := strings.LastIndexAny(beginning, "-.") + 1
	if end == 0 {
		return names
	}
	return cut(names, func(name string) string { return "…" + name[end:] })
}

func cut(names []string, short func(string) string) []string {
	all := make([]string, len(names))
	for i, name := range names {
		if all[i] = short(name); all[i] == "" || all[i] == "…" {
			all[i] = name
		}
	}
	return all
}
