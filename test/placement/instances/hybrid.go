// SPDX-License-Identifier: Apache-2.0

package instances

import (
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// DrawnHybrid returns the small instance of a seed and an index, made a Collective with hybrid parallelism; such a job has workers only.
func DrawnHybrid(seed, index uint64, limits Limits) *Instance {
	rng := source(seed, index)
	in := Small(rng.IntN, limits)
	in.Demand.Pattern, in.Demand.GroupSize = placement.Collective, 0
	in.Demand.Roles = slices.DeleteFunc(in.Demand.Roles, func(r placement.Role) bool { return r.CommRole != placement.Worker })
	degree := func() int { return pick(rng, 1, 2, 2, 3, 4) }
	in.Demand.Parallelism = placement.Parallelism{Pipeline: degree(), Sharding: degree(), Sep: pick(rng, 1, 1, 2), Tensor: degree(), Expert: pick(rng, 1, 1, 4)}
	return in
}

// HybridCluster draws a loaded cluster as Cluster does, and a job of 64 to 512 GPUs with tensor, pipeline, sharding and data parallelism in
// pods of 4 or 8 that fits.
func HybridCluster(seed, index uint64) *Loaded {
	rng := source(seed, index)
	c := &cluster{Rand: rng, Loaded: &Loaded{}}
	c.build(128 + rng.IntN(385))
	c.fill(0.2 + 0.4*rng.Float64())
	for tries := 0; ; tries++ {
		h := placement.Parallelism{Tensor: pick(rng, 2, 4, 8, 8), Pipeline: pick(rng, 2, 4, 8), Sharding: pick(rng, 1, 2, 4, 8)}
		gpus, per := 512>>min(3, rng.IntN(3)+tries/8), pick(rng, 4, 8)
		if gpus%(h.Tensor*h.Pipeline*h.Sharding) > 0 {
			continue
		}
		c.Demand = Ring(gpus/per, []int64{int64(per) * 4, 16 * int64(per), int64(per)})
		if c.Demand.Parallelism = h; c.fits() {
			return c.Loaded
		}
	}
}
