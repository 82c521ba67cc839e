// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The block that is cheapest for the job as a whole cannot hold its groups in racks; the other one can.
//
//	        b1                        b2
//	 r1         r2            r3              r4
//	 n1         n2         n3  n4  n5      n6  n7  n8
//	4 GPUs     2 GPUs             1 GPU each
func TestJobsBlockMustHoldItsGroups(t *testing.T) {
	nodes := map[string]place{"n1": {"r1", "b1", 4}, "n2": {"r2", "b1", 2}, "n3": {"r3", "b2", 1}, "n4": {"r3", "b2", 1},
		"n5": {"r3", "b2", 1}, "n6": {"r4", "b2", 1}, "n7": {"r4", "b2", 1}, "n8": {"r4", "b2", 1}}
	inBothTopologies(t, nodes, func(t *testing.T, c *cluster) {
		group, workers := ring("j", 6)
		c.add(within(grouped(group, 3, hardMode, 1), hardMode, 2), inGroups(workers, 3))
		c.session()
		require.Len(t, c.bound(), 6)
		require.Len(t, c.on("j"), 6)
	})
}

// Two groups of a job go near each other although no limit says so: the second is planned with the first in view.
//
//	        b1                  b2
//	 r1         r2              r3
//	 n1         n2              n3
//	3 GPUs     4 GPUs         3 GPUs
func TestGroupsGoNearEachOther(t *testing.T) {
	nodes := map[string]place{"n1": {"r1", "b1", 3}, "n2": {"r2", "b1", 4}, "n3": {"r3", "b2", 3}}
	inBothTopologies(t, nodes, func(t *testing.T, c *cluster) {
		group, workers := ring("j", 6)
		c.add(grouped(group, 3, hardMode, 1), inGroups(workers, 3))
		c.session()
		require.Equal(t, []string{"n1", "n2"}, c.on("j"))
	})
}
