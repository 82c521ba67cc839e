// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNodeSet(test *testing.T) {
	t := gpuTree(test, make([]int64, 130)...)
	set := NewNodeSet(t)
	in := func(s *NodeSet) (nodes []NodeID) {
		for n := range NodeID(130) {
			if s.Has(n) {
				nodes = append(nodes, n)
			}
		}
		return nodes
	}
	require.Empty(test, in(set))
	for _, n := range []NodeID{0, 63, 64, 129, 129} {
		set.Add(n)
	}
	require.Equal(test, []NodeID{0, 63, 64, 129}, in(set))
	set.Remove(63)
	set.Remove(63)
	require.Equal(test, []NodeID{0, 64, 129}, in(set))

	other := NewNodeSet(t)
	for _, n := range []NodeID{1, 64, 129} {
		other.Add(n)
	}
	require.Equal(test, []NodeID{64, 129}, in(set.And(other)))
	require.Equal(test, []NodeID{64, 129}, in(other.And(set)))
	require.Equal(test, []NodeID{0, 64, 129}, in(set), "neither changes")
	var all *NodeSet
	require.Same(test, other, all.And(other))
	require.Same(test, other, other.And(all))
	require.Nil(test, all.And(nil))

	inside := t.NodesIn(t.Root())
	require.Len(test, in(inside), t.Nodes())
	require.Equal(test, []NodeID{7}, in(t.NodesIn(7)))
}
