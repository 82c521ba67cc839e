// SPDX-License-Identifier: Apache-2.0

package diagnose

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

const (
	mib = 1 << 20
	gib = 1 << 30
)

var topologyColumns = []string{"cpu", "memory", "pods", "nvidia.com/gpu", "ephemeral-storage"}

// roomy builds a topology of lines like "r1/n1 8000 64 4": a rack, a node, thousandths of CPUs, GiB of memory and GPUs that
// are free; each node takes 10 pods and has 100 GiB of disk.
func roomy(t *testing.T, nodes ...string) *placement.Topology {
	t.Helper()
	spec := placement.TopologySpec{Resources: topologyColumns, Accelerators: topologyColumns[3:4], Tiers: placement.DefaultTiers("rack")}
	for _, line := range nodes {
		var path string
		free := []int64{0, 0, 10, 0, 100 * gib}
		_, err := fmt.Sscan(line, &path, &free[0], &free[1], &free[3])
		require.NoError(t, err, line)
		free[1] *= gib
		rack, name, _ := strings.Cut(path, "/")
		spec.Nodes = append(spec.Nodes, placement.NodeSpec{Name: name, Domains: []string{rack}, Free: free})
	}
	topology, err := placement.NewTopology(spec)
	require.NoError(t, err)
	return topology
}

// crew returns a role of so many pending pods, all of which are needed.
func crew(name string, traffic placement.CommRole, n int, request ...int64) placement.Role {
	role := placement.Role{Name: name, CommRole: traffic, Request: request, Minimum: n}
	for i := range n {
		role.Pending = append(role.Pending, i)
	}
	return role
}

