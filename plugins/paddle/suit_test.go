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
	refused map[string]bool
	asked   atomic.Int32
	err     error
}

// PrePredicateFn implements predicates.
func (a *answers) PrePredicateFn(*api.TaskInfo) error { return a.err }

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
	s, err := newSuit(session, topology, task)
	require.NoError(t, err)
	require.NotSame(t, task, s.task)

	require.True(t, s.ask(session, topology, nodes, 0))
	require.True(t, s.ask(session, topology, nodes, 0))
	require.EqualValues(t, 1, session.asked.Load(), "an answer holds")
	require.Nil(t, s.eligible, "as long as none is refused all are eligible")

	require.False(t, s.ask(session, topology, nodes, 1))
	require.False(t, s.eligible.Has(1))
	s.askAll(session, topology, nodes)
	require.EqualValues(t, 7, session.asked.Load(), "each node that is there once")
	require.False(t, s.eligible.Has(7), "a node that is gone suits nobody")
	s.askAll(session, topology, nodes)
	require.EqualValues(t, 7, session.asked.Load())

	require.True(t, s.eligible.Has(5))
	s.refuse(topology, 5)
	require.False(t, s.ask(session, topology, nodes, 5), "what was found out later counts")

	_, err = newSuit(&answers{err: errors.New("no such claim")}, topology, task)
	require.EqualError(t, err, "no such claim")
}
