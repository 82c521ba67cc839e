// SPDX-License-Identifier: Apache-2.0

package instances

import (
	"fmt"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// Fleet is a large cluster to measure time on.
type Fleet struct{ spec placement.TopologySpec }

// NewFleet draws nodes in racks and blocks of equal size, with 0 to 8 GPUs free and as varied cpu and memory. One rack of
// four has nodes with two islands.
func NewFleet(seed uint64, nodes, racks, blocks int) *Fleet {
	rng := source(seed, uint64(nodes))
	spec := placement.TopologySpec{Resources: Resources(), Accelerators: []string{"nvidia.com/gpu"}, Tiers: placement.DefaultTiers("rack", "block")}
	for i := range nodes {
		rack := i * racks / nodes
		gpus := rng.IntN(gpusPerNode + 1)
		node := placement.NodeSpec{
			Name:    fmt.Sprintf("node-%06d", i),
			Domains: []string{fmt.Sprintf("rack-%05d", rack), fmt.Sprintf("block-%04d", rack*blocks/racks)},
			Free:    []int64{int64(8*gpus + rng.IntN(33)), int64(64*gpus + rng.IntN(257)), int64(gpus)},
		}
		if rack%4 == 0 {
			one := gpus/2 + rng.IntN(min(gpus-gpus/2, 4-gpus/2)+1)
			node.Islands = []placement.Island{{Size: 4, Free: one}, {Size: 4, Free: gpus - one}}
		}
		spec.Nodes = append(spec.Nodes, node)
	}
	return &Fleet{spec: spec}
}

// Build a topology that nothing was planned on yet.
func (f *Fleet) Build() *placement.Topology { return build(f.spec) }

// Keys returns the free GPUs of each node by id, for sorting.
func (f *Fleet) Keys(t *placement.Topology) (ids []int32, keys []int64) {
	for n := range t.Nodes() {
		ids = append(ids, int32(n))
		keys = append(keys, t.FreeGPUs(placement.DomainID(n)))
	}
	return slices.Clip(ids), keys
}