// Free CPUs, GiB and GPUs:
//
//	cluster
//	├── r1: n1 (8 CPUs, 64 GiB, 2 GPUs)   n2 (8, 64, 2)
//	└── r3: n3 (8, 64, 3)                 n4 (8, 7.5 GiB, 3)
func TestFromExplanation(t *testing.T) {
	topology := roomy(t, "r1/n1 8000 64 2", "r1/n2 8000 64 2", "r3/n3 8000 64 3", "r3/n4 8000 0 3")
	n4, _ := topology.Node("n4")
	require.NoError(t, topology.SetFree(n4, []int64{8000, 7.5 * gib, 10, 3, 100 * gib}, nil))
	const rack = placement.NodeTier + 1
	worker := func(n int, request ...int64) placement.Role { return crew("worker", placement.Worker, n, request...) }
	server := func(n int, request ...int64) placement.Role { return crew("server", placement.Server, n, request...) }
	oneGPU := []int64{1000, gib, 1, 1, 0}
	apart := worker(3, oneGPU...)
	apart.Pending = apart.Pending[2:]
	apart.Placed = []placement.Placed{{Index: 0, Node: 0}, {Index: 1, Node: n4}}
	fussy := worker(2, oneGPU...)
	fussy.Eligible = placement.NewNodeSet(topology)

	for _, test := range []struct {
		name   string
		demand placement.Demand
		reason report.Reason
		text   string
	}{
		{
			"the most free rack has too few GPUs", placement.Demand{HighestTier: rack, Roles: []placement.Role{worker(8, oneGPU...)}}, report.TopologyConstraint,
			"2 of 8 workers have no room: rack r3 has 6 GPUs free, 8 needed in one rack (networkTopology hard, tier 1); fits without a networkTopology limit",
		}, {
			"the cluster is too small", placement.Demand{Roles: []placement.Role{worker(12, oneGPU...)}}, report.InsufficientResources,
			"2 of 12 workers have no room: the cluster has 10 GPUs free, 12 needed; fits with 10 workers",
		}, {
			"CPUs", placement.Demand{Roles: []placement.Role{worker(3, 12000, gib, 1, 0, 0)}}, report.InsufficientResources,
			"3 of 3 workers have no room: the cluster has 32 CPUs free, 36 needed, and no node has the 12 CPUs that one worker needs (the most is 8); fits with 12 more CPUs in the cluster (on 3 nodes)",
		}, {
			"half a CPU", placement.Demand{HighestTier: placement.NodeTier, Roles: []placement.Role{worker(17, 500, 0, 0, 0, 0)}}, report.TopologyConstraint,
			"1 of 17 workers has no room: node n1 has 8 CPUs free, 8.5 needed in one node (networkTopology hard, tier 0); fits with tier 1",
		}, {
			"half a GiB of memory", placement.Demand{HighestTier: placement.NodeTier, Roles: []placement.Role{worker(1, 8000, 64.5*gib, 1, 0, 0)}}, report.InsufficientResources,
			"1 of 1 worker has no room: node n1 has 64 GiB of memory free, 64.5 needed in one node (networkTopology hard, tier 0); fits with 0.5 more GiB of memory in node n1",
		}, {
			"places for pods", placement.Demand{HighestTier: placement.NodeTier, Roles: []placement.Role{worker(11, 100, 0, 1, 0, 0)}}, report.TopologyConstraint,
			"1 of 11 workers has no room: node n1 has 10 pods free, 11 needed in one node (networkTopology hard, tier 0); fits with tier 1",
		}, {
			"disk", placement.Demand{Roles: []placement.Role{worker(1, 100, 0, 1, 0, 101*gib)}}, report.InsufficientResources,
			"1 of 1 worker has no room: the cluster has 400 GiB of disk free, but no node has the 101 that one worker needs (the most is 100); fits with 1 more GiB of disk in the cluster (on n3)",
		}, {
			"GPUs here, memory there", placement.Demand{Roles: []placement.Role{worker(2, 4000, 8*gib, 1, 3, 0)}}, report.InsufficientResources,
			"1 of 2 workers has no room: the cluster has 1 node with 3 GPUs left, but none with 8 GiB of memory too; fits with 1 worker",
		}, {
			"no node is eligible", placement.Demand{Roles: []placement.Role{fussy}}, report.InsufficientResources,
			"2 of 2 workers have no room: none of the 4 nodes of the cluster is eligible for a worker; no single change was found with which it fits",
		}, {
			"running members are apart", placement.Demand{HighestTier: rack, Roles: []placement.Role{apart}}, report.TopologyConstraint,
			"running members are in 2 racks, and all must be in one rack (networkTopology hard, tier 1); fits without a networkTopology limit",
		}, {
			"servers for the workers' nodes",
			placement.Demand{Pattern: placement.ParameterServer, Colocation: placement.Required, Roles: []placement.Role{server(2, 1000, gib, 1, 0, 0), worker(7, oneGPU...)}},
			report.ColocationConstraint,
			"each worker must have a server in its node (colocation Required): the best 2 nodes for servers have room for 6 of 7 workers; fits with colocation Preferred",
		}, {
			"it fits by now", placement.Demand{Roles: []placement.Role{worker(2, oneGPU...)}}, report.AssignmentOutdated, "it fits",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, err := placement.Diagnose(topology, &test.demand, placement.Options{})
			require.NoError(t, err)
			v := FromExplanation(e, func(tier int) string { return strconv.Itoa(tier - placement.NodeTier) })
			require.Equal(t, test.text, v.Summary)
			require.Equal(t, test.reason, v.Reason)
		})
	}
}

