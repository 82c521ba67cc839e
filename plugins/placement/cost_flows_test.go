// SPDX-License-Identifier: Apache-2.0

package placement_test

import (
	"math/rand"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/traffic"
	"github.com/paddle-volcano/paddle-volcano/test/placement/instances"
)

// spot is where one rank or member is: its domains, from the island (below 0 is one of its own) upwards.
type spot struct {
	node   placement.NodeID
	island int
}

// wire counts bytes flow by flow, with no formula: what one sends another crosses the borders between them.
type wire struct {
	topology *placement.Topology
	sent     map[placement.DomainID]float64 // out of each domain
	islands  map[spot]float64
}

func (w *wire) send(from, to spot, bytes float64) {
	if from == to {
		return
	}
	w.islands[from] += bytes
	for tier := placement.NodeTier; tier < len(w.topology.Tiers()); tier++ {
		if a := w.topology.Ancestor(from.node, tier); a != w.topology.Ancestor(to.node, tier) {
			w.sent[a] += bytes
		}
	}
}

// seatOf is one member with its place, in the order of roles and indexes.
type placedMember struct {
	role  *placement.Role
	fixed bool
	spot  spot
}

func placedMembers(d *placement.Demand, assignments []placement.Assignment) (members []placedMember) {
	for r := range d.Roles {
		at := map[int]placedMember{}
		most := -1
		for _, p := range d.Roles[r].Placed {
			at[p.Index] = placedMember{role: &d.Roles[r], fixed: true, spot: spot{p.Node, 0}}
			most = max(most, p.Index)
		}
		for _, a := range assignments {
			if a.Role == r {
				at[a.Index] = placedMember{role: &d.Roles[r], spot: spot{a.Node, 0}}
				most = max(most, a.Index)
			}
		}
		for index := range most + 1 {
			if s, ok := at[index]; ok {
				members = append(members, s)
			}
		}
	}
	return members
}

// parameters: each worker pulls an M/P from each server and pushes as much; each stage passes activations on to the next.
func (w *wire) parameters(d *placement.Demand, members []placedMember) {
	stages := make([][]spot, 10) // 0 are workers
	var servers []spot
	for _, s := range members {
		switch {
		case s.role.CommRole == placement.Server:
			servers = append(servers, s.spot)
		case s.role.CommRole == placement.Worker:
			stages[0] = append(stages[0], s.spot)
		case s.role.CommRole == placement.PipelineWorker && d.Pattern == placement.Pipeline:
			stages[s.role.Stage] = append(stages[s.role.Stage], s.spot)
		case s.role.CommRole == placement.PipelineWorker:
			stages[0] = append(stages[0], s.spot)
		}
	}
	var before []spot
	for _, stage := range stages {
		for _, worker := range stage {
			for _, server := range servers {
				w.send(server, worker, d.ParameterBytes/float64(len(servers)))
				w.send(worker, server, d.ParameterBytes/float64(len(servers)))
			}
			for _, other := range before {
				w.send(other, worker, d.ParameterBytes/float64(len(stage)))
				w.send(worker, other, d.ParameterBytes/float64(len(stage)))
			}
		}
		if len(stage) > 0 {
			before = stage
		}
	}
}

// allReduce along the ring of ranks, each edge both ways half as much, and along those of parallel groups.
func (w *wire) allReduce(d *placement.Demand, members []placedMember) {
	islands := map[placement.NodeID][]placement.Island{}
	var ranks []spot
	for i, s := range members {
		if s.role.CommRole != placement.Worker {
			continue
		}
		gpus := int(w.topology.GPUs(s.role.Request))
		if islands[s.spot.node] == nil {
			islands[s.spot.node] = w.topology.Islands(s.spot.node)
		}
		var picked []int
		if !s.fixed {
			picked = placement.PickIslands(islands[s.spot.node], gpus)
		}
		for g := range max(1, gpus) {
			at := spot{s.spot.node, 0}
			switch {
			case g < len(picked):
				at.island = picked[g]
			case gpus > 0 && islands[s.spot.node] != nil:
				at.island = -1 - i // unknown: no other rank is there
			}
			ranks = append(ranks, at)
		}
	}
	n := len(ranks)
	around := func(ring []spot, bytes float64) {
		for i := range ring {
			next := (i + 1) % len(ring)
			w.send(ring[i], ring[next], bytes)
			w.send(ring[next], ring[i], bytes)
		}
	}
	if h := d.Parallelism; h != (placement.Parallelism{}) {
		// Of data, sharding outside of pipeline, pipeline, sharding inside of it, sep, tensor, expert.
		for axis, weight := range []float64{4, 4, 1, 4, 8, 64, 32} {
			groups := map[[6]int][]spot{}
			for rank, at := range ranks {
				key := [6]int{rank / h.Expert}
				if axis < 6 {
					key = coordinates(rank, h)
					key[axis] = 0
				}
				groups[key] = append(groups[key], at)
			}
			for _, group := range groups {
				around(group, weight/4*d.ParameterBytes/float64(h.Tensor*h.Pipeline))
			}
		}
		return
	}
	around(ranks, float64(n-1)/float64(n)*d.ParameterBytes)
	for lo := 0; d.GroupSize > 1 && lo < n; lo += d.GroupSize {
		around(ranks[lo:min(lo+d.GroupSize, n)], traffic.GroupWeight*float64(n-1)/float64(n)*d.ParameterBytes)
	}
}

