// SPDX-License-Identifier: Apache-2.0

package preferences

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

func TestScale_Penalties(t *testing.T) {
	previous, failed := []placement.NodeID{1}, []placement.NodeID{2}
	for name, test := range map[string]struct {
		members          int
		own              []int32
		previous, failed []placement.NodeID
		want             []int32
	}{
		"nothing":                   {members: 2},
		"preferences":               {members: 2, own: []int32{0, 7, 5, 0}, want: []int32{0, 7, 5, 0}},
		"previous":                  {members: 2, previous: previous, want: []int32{1, 0, 1, 1}},
		"failed nodes":              {members: 2, failed: failed, want: []int32{0, 0, 3, 0}},
		"previous and failed nodes": {members: 2, previous: previous, failed: failed, want: []int32{1, 0, 4, 1}},
		"all":                       {members: 2, own: []int32{0, 7, 5, 0}, previous: previous, failed: failed, want: []int32{1, 21, 16 + 66, 1}},
		"previous, no members":      {previous: previous, want: []int32{1, 0, 1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			most := int32(0)
			for _, penalty := range test.own {
				most = max(most, penalty)
			}
			require.Equal(t, test.want, NewScale(test.members, most).Penalties(4, test.own, test.previous, test.failed))
		})
	}
}

// What all members together have of a lower rank is less than what one has of a higher one.
func TestScale_RanksAreStrict(t *testing.T) {
	for _, members := range []int{1, 3, 100, maxStep} {
		for _, most := range []int32{1, 900, 2000} {
			p := NewScale(members, most).Penalties(4, []int32{0, most, 1, most}, []placement.NodeID{0, 1}, []placement.NodeID{3})
			place, preference := NewScale(members, most).Penalties(2, nil, []placement.NodeID{0}, nil)[1], p[2]-1
			require.Less(t, int64(members)*int64(place), int64(preference))
			require.Less(t, int64(members)*int64(p[1]+place), int64(p[3]-p[1]-place), "%d members, preferences up to %d", members, most)
		}
	}
}

func TestScale_LargePenaltiesAreScaledDown(t *testing.T) {
	for _, members := range []int{1, maxStep, 1 << 16} {
		p := NewScale(members, math.MaxInt32).Penalties(3, []int32{1, math.MaxInt32, math.MaxInt32}, []placement.NodeID{0}, []placement.NodeID{2})
		require.Positive(t, p[0], "the least preference counts")
		require.Less(t, p[0], p[1])
		require.Less(t, p[1], p[2])
		require.LessOrEqual(t, p[2], int32(math.MaxInt32))
	}
}
