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
func TestFromPlanner(t *testing.T) {
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
			"2 of 8 workers do not fit: rack r3 has capacity for 6 of the 8 GPUs that the workers need (networkTopology hard, tier 1); it fits without a networkTopology limit",
		}, {
			"the cluster is too small", placement.Demand{Roles: []placement.Role{worker(12, oneGPU...)}}, report.InsufficientResources,
			"2 of 12 workers do not fit: the cluster has capacity for 10 of the 12 GPUs that the workers need; it fits with 10 workers",
		}, {
			"CPUs", placement.Demand{Roles: []placement.Role{worker(3, 12000, gib, 1, 0, 0)}}, report.InsufficientResources,
			"3 of 3 workers do not fit: node n1, which comes closest, has capacity for 8 of the 12 CPUs that one worker needs; it fits with 12 CPUs more in the cluster (on 3 nodes)",
		}, {
			"half a CPU", placement.Demand{HighestTier: placement.NodeTier, Roles: []placement.Role{worker(17, 500, 0, 0, 0, 0)}}, report.TopologyConstraint,
			"1 of 17 workers does not fit: node n1 has capacity for 8 of the 8.5 CPUs that the workers need (networkTopology hard, tier 0); it fits with tier 1",
		}, {
			"half a GiB of memory", placement.Demand{HighestTier: placement.NodeTier, Roles: []placement.Role{worker(1, 8000, 64.5*gib, 1, 0, 0)}}, report.InsufficientResources,
			"1 of 1 worker does not fit: node n1 has capacity for 64 of the 64.5 GiB of memory that the worker needs (networkTopology hard, tier 0); it fits with 512 MiB of memory more in node n1",
		}, {
			"places for pods", placement.Demand{HighestTier: placement.NodeTier, Roles: []placement.Role{worker(11, 100, 0, 1, 0, 0)}}, report.TopologyConstraint,
			"1 of 11 workers does not fit: node n1 has capacity for 10 of the 11 pods that the workers need (networkTopology hard, tier 0); it fits with tier 1",
		}, {
			"disk", placement.Demand{Roles: []placement.Role{worker(1, 100, 0, 1, 0, 101*gib)}}, report.InsufficientResources,
			"1 of 1 worker does not fit: node n1, which comes closest, has capacity for 100 of the 101 GiB of disk that one worker needs; it fits with 1 GiB of disk more in the cluster (on n3)",
		}, {
			"GPUs here, memory there", placement.Demand{Roles: []placement.Role{worker(2, 4000, 8*gib, 1, 3, 0)}}, report.InsufficientResources,
			"1 of 2 workers does not fit: node n4, which comes closest, has capacity for 7.5 of the 8 GiB of memory that one more worker needs; it fits with 1 worker",
		}, {
			"no node is eligible", placement.Demand{Roles: []placement.Role{fussy}}, report.InsufficientResources,
			"2 of 2 workers do not fit: 0 of 4 nodes of the cluster are eligible for a worker",
		}, {
			"running members are apart", placement.Demand{HighestTier: rack, Roles: []placement.Role{apart}}, report.TopologyConstraint,
			"1 of 3 workers does not fit: the running pods are not in one rack (networkTopology hard, tier 1); it fits without a networkTopology limit",
		}, {
			"servers for the workers' nodes",
			placement.Demand{Pattern: placement.ParameterServer, Colocation: placement.Required, Roles: []placement.Role{server(2, 1000, gib, 1, 0, 0), worker(7, oneGPU...)}},
			report.ColocationConstraint,
			"1 of 7 workers does not fit: each worker must have a server in its node (colocation Required); it fits with colocation Preferred",
		}, {
			"it fits by now", placement.Demand{Roles: []placement.Role{worker(2, oneGPU...)}}, report.AssignmentOutdated, "the gang fits now",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, err := placement.Diagnose(topology, &test.demand, placement.Options{})
			require.NoError(t, err)
			v := FromPlanner(e, func(tier int) string { return strconv.Itoa(tier - placement.NodeTier) })
			require.Equal(t, test.text, v.Text())
			require.Equal(t, test.reason, v.Reason)
		})
	}
}

func TestFromPlanner_Data(t *testing.T) {
	topology := roomy(t, "r1/n1 8000 64 2", "r1/n2 500 64 2")
	d := placement.Demand{Pattern: placement.ParameterServer, Roles: []placement.Role{
		crew("server", placement.Server, 1, 250, 512*mib, 1, 0, 0), crew("worker", placement.Worker, 5, 1000, gib, 1, 1, 0),
	}}
	e, err := placement.Diagnose(topology, &d, placement.Options{})
	require.NoError(t, err)
	v := FromPlanner(e, strconv.Itoa)
	require.Equal(t, report.Report{
		Reason: report.InsufficientResources,
		Cause:  "node n2, which comes closest, has capacity for 0.5 of the 1 CPU that one more worker needs",
		Missing: &report.Missing{
			Roles:     []report.Role{{Role: "worker", Minimum: 5, Missing: 3}},
			Resources: []report.Resource{{Name: "cpu", Requested: "1", Available: "500m"}},
		},
		Suggestions: []report.Suggestion{
			{Kind: report.FewerReplicas, Role: "worker", Value: "2", Text: "it fits with 2 workers"},
			{Kind: report.FreeResources, Value: "cluster", Text: "it fits with 1 GPU and 1.5 CPUs more in the cluster (on n1 and n2)"},
		},
	}, v)
}

// What helps first is the reason, with any blocker.
func TestReasonOfDiagnosis(t *testing.T) {
	for _, test := range []struct {
		cause placement.BlockerKind
		fits  placement.Change
		want  report.Reason
	}{
		{placement.Insufficient, "", report.InsufficientResources},
		{placement.Insufficient, placement.FewerMembers, report.InsufficientResources},
		{placement.Insufficient, placement.MoreCapacity, report.InsufficientResources},
		{placement.Insufficient, placement.HigherTier, report.TopologyConstraint},
		{placement.NoNode, placement.BothLimits, report.TopologyConstraint},
		{placement.NoNode, placement.PreferColocation, report.ColocationConstraint},
		{placement.NoServerNearby, placement.FewerMembers, report.ColocationConstraint},
		{placement.NotEligible, placement.FewerMembers, report.InsufficientResources},
		{placement.NotEligible, placement.HigherTier, report.TopologyConstraint},
		{placement.RunningApart, "", report.TopologyConstraint},
		{placement.NotFound, placement.FewerMembers, report.AssignmentNotFound},
	} {
		e := &placement.Diagnosis{Blocker: placement.Blocker{Kind: test.cause}}
		if test.fits != "" {
			e.Suggestions = []placement.Suggestion{{Change: test.fits}, {Change: placement.PreferColocation}}
		}
		require.Equal(t, test.want, reasonOf(e), "%s, fits with %s", test.cause, test.fits)
	}
	require.Equal(t, report.AssignmentOutdated, reasonOf(&placement.Diagnosis{Plan: &placement.Plan{}}))
}
