// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// answers refuse the nodes that they hold, and count what they were asked.
type answers struct {
	refused  map[string]bool
	asked    atomic.Int32
	err      error
	prepared int
}

// PrePredicateFn implements predicates.
func (a *answers) PrePredicateFn(*api.TaskInfo) error {
	a.prepared++
	return a.err
}

// PredicateForAllocateAction implements predicates.
func (a *answers) PredicateForAllocateAction(_ *api.TaskInfo, node *api.NodeInfo) error {
	a.asked.Add(1)
	if a.refused[node.Name] {
		return errors.New("no")
	}
	return nil
}

func TestPredicatesAreAskedAsLittleAsPossible(t *testing.T) {
	topology := gpuRacks(t, []int64{1, 1, 1, 1}, []int64{1, 1, 1, 1})
	nodes := map[string]*api.NodeInfo{}
	for id := range topology.Nodes() {
		name := topology.NodeName(placement.NodeID(id))
		nodes[name] = api.NewNodeInfo(node(name, nil))
	}
	delete(nodes, "r1n3") // it left between two looks at the cluster
	task := api.NewTaskInfo(pods("j", "worker", 1, nil)[0])
	session := &answers{refused: map[string]bool{"r0n1": true}}
	s := newSuit(topology, task, nil)
	require.NotSame(t, task, s.task)
	ask := func(id placement.NodeID) bool {
		suits, err := s.ask(session, topology, nodes, id)
		require.NoError(t, err)
		return suits
	}

	require.True(t, ask(0))
	require.True(t, ask(0))
	require.EqualValues(t, 1, session.asked.Load(), "an answer holds")
	require.Nil(t, s.eligible, "as long as none is refused all are eligible")

	require.False(t, ask(1))
	require.False(t, s.eligible.Has(1))
	s.askAll(session, topology, nodes)
	require.EqualValues(t, 7, session.asked.Load(), "each node that is there once")
	require.False(t, s.eligible.Has(7), "a node that is gone suits nobody")
	s.askAll(session, topology, nodes)
	require.EqualValues(t, 7, session.asked.Load())

	require.True(t, s.eligible.Has(5))
	s.remember(topology, 5)
	require.False(t, ask(5), "what was found out later counts")
	require.Equal(t, 1, session.prepared, "one pod is asked about")

	s.forget(topology)
	require.False(t, ask(5), "and stays")
	require.True(t, ask(0))
	require.EqualValues(t, 8, session.asked.Load())
	require.Equal(t, 2, session.prepared)

	_, err := newSuit(topology, task, nil).ask(&answers{err: errors.New("no such claim")}, topology, nodes, 0)
	require.EqualError(t, err, "no such claim")
}

// Nodes that the template does not permit are not asked about, and the set, which jobs share, stays as it is.
func TestPredicatesAreAskedAboutPermittedNodes(t *testing.T) {
	topology := gpuRacks(t, []int64{1, 1, 1, 1})
	nodes := map[string]*api.NodeInfo{}
	permitted := placement.NewNodeSet(topology)
	for id := range placement.NodeID(topology.Nodes()) {
		name := topology.NodeName(id)
		nodes[name] = api.NewNodeInfo(node(name, nil))
		if id < 3 {
			permitted.Add(id)
		}
	}
	session := &answers{refused: map[string]bool{"r0n1": true}}
	s := newSuit(topology, api.NewTaskInfo(pods("j", "worker", 1, nil)[0]), permitted)
	suits, err := s.ask(session, topology, nodes, 1)
	require.NoError(t, err)
	require.False(t, suits)
	s.askAll(session, topology, nodes)
	require.EqualValues(t, 3, session.asked.Load())
	require.False(t, s.eligible.Has(1))
	require.False(t, s.eligible.Has(3))
	require.True(t, permitted.Has(1))
}
