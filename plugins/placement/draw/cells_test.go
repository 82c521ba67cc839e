// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// One node; pods by their position: those of the first role run already.
func TestGroups(t *testing.T) {
	for name, c := range map[string]struct {
		free    int64
		islands []placement.Island
		size    int // of the whole node, 0 if not known
		running []int64
		fresh   []int64
		want    []group
	}{
		"a whole node":             {free: 4, fresh: []int64{2}, want: []group{{0, 0, free, free}}},
		"others, if size is known": {free: 2, size: 4, fresh: []int64{1}, want: []group{{others, others, 0, free}}},
		"a running pod":            {free: 1, size: 4, running: []int64{2}, fresh: []int64{1}, want: []group{{0, 0, others, 1}}},
		"no GPUs":                  {fresh: []int64{0}},
		"a pod without GPUs":       {free: 1, fresh: []int64{0}, want: []group{{free}}},
		"more than there are":      {free: 1, fresh: []int64{2}, want: []group{{0}, {0}}},
		"the fullest island that holds the pod": {
			free: 6, islands: []placement.Island{{Size: 4, Free: 4}, {Size: 4, Free: 2}}, fresh: []int64{2, 2},
			want: []group{{1, 1, free, free}, {others, others, 0, 0}},
		},
		"a running pod is where GPUs are taken": {
			free: 5, islands: []placement.Island{{Size: 4, Free: 3}, {Size: 4, Free: 2}}, running: []int64{2}, fresh: []int64{3},
			want: []group{{others, 1, 1, 1}, {0, 0, free, free}},
		},
		"over two islands": {
			free: 4, islands: []placement.Island{{Size: 2, Free: 2}, {Size: 2, Free: 2}}, fresh: []int64{3},
			want: []group{{0, 0}, {0, free}},
		},
		"too many to draw": {free: 100, fresh: []int64{100}},
	} {
		t.Run(name, func(t *testing.T) {
			topology, err := placement.NewTopology(placement.TopologySpec{
				Resources: []string{"gpu"}, Accelerators: []string{"gpu"}, Tiers: placement.DefaultTiers(),
				Nodes: []placement.NodeSpec{{Name: "n1", Free: []int64{c.free}, Islands: c.islands}},
			})
			require.NoError(t, err)
			s := &scene{t: topology, d: &placement.Demand{}, pods: map[placement.NodeID][]pod{}, holds: map[placement.DomainID]bool{}}
			if c.size > 0 {
				s.o.GPUs = func(placement.NodeID) int { return c.size }
			}
			for i, gpus := range append(c.running, c.fresh...) {
				s.d.Roles = append(s.d.Roles, placement.Role{Request: []int64{gpus}})
				s.add(0, pod{role: i, fixed: i < len(c.running)})
			}
			require.Equal(t, c.want, s.groups(0))
		})
	}
}
