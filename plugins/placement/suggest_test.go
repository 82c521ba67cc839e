// SPDX-License-Identifier: Apache-2.0

package placement_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/placementtest"
)

// fitsWith returns what the relaxations of an explanation say, each of which must hold.
func suggestionTexts(t *testing.T, topology *placement.Topology, d *placement.Demand) (texts []string) {
	t.Helper()
	e, err := placement.Diagnose(topology, d, placement.Options{})
	require.NoError(t, err)
	require.Nil(t, e.Plan)
	for i := range e.Suggestions {
		r := &e.Suggestions[i]
		_, err := r.Try(topology, d, placement.Options{})
		require.NoError(t, err)
	}
	for i := range e.Suggestions {
		texts = append(texts, textOf(topology, e, &e.Suggestions[i]))
	}
	return texts
}

// textOf returns a suggestion as a text.
func textOf(topology *placement.Topology, e *placement.Diagnosis, s *placement.Suggestion) string {
	tier := "no limit"
	if s.HighestTier > 0 {
		tier = "tier " + topology.TierName(s.HighestTier)
	}
	switch s.Change {
	case placement.HigherTier:
		return "with " + tier
	case placement.PreferColocation:
		return "with colocation Preferred"
	case placement.BothLimits:
		return "with " + tier + " and colocation Preferred"
	case placement.FewerMembers:
		return fmt.Sprintf("with %d %s", s.Minimum, e.Roles[s.Role].Name)
	}
	var nodes []string
	for _, more := range s.Increases {
		nodes = append(nodes, fmt.Sprint(more.Name, more.Amounts))
	}
	return "with more on " + strings.Join(nodes, " and ")
}

func TestSuggestions(t *testing.T) {
	//	cluster
	//	├── b1
	//	│   ├── r1: n1 (16 cpu, 2 GPUs)  n2 (16, 2)
	//	│   └── r2: n3 (16, 3)           n4 (16, 3)
	//	└── b2
	//	    └── r3: n5 (16, 1)           n6 (2, 4)
	crowded := crowdedCluster(t)
	servers := func(n int, cpu int64) placement.Role { return placementtest.RoleOf("ps", placement.Server, n, cpu, 0) }
	ps, ring := placement.ParameterServer, placement.Collective
	for _, c := range []struct {
		name   string
		demand placement.Demand
		want   []string
	}{
		{"a rack for 8: r2 lacks 2 GPUs, r1 4", placement.Demand{HighestTier: rackTier, Roles: []placement.Role{workersOf(8, 1, 1)}},
			[]string{"with tier block", "with 6 worker", "with more on n3[0 1] and n4[0 1]"}},
		{"a node for 8: not the rack, but the block does", placement.Demand{HighestTier: placement.NodeTier, Roles: []placement.Role{workersOf(8, 0, 1)}},
			[]string{"with tier block", "with 4 worker", "with more on n6[0 4]"}},
		{"running members keep the gang in r1", placement.Demand{HighestTier: rackTier, Roles: []placement.Role{placementtest.Running(t, crowded, workersOf(8, 1, 1), "n1", "n2")}},
			[]string{"with tier block", "with 6 worker", "with more on n1[0 1] and n2[0 1]"}},
		// n6 has GPUs for one, and no cpu.
		{"GPUs for whole pods", placement.Demand{Pattern: ring, Roles: []placement.Role{workersOf(4, 2, 3)}},
			[]string{"with 3 worker", "with more on n1[0 1]"}},
		// 13 pods of one GPU and one cpu have capacity: two on n6, for want of cpu. 12 of them make whole groups of 4.
		{"whole parallel groups", placement.Demand{Pattern: ring, GroupSize: 4, Roles: []placement.Role{workersOf(16, 1, 1)}},
			[]string{"with 12 worker", "with more on n3[0 1] and n6[2 0]"}},
		{"GPUs count before cpu: n6 lacks 1 and 8, n3 lacks 2", placement.Demand{Roles: []placement.Role{workersOf(1, 10, 5)}},
			[]string{"with more on n6[8 1]"}},
		{"workers, which have GPUs, come first", placement.Demand{Pattern: ps, Roles: []placement.Role{servers(6, 15), workersOf(4, 2, 1)}},
			[]string{"with 4 ps", "with more on n1[3 0] and n2[3 0] and n6[13 0]"}},
		// Two servers on each node of r2 leave 2 cpu for one worker.
		{"fewer workers before fewer servers", placement.Demand{Pattern: ps, HighestTier: rackTier, Roles: []placement.Role{servers(4, 7), workersOf(5, 2, 1)}},
			[]string{"with tier block", "with 2 worker", "with more on n3[4 0] and n4[2 0]"}},
		{"no role alone is what is too many", placement.Demand{Pattern: ps, HighestTier: placement.NodeTier, Roles: []placement.Role{servers(2, 14), workersOf(20, 1, 1)}},
			[]string{"with more on n3[32 17]"}},
		{"no role loses its last member", placement.Demand{Pattern: ps, HighestTier: placement.NodeTier, Roles: []placement.Role{servers(2, 16), workersOf(2, 1, 1)}},
			[]string{"with tier block", "with more on n1[18 0]"}},
		{"colocation", placement.Demand{Pattern: ps, Colocation: placement.Required, Roles: []placement.Role{servers(2, 4), workersOf(7, 1, 1)}},
			[]string{"with colocation Preferred", "with 6 worker"}},
		// One rack has no capacity for 7 workers, and no node has capacity for 4.
		{"both limits", placement.Demand{Pattern: ps, HighestTier: rackTier, Colocation: placement.Required, Roles: []placement.Role{servers(1, 4), workersOf(7, 1, 1)}},
			[]string{"with tier block and colocation Preferred", "with 3 worker"}},
		{"colocation in a rack", placement.Demand{Pattern: ps, Colocation: placement.Required, ColocationTier: rackTier, Roles: []placement.Role{servers(1, 4), workersOf(7, 1, 1)}},
			[]string{"with colocation Preferred", "with 6 worker"}},
		{"running members are apart", placement.Demand{HighestTier: rackTier, Roles: []placement.Role{placementtest.Running(t, crowded, workersOf(3, 1, 1), "n1", "n3")}},
			[]string{"with tier block", "with 2 worker"}},
		{"nothing helps", placement.Demand{Roles: []placement.Role{only(t, crowded, workersOf(1, 1, 1))}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, suggestionTexts(t, crowded, &c.demand))
		})
	}
}

