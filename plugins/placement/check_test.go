// SPDX-License-Identifier: Apache-2.0

package placement_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/legal"
	"github.com/paddle-volcano/paddle-volcano/test/placement/placementtest"
)

// Tiers of clusters with racks and blocks.
const (
	rackTier  = placement.NodeTier + 1
	blockTier = placement.NodeTier + 2
)

// refusable is a demand with something of everything, on two racks and a node that is in none.
func refusable(t testing.TB) (*placement.Topology, *placement.Demand) {
	topology := built(t, placement.TopologySpec{
		Resources: []string{"cpu", "gpu", "npu"}, Accelerators: []string{"npu", "gpu"},
		Tiers: placement.DefaultTiers("rack", "block"),
		Nodes: []placement.NodeSpec{
			{Name: "n3", Domains: []string{"r1", "b1"}, Free: []int64{-5, 1, 3}},
			{Name: "n9", Domains: []string{"", ""}, Free: []int64{1, 2, 0}},
			{Name: "n2", Domains: []string{"r1", "b2"}, Free: []int64{7, 0, 4}},
			{Name: "n1", Domains: []string{"r1", "b1"}, Free: []int64{4, 8, 0}},
		},
	})
	role := func(name string, traffic placement.CommRole) placement.Role {
		return placement.Role{
			Name: name, CommRole: traffic, Stage: 1, Request: []int64{0, 0, 0}, Minimum: 2,
			Pending: []int{1, 4}, Placed: []placement.Placed{{Index: 0, Node: 1}, {Index: 3, Node: 3}},
		}
	}
	return topology, &placement.Demand{
		Pattern: placement.Pipeline, ParameterBytes: 1,
		Roles: []placement.Role{role("ps", placement.Server), role("worker", placement.Worker), role("heter", placement.PipelineWorker)},
	}
}