// coordinates of a rank as fleet's CommunicateTopology counts them: the last axis runs fastest. EPHybridCommunicateGroup keeps the
// sharding of an expert parallel group inside of pipeline.
func coordinates(rank int, h placement.Parallelism) (at [6]int) {
	inside := h.Sharding
	if h.ShardingFirst {
		inside = h.Expert / h.Tensor
	}
	for axis, degree := range []int{h.Tensor, h.Sep, inside, h.Pipeline, h.Sharding / inside} {
		at[5-axis], rank = rank%degree, rank/degree
	}
	at[0] = rank
	return at
}

func TestCostFlowByFlow(t *testing.T) {
	for seed := range int64(1500) {
		random := rand.New(rand.NewSource(seed))
		topology := instances.Small(random.Intn, instances.Limits{Nodes: 8, Pods: 1}).Topology
		var lines []string
		for _, name := range []string{"ps", "worker", "heter1", "silent", "worker", "heter3"}[:1+random.Intn(6)] {
			at := []string{name + ":"}
			for range random.Intn(5) {
				node := topology.NodeName(placement.NodeID(random.Intn(topology.Nodes())))
				if random.Intn(4) == 0 {
					node += "*"
				}
				at = append(at, node)
			}
			lines = append(lines, strings.Join(at, " "))
		}
		d, assignments := laidOut(t, topology, placement.Pattern(random.Intn(4)), int64(random.Intn(4)), lines...)
		d.ParameterBytes = 6
		d.GroupSize = random.Intn(5)
		if seed%2 == 0 {
			degree := func() int { return 1 + random.Intn(3) }
			d.Parallelism = placement.Parallelism{Pipeline: degree(), Sharding: degree(), Sep: degree(), Tensor: degree(), Expert: degree()}
			if h := &d.Parallelism; seed%4 == 0 {
				experts := degree() // expert parallel groups have so many of tensor
				h.ShardingFirst, h.Sharding, h.Expert = true, h.Sharding*experts, h.Tensor*experts
			}
		}

		w := &wire{topology: topology, sent: map[placement.DomainID]float64{}, islands: map[spot]float64{}}
		switch d.Pattern {
		case placement.Collective:
			w.allReduce(d, placedMembers(d, assignments))
		case placement.ParameterServer, placement.Pipeline:
			w.parameters(d, placedMembers(d, assignments))
			clear(w.islands) // what servers and workers exchange leaves the GPU anyway
		case placement.Single:
		}
		same(t, w, d, assignments, seed)
	}
}

// same reports whether the cost is what was counted. Weights of heter flows are rounded to a thousandth of the largest.
func same(t *testing.T, w *wire, d *placement.Demand, assignments []placement.Assignment, seed int64) {
	t.Helper()
	cost, err := placement.Evaluate(w.topology, d, assignments)
	require.NoError(t, err)
	tiers := w.topology.Tiers()
	bytes, busiest := make([]float64, len(tiers)), make([]float64, len(tiers))
	priced, seconds := 0.0, 0.0
	for domain, sent := range w.sent {
		tier := w.topology.TierOf(domain)
		bytes[tier] += sent
		busiest[tier] = max(busiest[tier], sent)
		seconds = max(seconds, sent/w.topology.Bandwidth(domain))
	}
	for at, sent := range w.islands {
		if w.topology.Islands(at.node) == nil {
			sent = w.sent[placement.DomainID(at.node)] // the node is the island
		}
		bytes[0] += sent
		busiest[0] = max(busiest[0], sent)
	}
	if width := tiers[0].Bandwidth; width > 0 {
		seconds = max(seconds, busiest[0]/width)
	} else {
		seconds = max(seconds, busiest[0])
	}
	rounded := 1e-12
	if d.Pattern == placement.Pipeline {
		rounded = 2e-3
	}
	within := func(want, is float64) { require.InDelta(t, want, is, 1e-9+want*rounded, "seed %d", seed) }
	for i := range tiers {
		within(bytes[i], cost.Tiers[i].Bytes)
		within(busiest[i], cost.Tiers[i].Busiest)
		priced += tiers[i].Weight * bytes[i]
	}
	within(priced, cost.WeightedBytes)
	within(seconds, cost.BusiestSeconds)
}
