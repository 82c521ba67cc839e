// SPDX-License-Identifier: Apache-2.0

package feasibility

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// Only what is certain of all pods of a role is a proof.
func TestRole_Possible(t *testing.T) {
	topology := topologyOf(t, 3)
	permitted := setOf(topology, 0, 1)
	checked := newNodeFeasibility(task(), permitted)
	checked.setInfeasible(topology, 0)
	rejected := newNodeFeasibility(task(), permitted)
	rejected.setInfeasible(topology, 0)
	rejected.rejected = []placement.NodeID{0}
	fresh := newNodeFeasibility(task(), permitted)
	of := func(variants ...*nodeFeasibility) []*nodeFeasibility { return variants }
	for name, test := range map[string]struct {
		role     Role
		want     *placement.NodeSet
		complete bool
	}{
		"no pod":                 {Role{}, nil, true},
		"equivalent pods":        {Role{variants: of(checked), final: true}, checked.eligible, true},
		"it may become feasible": {Role{variants: of(checked)}, permitted, false},
		"no node is infeasible":  {Role{variants: of(fresh)}, permitted, true},
		"rejected later":         {Role{variants: of(rejected), final: true}, permitted, false},
		"two variants":           {Role{variants: of(checked, fresh), final: true}, permitted, false},
		"more variants":          {Role{variants: of(checked), more: true, final: true}, permitted, false},
		"templates that differ":  {Role{variants: of(checked), templatesDiffer: true, final: true}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			nodes, complete := test.role.Possible()
			require.Same(t, test.want, nodes)
			require.Equal(t, test.complete, complete)
		})
	}
}

// Of a role whose pods all differ only some are checked.
func TestChecker_RolesOfManyVariants(t *testing.T) {
	topology := topologyOf(t, 1)
	predicates := &predicatesOf{rejected: map[string]bool{"n0": true}}
	c := checkerOf(topology, predicates)
	var workers []*api.TaskInfo
	for i := range maxVariants + 8 {
		workers = append(workers, task(withLabel("number", strconv.Itoa(i))))
	}
	roles := c.Roles(&api.JobInfo{}, [][]*api.TaskInfo{workers, nil})
	require.Len(t, roles[0].variants, maxVariants)
	require.True(t, roles[0].more)
	require.False(t, roles[0].templatesDiffer)
	require.Equal(t, Role{checker: c}, roles[1])
	last, err := roles[0].Feasible(workers[len(workers)-1], 0)
	require.NoError(t, err)
	require.True(t, last, "it is not checked")
	first, err := roles[0].Feasible(workers[0], 0)
	require.NoError(t, err)
	require.False(t, first)
	require.False(t, roles[0].Eligible().Has(0))
}

// A result is final unless pods that are placed earlier may change it.
func TestChecker_RolesWithFinalResults(t *testing.T) {
	c := checkerOf(topologyOf(t, 1), &predicatesOf{})
	for name, test := range map[string]struct {
		server, worker func(*corev1.Pod)
		want           [2]bool
	}{
		"plain pods":                       {unchanged, unchanged, [2]bool{true, true}},
		"workers with more resources":      {unchanged, withGPUs("1"), [2]bool{true, true}},
		"workers with less resources":      {withGPUs("1"), unchanged, [2]bool{true, false}},
		"workers with affinity to servers": {unchanged, withAffinity(term("ps", "rack")), [2]bool{true, false}},
	} {
		t.Run(name, func(t *testing.T) {
			job := api.NewJobInfo("ns/j")
			server, worker := api.NewTaskInfo(pod("ps", 0, test.server)), api.NewTaskInfo(pod("worker", 0, test.worker))
			server.UID, worker.UID = "server", "worker"
			job.AddTaskInfo(server)
			job.AddTaskInfo(worker)
			roles := c.Roles(job, [][]*api.TaskInfo{{server}, {worker}})
			require.Equal(t, test.want, [2]bool{roles[0].final, roles[1].final})
		})
	}
}