func TestFromExplanation_Data(t *testing.T) {
	topology := roomy(t, "r1/n1 8000 64 2", "r1/n2 500 64 2")
	d := placement.Demand{Pattern: placement.ParameterServer, Roles: []placement.Role{
		crew("server", placement.Server, 1, 250, 512*mib, 1, 0, 0), crew("worker", placement.Worker, 5, 1000, gib, 1, 1, 0),
	}}
	e, err := placement.Diagnose(topology, &d, placement.Options{})
	require.NoError(t, err)
	v := FromExplanation(e, nil)
	require.Equal(t, "3 of 5 workers have no room: the cluster has 4 GPUs free, 5 needed, and no node with 1 GPU left has 1 CPU too; fits with 2 workers", v.Summary)
	require.Equal(t, report.Report{
		Reason: report.InsufficientResources, Summary: v.Summary,
		Message: "3 of 5 workers have no room: the cluster has 4 GPUs free, 5 needed, and no node with 1 GPU left has 1 CPU too",
		Missing: &report.Missing{
			Roles: []report.Role{{Role: "worker", Minimum: 5, Missing: 3}},
			Resources: []report.Resource{
				{Name: "nvidia.com/gpu", Requested: "5", Available: "4"},
			},
		},
		Suggestions: []report.Suggestion{
			{Kind: report.FewerReplicas, Role: "worker", Value: "2", Text: "it fits with 2 workers"},
			{Kind: report.FreeResources, Value: "cluster", Text: "it fits with 1.5 more CPUs and 1 more GPU in the cluster (on n1 and n2)"},
		},
		Capacity: []report.Capacity{
			{Tier: "node", Domains: []report.Domain{
				{Name: "r1/n1", Roles: []report.Fits{{Role: "server", Fits: 1, Needed: 1}, {Role: "worker", Fits: 2, Needed: 5}}},
				{Name: "r1/n2", Roles: []report.Fits{{Role: "server", Fits: 1, Needed: 1}, {Role: "worker", Fits: 0, Needed: 5}}},
			}},
			{Tier: "rack", Domains: []report.Domain{{Name: "r1", Roles: []report.Fits{{Role: "server", Fits: 1, Needed: 1}, {Role: "worker", Fits: 2, Needed: 5}}}}},
			{Tier: "cluster", Domains: []report.Domain{{Name: "cluster", Roles: []report.Fits{{Role: "server", Fits: 1, Needed: 1}, {Role: "worker", Fits: 2, Needed: 5}}}}},
		},
	}, v)
}

// A text that is too long is cut off.
func TestFromExplanation_LongNames(t *testing.T) {
	for length := range 40 {
		name := strings.Repeat("n", 190+length)
		topology := roomy(t, "r1/"+name+" 8000 64 2")
		d := placement.Demand{HighestTier: placement.NodeTier, Roles: []placement.Role{crew("worker", placement.Worker, 9, 1000, gib, 1, 0, 0)}}
		e, err := placement.Diagnose(topology, &d, placement.Options{})
		require.NoError(t, err)
		v := FromExplanation(e, nil)
		require.Contains(t, v.Summary, "1 of 9 workers has no room: node "+name[:180])
	}
}

// What helps first is the reason, whatever is in the way.
func TestReasonOfExplanation(t *testing.T) {
	for _, test := range []struct {
		cause placement.BlockerKind
		fits  placement.Change
		want  report.Reason
	}{
		{placement.Insufficient, "", report.InsufficientResources},
		{placement.Insufficient, placement.FewerMembers, report.InsufficientResources},
		{placement.Insufficient, placement.MoreCapacity, report.InsufficientResources},
		{placement.Insufficient, placement.HigherTier, report.TopologyConstraint},
		{placement.Fragmented, placement.BothLimits, report.TopologyConstraint},
		{placement.NoSingleNode, placement.PreferColocation, report.ColocationConstraint},
		{placement.NoServerNearby, placement.FewerMembers, report.ColocationConstraint},
		{placement.NotEligible, placement.FewerMembers, report.InsufficientResources},
		{placement.NotEligible, placement.HigherTier, report.TopologyConstraint},
		{placement.RunningApart, "", report.TopologyConstraint},
		{placement.NotFound, placement.FewerMembers, report.AssignmentNotFound},
	} {
		e := &placement.Diagnosis{Tiers: []placement.TierCapacity{{Best: []placement.DomainCapacity{{Blockers: []placement.Blocker{{Kind: test.cause}}}}}}}
		if test.fits != "" {
			e.Suggestions = []placement.Suggestion{{Change: test.fits}, {Change: placement.PreferColocation}}
		}
		require.Equal(t, test.want, reasonOf(e), "%s, fits with %s", test.cause, test.fits)
	}
	require.Equal(t, report.AssignmentOutdated, reasonOf(&placement.Diagnosis{Plan: &placement.Plan{}}))
}
