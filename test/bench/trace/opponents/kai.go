// SPDX-License-Identifier: Apache-2.0

package opponents

import (
	"cmp"
	"math"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/workload"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

// KAI places as KAI-Scheduler v0.12.0 does with its default configuration and a topology of blocks, racks and hosts
// (pkg/scheduler/plugins/topology and nodeplacement):
//
//   - A job prefers hosts (topology-preferred-placement: kubernetes.io/hostname).
//   - The children of each domain are in the order of the job's dominant share of what is left in them, the greatest share first. So
//     the fullest domains come first.
//   - A domain is tried if it holds the job: as many pods as large as the largest, or, where some pods have GPUs and others have not,
//     what all ask for together. Hosts are tried first, then racks, blocks, and all hosts.
//   - In a domain the pods are placed one by one on the host of the highest score. The place of a host in the order of all hosts gives
//     10,000 for each tenth of them, the last ones most. Binpack gives up to 9 to the host with the fewest GPUs left (CPUs, for a pod
//     without GPUs). Ties end in names.
//
// If required, a job waits for a domain of the lowest level that holds it on an empty cluster (topology-required-placement).
//
// The action consolidation is left out: it evicts running jobs and lets them start again elsewhere.
func KAI(required bool) Rule {
	return func(c *Cluster, job *workload.Job) (Placement, error) {
		highest := root
		if required {
			highest = c.Tier(&job.Job)
		}
		order := kaiOrder(c, job)
		for level := host; level <= highest; level++ {
			for _, d := range order[level] {
				if !kaiHolds(c, d, &job.Job) {
					continue
				}
				if placement := kaiFill(c, d, order[host], &job.Job); placement != nil {
					return placement, nil
				}
			}
		}
		return nil, nil
	}
}

// kaiOrder returns the domains of each level: the children of one parent after those of the one before it, the fullest first.
func kaiOrder(c *Cluster, job *workload.Job) (order [levels][]*domain) {
	demand := job.Demand()
	order[root] = c.tree[root]
	for level := root; level > host; level-- {
		for _, parent := range order[level] {
			children := slices.Clone(parent.children)
			slices.SortFunc(children, func(a, b *domain) int {
				return cmp.Or(cmp.Compare(dominant(demand, c.sum(b)), dominant(demand, c.sum(a))), cmp.Compare(a.first, b.first))
			})
			order[level-1] = append(order[level-1], children...)
		}
	}
	return order
}

// sum returns what the hosts of a domain have left together.
func (c *Cluster) sum(d *domain) (free cluster.Amounts) {
	for _, left := range c.Free[d.first:d.end] {
		free = free.Plus(left)
	}
	return free
}

// dominant returns the greatest share of what is left that a demand has, over all resources.
func dominant(demand, free cluster.Amounts) (share float64) {
	for _, pair := range [][2]int64{{demand.CPU, free.CPU}, {demand.Memory, free.Memory}, {demand.GPU, free.GPU}} {
		if pair[0] > 0 {
			share = max(share, float64(pair[0])/float64(pair[1]))
		}
	}
	return share
}

// kaiHolds reports whether a domain is tried.
func kaiHolds(c *Cluster, d *domain, job *cluster.Job) bool {
	var largest cluster.Amounts
	withGPUs := 0
	for i := range job.Roles {
		r := job.Roles[i].Request
		largest = cluster.Amounts{CPU: max(largest.CPU, r.CPU), Memory: max(largest.Memory, r.Memory), GPU: max(largest.GPU, r.GPU)}
		if r.GPU > 0 {
			withGPUs++
		}
	}
	if withGPUs > 0 && withGPUs < len(job.Roles) {
		return dominant(job.Demand(), c.sum(d)) <= 1
	}
	pods := 0
	for _, left := range c.Free[d.first:d.end] {
		pods += fit(left, largest)
	}
	return pods >= job.Pods()
}

// kaiFill places the pods one by one in a domain; none if one of them finds no host.
func kaiFill(c *Cluster, d *domain, order []*domain, job *cluster.Job) Placement {
	const tenths, weight = 10, 10_000
	near := make([]float64, len(c.Fleet))
	for i, h := range order {
		near[h.first] = weight * math.Floor(float64(i+1)/float64(len(order))*tenths)
	}
	free, placement := slices.Clone(c.Free), make(Placement, len(job.Roles))
	for r := range job.Roles {
		request := job.Roles[r].Request
		for range job.Roles[r].Pods {
			packed := kaiBinpack(free[d.first:d.end], request)
			chosen := none
			for h := d.first; h < d.end; h++ {
				if fit(free[h], request) == 0 {
					continue
				}
				if chosen == none || cmp.Or(cmp.Compare(near[h]+packed[h-d.first], near[chosen]+packed[chosen-d.first]),
					cmp.Compare(c.Fleet[chosen].Name, c.Fleet[h].Name)) > 0 {
					chosen = h
				}
			}
			if chosen == none {
				return nil
			}
			free[chosen] = free[chosen].Minus(request)
			placement[r] = append(placement[r], chosen)
		}
	}
	return placement
}

// kaiBinpack returns the score of each host: the highest for the fewest GPUs left, or CPUs for a pod without GPUs.
func kaiBinpack(free []cluster.Amounts, request cluster.Amounts) []float64 {
	const highest = 9
	left := make([]float64, len(free))
	for i := range free {
		left[i] = float64(free[i].GPU)
		if request.GPU == 0 {
			left[i] = float64(free[i].CPU)
		}
	}
	least, most := slices.Min(left), slices.Max(left)
	for i := range left {
		switch {
		case most == 0:
			left[i] = 0
		case least == most:
			left[i] = highest
		default:
			left[i] = highest * (1 - (left[i]-least)/(most-least))
		}
	}
	return left
}
