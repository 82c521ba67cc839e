// SPDX-License-Identifier: Apache-2.0

package bruteforce_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/bruteforce"
	"github.com/paddle-volcano/paddle-volcano/test/placement/instances"
)

// node with cpus and GPUs in a rack.
type node struct {
	rack      string
	cpu, gpu  int64
	islands   []placement.Island
	bandwidth float64
}

// tree of nodes n0, n1, ... in racks; tiers island, node and rack at prices 0.25, 1 and 4.
func tree(t *testing.T, nodes ...node) *placement.Topology {
	t.Helper()
	spec := placement.TopologySpec{Resources: instances.Resources(), Accelerators: []string{"nvidia.com/gpu"}, Tiers: placement.DefaultTiers("rack")}
	for i, n := range nodes {
		name := string(rune('0' + i))
		spec.Nodes = append(spec.Nodes, placement.NodeSpec{Name: "n" + name, Domains: []string{n.rack}, Free: []int64{n.cpu, 0, n.gpu}, Islands: n.islands})
		if n.bandwidth > 0 {
			spec.Uplinks = append(spec.Uplinks, placement.Uplink{Tier: placement.NodeTier, Path: n.rack + "/n" + name, Bandwidth: n.bandwidth})
		}
	}
	topology, err := placement.NewTopology(spec)
	require.NoError(t, err)
	return topology
}

func ps(servers, workers int) *placement.Demand {
	d := instances.Servers(servers, workers, []int64{1, 0, 0}, []int64{1, 0, 0})
	d.ParameterBytes = 0 // costs in sizes of the model
	return d
}

func ring(pods int, gpus int64) *placement.Demand {
	d := instances.Ring(pods, []int64{0, 0, gpus})
	d.ParameterBytes = 0
	return d
}

