// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// roomFor says whether all members find room, by trying every node for each of them.
func roomFor(b *board, left [][]int64, k int, n int32) bool {
	for k < b.kinds && n == b.p.kinds[k].count {
		k, n = k+1, 0
	}
	if k == b.kinds {
		return true
	}
	for node := range left {
		kind := &b.p.kinds[k]
		if kind.shape.fit[node] == 0 || fits(left[node], kind.request) == 0 {
			continue
		}
		for r, amount := range kind.request {
			left[node][r] -= amount
		}
		ok := roomFor(b, left, k, n+1)
		for r, amount := range kind.request {
			left[node][r] += amount
		}
		if ok {
			return true
		}
	}
	return false
}

func TestPackFindsRoomIfThereIsAny(test *testing.T) {
	packed, full := 0, 0
	for seed := range int64(1500) {
		t, d, o := tightCase(seed)
		d.Pattern, d.Colocation, d.HighestTier = ParameterServer, Preferred, 0
		b, _ := boardOf(t, d, o)
		if len(b.p.lots()) < 2 || b.p.members() > 7 {
			b.close()
			continue
		}
		left := make([][]int64, t.Nodes())
		for n := range left {
			left[n] = append(left[n], t.Free(DomainID(n))...)
		}
		room := roomFor(b, left, 0, 0)
		require.Equal(test, room, b.pack(0, NodeID(t.Nodes())), "seed %d", seed)
		if !room {
			full++
			b.close()
			continue
		}
		packed++
		nodes, counts := b.nodes()
		for i, n := range nodes {
			require.True(test, b.p.holds(n, t.Free(DomainID(n)), counts[i*b.kinds:(i+1)*b.kinds]), "seed %d", seed)
		}
		b.close()
	}
	require.Greater(test, packed, 100)
	require.Greater(test, full, 100)
}
