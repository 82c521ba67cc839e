// SPDX-License-Identifier: Apache-2.0

package feasibility

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// predicatesOf reject some nodes and count calls.
type predicatesOf struct {
	rejected map[string]bool
	err      error
	calls    atomic.Int32
	prepared int
}

// PrePredicateFn implements Predicates.
func (p *predicatesOf) PrePredicateFn(*api.TaskInfo) error {
	p.prepared++
	return p.err
}

// PredicateForAllocateAction implements Predicates.
func (p *predicatesOf) PredicateForAllocateAction(_ *api.TaskInfo, node *api.NodeInfo) error {
	p.calls.Add(1)
	if p.rejected[node.Name] {
		return errors.New("no")
	}
	return nil
}

func TestRole_CallsPredicatesRarely(t *testing.T) {
	topology := topologyOf(t, 8)
	predicates := &predicatesOf{rejected: map[string]bool{"n1": true}}
	c := checkerOf(topology, predicates)
	delete(c.Nodes, "n7") // it left between two looks at the cluster
	worker := task(withHostPort(80))
	role := &c.Roles(&api.JobInfo{}, [][]*api.TaskInfo{{worker}})[0]
	require.NotSame(t, worker, role.variants[0].task)
	check := func(id placement.NodeID) bool {
		ok, err := role.Feasible(worker, id)
		require.NoError(t, err)
		return ok
	}

	require.True(t, check(0))
	require.True(t, check(0))
	require.EqualValues(t, 1, predicates.calls.Load(), "a result is cached")
	require.Nil(t, role.Eligible(), "all nodes are eligible as long as none is infeasible")

	require.False(t, check(1))
	require.EqualValues(t, 7, predicates.calls.Load(), "then each node that is there is checked once")
	require.False(t, role.Eligible().Has(1))
	require.False(t, role.Eligible().Has(7), "a node that is gone is infeasible")
	require.False(t, check(1))
	require.EqualValues(t, 7, predicates.calls.Load())

	require.True(t, role.Eligible().Has(5))
	c.Reject(worker, 5)
	require.False(t, check(5), "a rejection counts")
	require.Equal(t, 1, predicates.prepared)

	c.Forget(worker.Job)
	require.True(t, check(0))
	require.EqualValues(t, 8, predicates.calls.Load())
	require.Equal(t, 2, predicates.prepared)
	require.False(t, check(5), "a rejection is kept")
	require.EqualValues(t, 13, predicates.calls.Load())
}

func TestChecker_ForgetsWhatDependsOnOtherPods(t *testing.T) {
	topology := topologyOf(t, 2)
	predicates := &predicatesOf{}
	c := checkerOf(topology, predicates)
	plain, port := task(), task(withHostPort(80))
	for range 2 {
		for _, of := range []*api.TaskInfo{plain, port} {
			ok, err := c.Feasible(of, 0)
			require.NoError(t, err)
			require.True(t, ok)
		}
		c.Forget(plain.Job)
	}
	require.EqualValues(t, 3, predicates.calls.Load())
}

func TestChecker_PrePredicateError(t *testing.T) {
	topology := topologyOf(t, 1)
	c := checkerOf(topology, &predicatesOf{err: errors.New("no such claim")})
	_, err := c.Feasible(task(), 0)
	require.EqualError(t, err, "no such claim")
}

// Nodes that the template does not permit are not checked, and the set, which jobs share, is not changed.
func TestRole_ChecksPermittedNodesOnly(t *testing.T) {
	topology := topologyOf(t, 4)
	predicates := &predicatesOf{rejected: map[string]bool{"n1": true}}
	c := checkerOf(topology, predicates)
	c.Filters = Filters{Enabled: true, TaintToleration: true}
	c.Nodes["n3"].Node.Spec.Taints = []corev1.Taint{{Key: "broken", Effect: corev1.TaintEffectNoSchedule}}
	worker := task()
	role := &c.Roles(&api.JobInfo{}, [][]*api.TaskInfo{{worker}})[0]
	ok, err := role.Feasible(worker, 1)
	require.NoError(t, err)
	require.False(t, ok)
	require.EqualValues(t, 3, predicates.calls.Load())
	require.False(t, role.Eligible().Has(1))
	require.False(t, role.Eligible().Has(3))
	require.True(t, c.permittedNodes(worker.Pod).Has(1))
}
