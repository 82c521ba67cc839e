// SPDX-License-Identifier: Apache-2.0

package anneal

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

var (
	server = cluster.Amounts{CPU: 2, Memory: 1}
	worker = cluster.Amounts{CPU: 1, Memory: 1, GPU: 1}
)

// tiny is a fleet of 4 racks of 2 nodes in 2 blocks, with 0 to 3 GPUs and 1 to 5 cores free.
func tiny(rng *rand.Rand) cluster.Fleet {
	fleet := cluster.Shape{Nodes: 8, PerRack: 2, RacksPerBlock: 2, Capacity: cluster.Amounts{CPU: 6, Memory: 64, GPU: 3}}.Fleet()
	for i := range fleet {
		fleet[i].Running = []cluster.Amounts{{CPU: 1 + rng.Int64N(5), GPU: rng.Int64N(4)}}
	}
	return fleet
}

// optimum tries all placements: the cost of the cheapest, infinite if there is none.
func optimum(p *problem) float64 {
	least := math.Inf(1)
	s := p.empty()
	var place func(role, node, left int)
	place = func(role, node, left int) {
		switch {
		case left == 0 && role+1 == len(p.total):
			least = min(least, s.cost())
		case left == 0:
			place(role+1, 0, p.total[role+1])
		case node < len(p.free):
			placed := 0
			for ; placed < left && s.fits(role, node); placed++ {
				s.put(role, node, 1)
			}
			for ; placed > 0; placed-- {
				place(role, node+1, left-placed)
				s.put(role, node, -1)
			}
			place(role, node+1, left)
		}
	}
	place(0, 0, p.total[0])
	return least
}

func TestAnnealingFindsTheOptimumOfSmallJobs(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	jobs := []cluster.Job{
		cluster.ServersAndWorkers("ps", 2, 5, server, worker), cluster.ServersAndWorkers("ps", 3, 4, server, worker), cluster.Ring("ring", 6, worker),
		cluster.Ring("ring", 3, cluster.Amounts{CPU: 1, Memory: 1, GPU: 2}),
	}
	compared := 0
	for i := range 40 {
		fleet, job := tiny(rng), &jobs[i%len(jobs)]
		want := optimum(newProblem(fleet, job))
		if math.IsInf(want, 1) {
			continue
		}
		compared++
		found, err := Search(fleet, job, Options{Seed: uint64(i), Starts: 4, Steps: 5000})
		require.NoError(t, err)
		require.InDelta(t, want, found.Cost, 1e-9, "instance %d", i)
		require.Len(t, found.Bound, job.Pods())
	}
	require.Greater(t, compared, 20)
}

// A server and two workers on the first node, a server and a worker on the second, all in one rack:
//
//	X over nodes 2 (3 - (1*2 + 1*1)/2) = 3, over racks 2 (3 - 2*3/2) = 0
func TestCostByHand(t *testing.T) {
	fleet := tiny(rand.New(rand.NewPCG(1, 1)))
	job := cluster.ServersAndWorkers("ps", 2, 3, server, worker)
	s := newProblem(fleet, &job).empty()
	s.put(0, 0, 1)
	s.put(1, 0, 2)
	s.put(0, 1, 1)
	s.put(1, 1, 1)
	require.InDelta(t, 3, s.cost(), 1e-12)
	s.put(1, 1, -1)
	s.put(1, 2, 1) // to another rack: nodes 2 (3 - 2/2) = 4, racks 2 (3 - 4/2) = 2
	require.InDelta(t, 4+4*2, s.cost(), 1e-12)

	ring := cluster.Ring("ring", 2, cluster.Amounts{GPU: 2})
	s = newProblem(fleet, &ring).empty()
	s.put(0, 0, 1)
	require.InDelta(t, 0, s.cost(), 1e-12)
	s.put(0, 4, 1) // two nodes, two racks, two blocks, each carries 2 (4-1)/4
	require.InDelta(t, 2*1.5*(1.25+4+16), s.cost(), 1e-12)
}

// Every undone move leaves what was there, and no move overfills a node or loses a pod.
func TestMovesCanBeUndone(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	fleet := cluster.Shape{Nodes: 8, PerRack: 2, RacksPerBlock: 2, Capacity: cluster.Amounts{CPU: 5, Memory: 64, GPU: 3}}.Fleet()
	job := cluster.ServersAndWorkers("ps", 5, 14, server, worker)
	s, ok := newProblem(fleet, &job).random(rng, 0, len(fleet))
	require.True(t, ok)
	w := &walk{Rand: rng, state: s}
	w.gather()
	done := 0
	for range 5000 {
		before, pods, left := w.energy(1), w.copyOfPods(), append([]cluster.Amounts(nil), w.left...)
		undo := w.move()
		if undo == nil {
			require.InDelta(t, before, w.energy(1), 1e-9)
			require.Equal(t, left, w.left)
			continue
		}
		done++
		for _, free := range w.left {
			require.True(t, free.Holds(cluster.Amounts{}), "%v", free)
		}
		if rng.IntN(2) == 0 {
			undo()
			require.InDelta(t, before, w.energy(1), 1e-9)
			require.Equal(t, pods, w.pods)
			require.Equal(t, left, w.left)
		}
	}
	require.Greater(t, done, 500)
	again := &walk{state: w.state}
	again.gather()
	require.Len(t, again.pods[0], 5)
	require.Len(t, again.pods[1], 14)
}

func TestTheSameSeedFindsTheSame(t *testing.T) {
	fleet := tiny(rand.New(rand.NewPCG(5, 5)))
	job := cluster.Ring("ring", 5, worker)
	one, err := Search(fleet, &job, Options{Seed: 9, Starts: 2, Steps: 300})
	require.NoError(t, err)
	two, err := Search(fleet, &job, Options{Seed: 9, Starts: 2, Steps: 300})
	require.NoError(t, err)
	require.Equal(t, one, two)
}

func TestNoRoomIsSaid(t *testing.T) {
	fleet := tiny(rand.New(rand.NewPCG(5, 5)))
	job := cluster.Ring("ring", 50, worker)
	_, err := Search(fleet, &job, Options{Starts: 1, Steps: 10})
	require.ErrorIs(t, err, ErrNoStart)
	_, err = Rate(fleet, &job)
	require.ErrorIs(t, err, ErrNoStart)
	job = cluster.Ring("ring", 2, worker)
	rate, err := Rate(fleet, &job)
	require.NoError(t, err)
	require.Positive(t, rate)
}
