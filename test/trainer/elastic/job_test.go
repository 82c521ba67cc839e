// SPDX-License-Identifier: Apache-2.0

package elastic

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRounds(t *testing.T) {
	nodes := func(all ...node) []node { return all }
	a, b, c := node{ID: "a"}, node{ID: "b"}, node{ID: "c"}
	left := func(n node, round int64) node { n.Left = round; return n }
	round := plan{IDs: []string{"a", "b"}, round: 7}
	for _, test := range []struct {
		name       string
		nodes      []node
		plan       plan
		most       int
		over, free bool
	}{
		{"nobody has planned", nodes(a, b), plan{}, 2, true, true},
		{"it goes on", nodes(a, b), round, 2, false, false},
		{"there is no place for a third", nodes(a, b, c), round, 2, false, false},
		{"there is", nodes(a, b, c), round, 3, true, false},
		{"one has gone, the other trains on", nodes(b), round, 2, true, false},
		{"one has gone, and a third takes its place", nodes(b, c), round, 2, true, false},
		{"one has left it", nodes(left(a, 7), b), round, 2, true, false},
		{"both have", nodes(left(a, 7), left(b, 7)), round, 2, true, true},
		{"the third was in another round", nodes(left(a, 7), left(b, 7), left(c, 3)), round, 3, true, true},
		{"both left the one before", nodes(left(a, 5), left(b, 5)), round, 2, false, false},
	} {
		j := job{nodes: test.nodes, plan: test.plan}
		require.Equal(t, test.over, j.over(test.most), "%s: over", test.name)
		require.Equal(t, test.free, j.free(test.most), "%s: free", test.name)
	}
}