func TestSuggestionsForANodeWithIslands(t *testing.T) {
	// Of n1's 8 GPUs, 2 of one island and 3 of the other are free; n2 has one island.
	topology, err := placement.NewTopology(placement.TopologySpec{
		Resources: []string{"gpu"}, Accelerators: []string{"gpu"}, Tiers: placement.DefaultTiers(),
		Nodes: []placement.NodeSpec{
			{Name: "n1", Free: []int64{5}, Islands: []placement.Island{{Size: 4, Free: 2}, {Size: 4, Free: 3}}},
			{Name: "n2", Free: []int64{-3}},
		},
	})
	require.NoError(t, err)
	for gpus, want := range map[int64][]placement.NodeIncrease{
		7: {{Node: 0, Name: "n1", Amounts: []int64{2}}},
		// More than the node has: the last island grows for the trial.
		9: {{Node: 0, Name: "n1", Amounts: []int64{4}}},
	} {
		d := &placement.Demand{Pattern: placement.Collective, Roles: []placement.Role{{
			Name: "worker", CommRole: placement.Worker, Request: []int64{gpus}, Pending: []int{0}, Minimum: 1,
		}}}
		e, err := placement.Diagnose(topology, d, placement.Options{})
		require.NoError(t, err)
		require.Len(t, e.Suggestions, 1)
		require.Equal(t, want, e.Suggestions[0].Increases)
		require.Equal(t, placement.MoreCapacity, e.Suggestions[0].Change)
		require.Equal(t, []placement.Island{{Size: 4, Free: 2}, {Size: 4, Free: 3}}, topology.Islands(0))
		require.Equal(t, []int64{2 + 3}, topology.Free(0))
	}
	// What is below 0 counts as 0.
	d := &placement.Demand{Roles: []placement.Role{gangOf("worker", 2, 5)}}
	e, err := placement.Diagnose(topology, d, placement.Options{})
	require.NoError(t, err)
	require.Equal(t, []placement.NodeIncrease{{Node: 0, Name: "n1", Amounts: []int64{5}}}, e.Suggestions[len(e.Suggestions)-1].Increases)
	require.Equal(t, []int64{-3}, topology.Free(1))
}

// gangOf members that each need so much of the only resource.
func gangOf(name string, members int, amount int64) placement.Role {
	role := placement.Role{Name: name, Request: []int64{amount}, Minimum: members}
	for i := range members {
		role.Pending = append(role.Pending, i)
	}
	return role
}

func TestSuggestionsInsideOpenChanges(t *testing.T) {
	topology := crowdedCluster(t)
	d := &placement.Demand{HighestTier: rackTier, Roles: []placement.Role{workersOf(8, 1, 1)}}
	mark := topology.Begin()
	node, _ := topology.Node("n3")
	_, err := topology.Take(node, []int64{1, 1})
	require.NoError(t, err)
	e, err := placement.Diagnose(topology, d, placement.Options{})
	require.NoError(t, err)
	require.Equal(t, 3, e.Roles[0].Missing)
	require.Equal(t, int64(5), e.Blocker.Free)
	require.Equal(t, []int64{15, 2}, topology.Free(placement.DomainID(node)))
	topology.Rollback(mark)
	require.Equal(t, []int64{16, 3}, topology.Free(placement.DomainID(node)))
}
