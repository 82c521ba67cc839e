// SPDX-License-Identifier: Apache-2.0

package lingjun_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/legal"
	"github.com/paddle-volcano/paddle-volcano/test/placement/lingjun"
)

// collective of pods with 8 GPUs each that train a model of 7 billion parameters, 2 bytes each.
func collective(pods int) *placement.Demand {
	role := placement.Role{
		Name: "worker", CommRole: placement.Worker, Minimum: pods,
		Request: []int64{96_000, 512 << 30, 1, lingjun.GPUs},
	}
	for index := range pods {
		role.Pending = append(role.Pending, index)
	}
	return &placement.Demand{Pattern: placement.Collective, ParameterBytes: 14e9, Roles: []placement.Role{role}}
}

func TestSpec(t *testing.T) {
	topology, err := placement.NewTopology(lingjun.Spec())
	require.NoError(t, err)
	var domains []int
	for tier := placement.NodeTier; tier <= len(topology.Tiers()); tier++ {
		lo, hi := topology.Domains(tier)
		domains = append(domains, int(hi-lo))
	}
	require.Equal(t, []int{847, 119, 3, 1, 1}, domains, "hosts, racks, blocks, cores, the root")
	require.EqualValues(t, 847*8, topology.FreeGPUs(topology.Root()))
	node, ok := topology.Node("h0000")
	require.True(t, ok)
	require.Equal(t, "G6/P10/S14", topology.DomainName(topology.Ancestor(node, placement.NodeTier+1)))
}

// On the empty cluster, 32 hosts with 8 GPUs each need 4 racks, as none has more than 8 hosts, and they are there in one
// block. One run of ranks leaves each of these racks and hosts, and an edge of the ring carries 2 x 255/256 x 14 GB.
func TestPlanOf256GPUs(t *testing.T) {
	topology, err := placement.NewTopology(lingjun.Spec())
	require.NoError(t, err)
	demand := collective(32)
	plan, err := placement.Solve(topology, demand, placement.Options{})
	require.NoError(t, err)
	require.NoError(t, legal.Check(topology, demand, plan.Assignments))

	require.Empty(t, plan.Left)
	tiers := plan.Cost.Tiers
	edge := 2 * 255.0 / 256 * 14e9
	require.InEpsilon(t, 32*edge, tiers[placement.NodeTier].Bytes, 1e-9)
	require.InEpsilon(t, 4*edge, tiers[placement.NodeTier+1].Bytes, 1e-9)
	require.Zero(t, tiers[placement.NodeTier+2].Bytes)
}

// Half of all hosts run single pods of other jobs, so that the 32 hosts that are left must be looked for.
func TestPlanOf256GPUsBetweenOtherJobs(t *testing.T) {
	topology, err := placement.NewTopology(lingjun.Spec())
	require.NoError(t, err)
	for node := range topology.Nodes() {
		// A fixed pattern without a meaning: 1 to 8 GPUs on hosts 1, 2, 4, 5, 7, ... of the tree.
		if node%3 != 0 {
			_, err := topology.Take(placement.NodeID(node), []int64{1000, 1 << 30, 1, int64(1 + node*node%8)})
			require.NoError(t, err)
		}
	}
	demand := collective(32)
	plan, err := placement.Solve(topology, demand, placement.Options{})
	require.NoError(t, err)
	require.NoError(t, legal.Check(topology, demand, plan.Assignments))
	require.Len(t, plan.Assignments, 32)
	// One block has enough capacity, in no fewer racks than its emptiest ones.
	fewest := topology.Nodes()
	for block, end := topology.Domains(placement.NodeTier + 2); block < end; block++ {
		var free []int
		for rack, hi := topology.Children(block); rack < hi; rack++ {
			hosts := 0
			for node, last := topology.NodesOf(rack); node < last; node++ {
				if node%3 == 0 {
					hosts++
				}
			}
			free = append(free, hosts)
		}
		slices.Sort(free)
		hosts, racks := 0, 0
		for hosts < 32 && racks < len(free) {
			racks++
			hosts += free[len(free)-racks]
		}
		if hosts >= 32 {
			fewest = min(fewest, racks)
		}
	}
	edge := 2 * 255.0 / 256 * 14e9
	require.InEpsilon(t, float64(fewest)*edge, plan.Cost.Tiers[placement.NodeTier+1].Bytes, 1e-9)
	require.Zero(t, plan.Cost.Tiers[placement.NodeTier+2].Bytes)
}
