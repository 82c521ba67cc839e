// SPDX-License-Identifier: Apache-2.0

package solver

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// roomFor reports whether all members find capacity, by trying every node for each of them.
func hasCapacityFor(b *partialAssignment, left [][]int64, k int, n int32) bool {
	for k < b.podClasses && n == b.p.podClasses[k].count {
		k, n = k+1, 0
	}
	if k == b.podClasses {
		return true
	}
	for node := range left {
		kind := &b.p.podClasses[k]
		if kind.shape.Fit(tree.NodeID(node)) == 0 || tree.Fits(left[node], kind.request) == 0 {
			continue
		}
		for r, amount := range kind.request {
			left[node][r] -= amount
		}
		ok := hasCapacityFor(b, left, k, n+1)
		for r, amount := range kind.request {
			left[node][r] += amount
		}
		if ok {
			return true
		}
	}
	return false
}

func TestBinPackFindsAPlanIfThereIsOne(test *testing.T) {
	packed, full := 0, 0
	for seed := range int64(1500) {
		t, d, o := tightCase(seed)
		d.Pattern, d.Colocation, d.HighestTier = gang.ParameterServer, gang.Preferred, 0
		b, _ := assignmentOf(t, d, o)
		if len(b.p.roleDemands()) < 2 || b.p.members() > 7 {
			b.close()
			continue
		}
		left := make([][]int64, t.Nodes())
		for n := range left {
			left[n] = append(left[n], t.Free(tree.DomainID(n))...)
		}
		fit := hasCapacityFor(b, left, 0, 0)
		require.Equal(test, fit, b.binPack(0, tree.NodeID(t.Nodes())), "seed %d", seed)
		if !fit {
			full++
			b.close()
			continue
		}
		packed++
		nodes, counts := b.nodes()
		for i, n := range nodes {
			require.True(test, b.p.holds(n, t.Free(tree.DomainID(n)), counts[i*b.podClasses:(i+1)*b.podClasses]), "seed %d", seed)
		}
		b.close()
	}
	require.Greater(test, packed, 100)
	require.Greater(test, full, 100)
}
