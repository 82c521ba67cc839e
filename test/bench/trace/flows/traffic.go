// SPDX-License-Identifier: Apache-2.0

package flows

import (
	"cmp"
	"maps"
	"slices"
)

// Flow is Count equal flows along the same links, of Bytes bytes each.
type Flow struct {
	Links []int32
	Count float64
	Bytes float64
}

// Job computes for Compute seconds in each step, and then sends all its flows at once. The step ends with the last flow.
type Job struct {
	Compute float64
	Flows   []Flow
}

// Exchange is what one host sends to another in a step, in one flow.
type Exchange struct {
	From, To int
	Bytes    float64
}

// Ring returns the exchanges of an all-reduce of a number of bytes: each member sends 2 (n-1)/n of them to the next one. Hosts has the
// host of each rank. As NCCL does, the ring takes the hosts in the order of their lowest ranks, and all ranks of a host together.
func Ring(hosts []int, bytes float64) []Exchange {
	var order []int
	for _, host := range hosts {
		if !slices.Contains(order, host) {
			order = append(order, host)
		}
	}
	if len(order) < 2 {
		return nil
	}
	n := float64(len(hosts))
	all := make([]Exchange, len(order))
	for i, host := range order {
		all[i] = Exchange{host, order[(i+1)%len(order)], 2 * (n - 1) / n * bytes}
	}
	return all
}

// ParameterServers returns the exchanges of servers and workers: each server holds an equal part of the bytes, which each worker
// pulls and pushes.
func ParameterServers(servers, workers []int, bytes float64) []Exchange {
	var all []Exchange
	for _, server := range servers {
		for _, worker := range workers {
			part := bytes / float64(len(servers))
			all = append(all, Exchange{server, worker, part}, Exchange{worker, server, part})
		}
	}
	return all
}

// Hybrid is how a model is divided among ranks: tensor parallel ranks follow each other, then come pipeline stages, and data
// parallel copies last.
type Hybrid struct {
	Tensor, Pipeline int
	// Bytes for each rank in a step. The copies of one rank all-reduce Gradients. One rank passes Activations on to the next stage,
	// and receives as many bytes of gradients. A tensor parallel group all-reduces Partial results.
	Gradients, Activations, Partial float64
}

// Exchanges of the groups of hybrid parallelism. Hosts has the host of each rank.
func (h Hybrid) Exchanges(hosts []int) []Exchange {
	var all []Exchange
	stage := h.Tensor * h.Pipeline // ranks of one copy
	group := func(first, stride, n int) (members []int) {
		for i := range n {
			members = append(members, hosts[first+i*stride])
		}
		return members
	}
	for rank := range hosts {
		if rank < stage {
			all = append(all, Ring(group(rank, stage, len(hosts)/stage), h.Gradients)...)
		}
		if rank%h.Tensor == 0 {
			all = append(all, Ring(group(rank, 1, h.Tensor), h.Partial)...)
		}
		if rank%stage+h.Tensor < stage {
			from, to := hosts[rank], hosts[rank+h.Tensor]
			all = append(all, Exchange{from, to, h.Activations}, Exchange{to, from, h.Activations})
		}
	}
	return all
}

// Flows returns the flows of exchanges. Those between the same hosts with the same bytes are counted together; those inside of a
// host are none.
func (n *Network) Flows(exchanges []Exchange) []Flow {
	count := map[Exchange]float64{}
	for _, e := range exchanges {
		if e.From != e.To && e.Bytes > 0 {
			count[e]++
		}
	}
	var all []Flow
	for _, e := range slices.SortedFunc(maps.Keys(count), func(a, b Exchange) int {
		return cmp.Or(a.From-b.From, a.To-b.To, cmp.Compare(a.Bytes, b.Bytes))
	}) {
		all = append(all, Flow{Links: n.path(e.From, e.To), Count: count[e], Bytes: e.Bytes})
	}
	return all
}

// Crossing returns the bytes that leave the domains of each tier.
func (n *Network) Crossing(all []Flow) (bytes [Tiers]float64) {
	for i := range all {
		for _, link := range all[i].Links {
			if Up(link) {
				bytes[n.TierOf(link)] += all[i].Count * all[i].Bytes
			}
		}
	}
	return bytes
}
