// SPDX-License-Identifier: Apache-2.0

package opponents

import (
	"math"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/workload"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

// Least is the minimum of a job: seconds of a step, and bytes of a step across the boundaries of each tier.
type Least struct {
	Step  float64
	Bytes [root]float64
}

// Alone bounds a job at every placement and with any other jobs from below, on the links of a fleet (bytes per second of one direction,
// by tier). The job has the cluster to itself, the domains of a tier are all like the largest, and each tier is taken by itself, so
// not even an empty cluster has to have a place that is as good:
//
//   - A ring leaves and enters each of its domains once at least, with 2 (n-1)/n of the model.
//   - A job with hybrid parallelism whose pods fill hosts sends the same from each host wherever they are. Racks and blocks count for
//     nothing, and neither does the network for pods that do not fill hosts.
//   - Servers and workers are divided among domains in the best way, for the busiest link and for the sum of bytes separately
//     (dynamic programming over what one domain holds).
//
// Links of one tier that are in use for that long keep a step from being shorter: more jobs only add to what links carry.
func (c *Cluster) Alone(job *workload.Job, widths [root]float64) Least {
	least := Least{Step: job.Compute}
	for tier := range widths {
		largest := c.largest(tier)
		var busiest, sum float64
		switch {
		case job.Mode == cluster.PS:
			busiest, sum = divided(&job.Job, job.ModelBytes, largest)
		case job.Hybrid.Tensor == 0:
			busiest, sum = c.ring(job, tier)
		case tier == host && job.Roles[0].Request.GPU == largest.GPU:
			busiest, sum = nested(job)
		}
		least.Step = max(least.Step, job.Compute+busiest/widths[tier])
		least.Bytes[tier] = sum
	}
	return least
}

// largest returns what the largest domain of a tier has, each resource by itself.
func (c *Cluster) largest(tier int) (most cluster.Amounts) {
	for _, d := range c.tree[tier] {
		var all cluster.Amounts
		for i := d.first; i < d.end; i++ {
			all = all.Plus(c.Fleet[i].Capacity)
		}
		most = cluster.Amounts{CPU: max(most.CPU, all.CPU), Memory: max(most.Memory, all.Memory), GPU: max(most.GPU, all.GPU)}
	}
	return most
}

// ring returns the bytes that leave the busiest domain of a tier, and those that leave all of them, where a ring is in as few
// domains as hold it.
func (c *Cluster) ring(job *workload.Job, tier int) (busiest, sum float64) {
	role := &job.Roles[0]
	var capacities []int
	for _, d := range c.tree[tier] {
		pods := 0
		for i := d.first; i < d.end; i++ {
			pods += fit(c.Fleet[i].Capacity, role.Request)
		}
		capacities = append(capacities, pods)
	}
	slices.Sort(capacities)
	domains := 0
	for left := role.Pods; left > 0 && domains < len(capacities); domains++ {
		left -= capacities[len(capacities)-1-domains]
	}
	if domains < 2 {
		return 0, 0
	}
	ranks := float64(role.Pods) * float64(max(1, role.Request.GPU))
	bytes := 2 * (ranks - 1) / ranks * job.ModelBytes
	return bytes, float64(domains) * bytes
}

// nested returns the bytes that leave the busiest host, or come to it, and those that leave all, where each pod has its own.
func nested(job *workload.Job) (busiest, sum float64) {
	role := &job.Roles[0]
	var hosts []int // of the ranks
	for pod := range role.Pods {
		for range role.Request.GPU {
			hosts = append(hosts, pod)
		}
	}
	out, in := make([]float64, role.Pods), make([]float64, role.Pods)
	for _, e := range job.Hybrid.Exchanges(hosts) {
		if e.From != e.To {
			out[e.From] += e.Bytes
			in[e.To] += e.Bytes
			sum += e.Bytes
		}
	}
	return max(slices.Max(out), slices.Max(in)), sum
}

// divided returns the least bytes that leave the busiest domain, and the least that leave all, over all ways to divide servers and
// workers among domains that hold no more than the largest.
func divided(job *cluster.Job, model float64, largest cluster.Amounts) (busiest, sum float64) {
	servers, workers := &job.Roles[0], &job.Roles[1]
	type best struct{ busiest, sum float64 }
	bests := make([][]best, servers.Pods+1)
	for p := range bests {
		bests[p] = make([]best, workers.Pods+1)
		for w := range bests[p] {
			if p+w == 0 {
				continue
			}
			b := best{math.Inf(1), math.Inf(1)}
			for s := 0; s <= p && (s == 0 || fit(largest, servers.Request) >= s); s++ {
				left := less(largest, servers.Request, s)
				for k := min(w, fit(left, workers.Request)); k >= 0; k-- {
					if s+k == 0 {
						continue
					}
					out := model / float64(servers.Pods) * float64(s*(workers.Pods-k)+k*(servers.Pods-s))
					rest := bests[p-s][w-k]
					b.busiest = min(b.busiest, max(out, rest.busiest))
					b.sum = min(b.sum, out+rest.sum)
				}
			}
			bests[p][w] = b
		}
	}
	b := bests[servers.Pods][workers.Pods]
	return b.busiest, b.sum
}

// less returns what is left of an amount after n pods of a request.
func less(amount, request cluster.Amounts, n int) cluster.Amounts {
	k := int64(n)
	return amount.Minus(cluster.Amounts{CPU: request.CPU * k, Memory: request.Memory * k, GPU: request.GPU * k})
}