func TestDemandsThatAreRefused(t *testing.T) {
	type demand = placement.Demand
	for want, spoil := range map[string]func(d *demand){
		"pattern -1 is not known":                                         func(d *demand) { d.Pattern = -1 },
		"pattern 4 is not known":                                          func(d *demand) { d.Pattern = 4 },
		"-1 bytes of parameters":                                          func(d *demand) { d.ParameterBytes = -1 },
		"NaN bytes of parameters":                                         func(d *demand) { d.ParameterBytes = math.NaN() },
		"+Inf bytes of parameters":                                        func(d *demand) { d.ParameterBytes = math.Inf(1) },
		"parallel groups of -1 ranks":                                     func(d *demand) { d.GroupSize = -1 },
		"parallel groups of 65537 ranks":                                  func(d *demand) { d.GroupSize = 1<<16 + 1 },
		"parallelism {Pipeline:0 Sharding:0 Sep:-1 Tensor:0":              func(d *demand) { d.Parallelism.Sep = -1 },
		"Expert:65537 ShardingFirst:false}, want degrees from 0 to 65536": func(d *demand) { d.Parallelism.Expert = 1<<16 + 1 },
		"highest tier -1, want 1 (node) to 3":                             func(d *demand) { d.HighestTier = -1 },
		"highest tier 4, want 1 (node) to 3":                              func(d *demand) { d.HighestTier = 4 },
		"colocation -1 is not known":                                      func(d *demand) { d.Colocation = -1 },
		"colocation 3 is not known":                                       func(d *demand) { d.Colocation = 3 },
		"colocation tier -1, want 1 (node) to 3":                          func(d *demand) { d.ColocationTier = -1 },
		"colocation tier 4":                                               func(d *demand) { d.ColocationTier = 4 },
		`role "ps": 2 amounts, want one for each of`:                      func(d *demand) { d.Roles[0].Request = make([]int64, 2) },
		`role "ps": amount 9223372036854775807 is out`:                    func(d *demand) { d.Roles[0].Request[0] = math.MaxInt64 },
		`role "worker": it requests -1 gpu`:                               func(d *demand) { d.Roles[1].Request[1] = -1 },
		`role "worker": 65538 GPUs for one pod`:                           func(d *demand) { d.Roles[1].Request[1], d.Roles[1].Request[2] = 1<<16, 2 },
		`role "ps": communication role -1 is not known`:                   func(d *demand) { d.Roles[0].CommRole = -1 },
		`role "ps": communication role 4 is not known`:                    func(d *demand) { d.Roles[0].CommRole = 4 },
		`role "heter": stage 0 of pipeline workers, want`:                 func(d *demand) { d.Roles[2].Stage = 0 },
		`role "heter": stage 65 of pipeline workers`:                      func(d *demand) { d.Roles[2].Stage = 65 },
		`role "ps": minimum -1`:                                           func(d *demand) { d.Roles[0].Minimum = -1 },
		`role "ps": its minimum is 5 and it has 4`:                        func(d *demand) { d.Roles[0].Minimum = 5 },
		`role "ps": its eligible nodes are of another`:                    func(d *demand) { d.Roles[0].Eligible = &placement.NodeSet{} },
		`role "ps": 3 penalties, want one for each of`:                    func(d *demand) { d.Roles[0].Penalty = make([]int32, 3) },
		`role "ps": penalty -1 is below 0`:                                func(d *demand) { d.Roles[0].Penalty = []int32{0, 0, 0, -1} },
		`role "ps": pending member -1 is out of order`:                    func(d *demand) { d.Roles[0].Pending[0] = -1 },
		`role "ps": pending member 1 is out of order`:                     func(d *demand) { d.Roles[0].Pending[1] = 1 },
		`role "ps": placed member -1 is out of order`:                     func(d *demand) { d.Roles[0].Placed[0].Index = -1 },
		`role "ps": placed member 0 is out of order`:                      func(d *demand) { d.Roles[0].Placed[1].Index = 0 },
		`role "ps": member 1 is both pending and`:                         func(d *demand) { d.Roles[0].Placed[0].Index = 1 },
		`role "ps": member 4 is both pending and`:                         func(d *demand) { d.Roles[0].Placed[1].Index = 4 },
		`role "ps": member 0 is on node -1, which the`:                    func(d *demand) { d.Roles[0].Placed[0].Node = -1 },
		`role "ps": member 3 is on node 4, which the`:                     func(d *demand) { d.Roles[0].Placed[1].Node = 4 },
		"read the demand: 8193 members are too many":                      func(d *demand) { pending(d, 8193-8) },
		"read the demand: 65537 members are too many to":                  func(d *demand) { d.Pattern = placement.ParameterServer; pending(d, 65537-8) },
	} {
		topology, d := refusable(t)
		spoil(d)
		_, err := placement.Solve(topology, d, placement.Options{})
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "read the demand: ")
		_, err = placement.Evaluate(topology, d, nil)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, legal.Check(topology, d, nil), want)
	}
}

// pending gives the first role so many pending members, none placed.
func pending(d *placement.Demand, members int) {
	d.Roles[0] = placementtest.RoleOf("ps", placement.Server, members, 0, 0)
	d.Roles[0].Request = []int64{0, 0, 0}
}

func TestDemandsAtTheLimits(t *testing.T) {
	topology, d := refusable(t)
	d.ParameterBytes, d.GroupSize = 0, 1<<16
	d.HighestTier, d.ColocationTier, d.Colocation = 3, 3, placement.None
	d.Roles[0].Minimum, d.Roles[2].Stage = 4, 64
	d.Roles[0].Eligible, d.Roles[0].Penalty = placement.NewNodeSet(topology), []int32{0, 0, 0, math.MaxInt32}
	_, err := placement.Evaluate(topology, d, nil)
	require.NoError(t, err)

	d.Roles[2].Stage = 0
	d.Pattern = placement.ParameterServer
	_, err = placement.Evaluate(topology, d, nil)
	require.NoError(t, err, "stages count in Heter only")
}

func built(t testing.TB, spec placement.TopologySpec) *placement.Topology {
	t.Helper()
	topology, err := placement.NewTopology(spec)
	require.NoError(t, err)
	return topology
}
