// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"context"

	"k8s.io/client-go/util/workqueue"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// predicates are what a session answers about tasks and nodes.
type predicates interface {
	PrePredicateFn(task *api.TaskInfo) error
	PredicateForAllocateAction(task *api.TaskInfo, node *api.NodeInfo) error
}

// suit knows which nodes suit pods that are alike, as far as it was asked. The answers are those of the session's own
// predicates about one of these pods; whether a node has the resources is not among them.
//
// It asks about the few nodes that a plan uses, until one is refused: then about all nodes at once, for a job that may use
// a tenth of the nodes must not be planned ten times.
type suit struct {
	task     *api.TaskInfo
	answers  []answer           // by NodeID
	eligible *placement.NodeSet // nil: all, as no node was refused yet
	all      bool               // every node was asked
}

type answer uint8

const (
	notAsked answer = iota
	suits
	refuses
)

const askers = 16 // as many goroutines as Volcano's own predicate helper has

// newSuit prepares the predicates for a pod like task. An error means that no node will do, and why.
func newSuit(session predicates, t *placement.Topology, task *api.TaskInfo) (*suit, error) {
	like := task.Clone() // whoever places the task changes it
	if err := session.PrePredicateFn(like); err != nil {
		return nil, err
	}
	return &suit{task: like, answers: make([]answer, t.Nodes())}, nil
}

// ask tells whether a node suits.
func (s *suit) ask(session predicates, t *placement.Topology, nodes map[string]*api.NodeInfo, id placement.NodeID) bool {
	if s.answers[id] == notAsked {
		s.answers[id] = s.answer(session, nodes[t.NodeName(id)])
		if s.answers[id] == refuses {
			s.refuse(t, id)
		}
	}
	return s.answers[id] == suits
}

// askAll asks about all nodes.
func (s *suit) askAll(session predicates, t *placement.Topology, nodes map[string]*api.NodeInfo) {
	if s.all {
		return
	}
	s.all = true
	workqueue.ParallelizeUntil(context.Background(), askers, t.Nodes(), func(i int) {
		if s.answers[i] == notAsked {
			s.answers[i] = s.answer(session, nodes[t.NodeName(placement.NodeID(i))])
		}
	})
	for i, answer := range s.answers {
		if answer == refuses {
			s.refuse(t, placement.NodeID(i))
		}
	}
}

// refuse makes a node one that does not suit.
func (s *suit) refuse(t *placement.Topology, id placement.NodeID) {
	if s.eligible == nil {
		s.eligible = placement.NewNodeSet(t)
		for node := range placement.NodeID(t.Nodes()) {
			s.eligible.Add(node)
		}
	}
	s.answers[id] = refuses
	s.eligible.Remove(id)
}

func (s *suit) answer(session predicates, node *api.NodeInfo) answer {
	if node == nil || session.PredicateForAllocateAction(s.task, node) != nil {
		return refuses
	}
	return suits
}