func TestBestByHand(t *testing.T) {
	cases := []struct {
		name     string
		topology *placement.Topology
		demand   *placement.Demand
		busiest  bool
		feasible bool
		whole    bool
		cost     bruteforce.Cost
	}{{
		// One member must go to n1. A server there talks to 2 workers, M/2 each way: both nodes carry M. X = 2M at price 1.
		//
		//	rack a:  n0 [s w w .]  cpu 3    n1 [s]  cpu 1
		name: "servers and workers on two nodes", topology: tree(t, node{rack: "a", cpu: 3}, node{rack: "a", cpu: 1}), demand: ps(2, 2),
		feasible: true, whole: true, cost: bruteforce.Cost{Priced: 2, Busiest: 1},
	}, {
		//	rack a:  n0 [s s w w]  cpu 4    n1 []  cpu 9
		name: "all on one node cost nothing", topology: tree(t, node{rack: "a", cpu: 4}, node{rack: "a", cpu: 9}), demand: ps(2, 2),
		feasible: true, whole: true,
	}, {
		//	rack a:  n0 cpu 2      rack b:  n1 cpu 1
		name: "no room", topology: tree(t, node{rack: "a", cpu: 2}, node{rack: "b", cpu: 1}), demand: ps(2, 2),
	}, {
		// 3 edges of 2 * 3/4 M in a ring of 4, but 2 of them stay on a node: each node has 1 run, T = 1.5 M, X = 3 M, and as
		// much between islands, as each node is one: 3 * 1 + 3 * 0.25.
		//
		//	rack a:  n0 [0 1]  gpu 2    n1 [2 3]  gpu 2      rack b:  n2 gpu 3
		name: "a ring on two nodes of a rack", topology: tree(t, node{rack: "a", gpu: 2}, node{rack: "a", gpu: 2}, node{rack: "b", gpu: 3}), demand: ring(4, 1),
		feasible: true, whole: true, cost: bruteforce.Cost{Priced: 3.75, Busiest: 1.5},
	}, {
		// n1 carries 1.5 M over a link half as wide: 3 seconds; n2's way costs more bytes and is quicker.
		//
		//	rack a:  n0 [0 1 2]  gpu 3    n1 gpu 1, narrow      rack b:  n2 [3]  gpu 1
		name: "busiest first", topology: tree(t, node{rack: "a", gpu: 3}, node{rack: "a", gpu: 1, bandwidth: 0.5}, node{rack: "b", gpu: 1}), demand: ring(4, 1), busiest: true,
		feasible: true, whole: true, cost: bruteforce.Cost{Priced: 3.75 + 4*3, Busiest: 1.5},
	}, {
		// Rank 1 runs on n1. The ring is 0 1 2, so n0 holds ranks 2 and 0 in one run: T = 2 * 2/3 M twice.
		//
		//	rack a:  n0 [0 2]  gpu 2    n1 [1 runs]  gpu 0
		name: "a placed rank", topology: tree(t, node{rack: "a", gpu: 2}, node{rack: "a"}),
		demand:   placed(ring(3, 1), 1, 1),
		feasible: true, whole: true, cost: bruteforce.Cost{Priced: 1.25 * 8 / 3, Busiest: 4. / 3},
	}, {
		// 2 GPUs of one pod are in two islands: 2 edges between them of M/2 * 2 each way: 2 ends of M/2 in each island; 2 M in
		// all at price 0.25.
		//
		//	rack a:  n0 gpu 1+1
		name: "a pod over two islands", topology: tree(t, node{rack: "a", gpu: 2, islands: []placement.Island{{Size: 1, Free: 1}, {Size: 1, Free: 1}}}), demand: ring(1, 2),
		feasible: true, whole: true, cost: bruteforce.Cost{Priced: 0.5, Busiest: 1},
	}, {
		//	rack a:  n0 gpu 2    n1 gpu 2
		name: "all in one node, says the job", topology: tree(t, node{rack: "a", gpu: 2}, node{rack: "a", gpu: 2}), demand: within(ring(4, 1), placement.NodeTier),
	}, {
		// Both servers are needed, one per node, for workers to be on both.
		//
		//	rack a:  n0 [s w w]  cpu 3    n1 [s w]  cpu 2      X = 2 (3 - (1*2 + 1*1) / 2) = 3
		name: "workers only where servers are", topology: tree(t, node{rack: "a", cpu: 3}, node{rack: "a", cpu: 2}), demand: colocated(ps(2, 3)),
		feasible: true, whole: true, cost: bruteforce.Cost{Priced: 3, Busiest: 1.5},
	}, {
		//	rack a:  n0 cpu 2    n1 cpu 1    n2 cpu 1
		name: "workers without a server", topology: tree(t, node{rack: "a", cpu: 2}, node{rack: "a", cpu: 1}, node{rack: "a", cpu: 1}), demand: colocated(ps(1, 3)),
	}, {
		//	rack a:  n0 cpu 2    n1 cpu 1
		name: "the minimum fits", topology: tree(t, node{rack: "a", cpu: 2}, node{rack: "a", cpu: 1}), demand: atLeast(ps(1, 3), 2),
		feasible: true,
	}}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			in := &instances.Instance{Topology: c.topology, Demand: c.demand}
			if c.busiest {
				in.Options.Objective = placement.BusiestFirst
			}
			r := bruteforce.Best(in, 1e6)
			require.True(t, r.Complete)
			require.Equal(t, c.feasible, r.Feasible)
			require.Equal(t, c.whole, r.Whole)
			require.InDelta(t, c.cost.Priced, r.Cost.Priced, 1e-9)
			require.InDelta(t, c.cost.Busiest, r.Cost.Busiest, 1e-9)
		})
	}
}

func TestBestGivesUp(t *testing.T) {
	r := bruteforce.Best(&instances.Instance{Topology: tree(t, node{rack: "a", cpu: 3}, node{rack: "a", cpu: 1}), Demand: ps(2, 2)}, 2)
	require.False(t, r.Complete)
}

func placed(d *placement.Demand, index int, on placement.NodeID) *placement.Demand {
	role := &d.Roles[0]
	role.Pending = append(role.Pending[:index:index], role.Pending[index+1:]...)
	role.Placed = []placement.Placed{{Index: index, Node: on}}
	return d
}

func within(d *placement.Demand, tier int) *placement.Demand {
	d.HighestTier = tier
	return d
}

func colocated(d *placement.Demand) *placement.Demand {
	d.Colocation = placement.Required
	return d
}

func atLeast(d *placement.Demand, workers int) *placement.Demand {
	d.Roles[1].Minimum = workers
	return d
}
