// SPDX-License-Identifier: Apache-2.0

package placement

import "math"

// GangFragmentation is the share of what is free at a tier that gangs of equal pods, each inside one domain, would leave
// over:
//
//	1 - sum_d g * floor(free_d / g) / sum_d free_d
//
// where free_d is how many pods of the request fit into domain d, each node for itself, and g is the number of pods of a
// gang. 0 is none: every pod's room is part of a gang's room; 1 is all. The
// tier is from NodeTier to len(Tiers()) for the whole cluster; what is outside counts as the nearest of them. Where
// nothing is free, or nothing is asked for, the share is 0. A request that has not one amount for each resource gives NaN.
func GangFragmentation(t *Topology, tier int, request []int64, gang int) float64 {
	if len(request) != len(t.resources) {
		return math.NaN()
	}
	if asksNothing(request) {
		return 0
	}
	size := int64(max(1, gang))
	shape := t.fits.shape(request)
	lo, hi := t.Domains(min(max(tier, NodeTier), len(t.tiers)))
	var used, free int64
	for d := lo; d < hi; d++ {
		fit := shape.sumOf(d)
		used += fit / size * size
		free += fit
	}
	if free == 0 {
		return 0
	}
	return 1 - float64(used)/float64(free)
}

// JobClass is one kind of pod in the mix of jobs that a cluster sees.
type JobClass struct {
	// Request of one pod, one amount for each resource.
	Request []int64
	// Popularity is the share of the mix; only ratios between classes matter.
	Popularity float64
}

// ClassFragmentation is the share of free GPUs that a pod drawn from a mix of job classes could not use:
//
//	sum_n sum_m p_m F_n(m) / sum_n gpus_n        F_n(m) = 0 if a pod of class m fits on node n and uses GPUs, else gpus_n
//
// where gpus_n are the free GPUs of node n, and the popularities p_m are scaled to sum to 1. It is the measure of FGD (Weng
// et al., Beware of Fragmentation, USENIX ATC 2023, section 3) for whole GPUs. As there, a class without GPUs can use none
// of them. Where no GPU is free, or no class is popular, the share is 0. A request that has not one amount for each
// resource, or a popularity below 0 or not finite, gives NaN.
func ClassFragmentation(t *Topology, classes []JobClass) float64 {
	mix := 0.0
	for _, class := range classes {
		if len(class.Request) != len(t.resources) || !(class.Popularity >= 0) {
			return math.NaN()
		}
		mix += class.Popularity
	}
	if math.IsInf(mix, 0) {
		return math.NaN()
	}
	if mix == 0 {
		return 0
	}
	wasted, all := 0.0, 0.0
	for n := range t.Nodes() {
		free := t.Free(DomainID(n))
		gpus := float64(t.gpusOf(free))
		if gpus == 0 {
			continue
		}
		all += gpus
		for _, class := range classes {
			if t.gpusOf(class.Request) == 0 || fits(free, class.Request) == 0 {
				wasted += class.Popularity / mix * gpus
			}
		}
	}
	if all == 0 {
		return 0
	}
	return wasted / all
}

func asksNothing(request []int64) bool {
	for _, amount := range request {
		if amount > 0 {
			return false
		}
	}
	return true
}
