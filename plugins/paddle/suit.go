// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"context"
	"slices"

	"k8s.io/client-go/util/workqueue"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// predicates are what a session answers about tasks and nodes.
type predicates interface {
	PrePredicateFn(task *api.TaskInfo) error
	PredicateForAllocateAction(task *api.TaskInfo, node *api.NodeInfo) error
}

// suit knows which nodes suit the pods of one role of one job that are alike, as far as it was asked. The answers are
// those of the session's own predicates about one of these pods, and hold for no other role and no other job: predicates
// read labels, requests, annotations and the queue. Whether a node has the resources is not among them.
//
// It asks about the few nodes that a plan uses, until one is refused: then about all nodes at once, for a job that may use
// a tenth of the nodes must not be planned ten times. Nodes that the pods' template does not permit are not asked about.
type suit struct {
	task      *api.TaskInfo
	permitted *placement.NodeSet // by the template; nil: all. It is shared, and never changed here
	prepared  bool               // PrePredicate was asked
	answers   []answer           // by NodeID
	eligible  *placement.NodeSet // nil: all, as no node was refused yet
	all       bool               // every node was asked
	// refused are nodes that predicates refused to such a pod when its plan had named them: forget leaves them refused.
	refused []placement.NodeID
}

type answer uint8

const (
	notAsked answer = iota
	suits
	refuses
)

const askers = 16 // as many goroutines as Volcano's own predicate helper has

func newSuit(t *placement.Topology, task *api.TaskInfo, permitted *placement.NodeSet) *suit {
	return &suit{
		task:      task.Clone(), // whoever places the task changes it
		permitted: permitted, eligible: permitted, answers: make([]answer, t.Nodes()),
	}
}

// forget forgets the answers that depend on where other pods are.
func (s *suit) forget(t *placement.Topology) {
	s.prepared, s.all, s.eligible = false, false, s.permitted
	clear(s.answers)
	for _, id := range s.refused {
		s.refuse(t, id)
	}
}

// ask reports whether a node suits. An error means that no node will do, and why.
func (s *suit) ask(session predicates, t *placement.Topology, nodes map[string]*api.NodeInfo, id placement.NodeID) (bool, error) {
	if s.answers[id] == notAsked {
		if !s.prepared {
			if err := session.PrePredicateFn(s.task); err != nil {
				return false, err
			}
			s.prepared = true
		}
		s.answers[id] = s.answer(session, nodes[t.NodeName(id)])
		if s.answers[id] == refuses {
			s.refuse(t, id)
		}
	}
	return s.answers[id] == suits, nil
}

// askAll asks about all nodes, after ask has refused one.
func (s *suit) askAll(session predicates, t *placement.Topology, nodes map[string]*api.NodeInfo) {
	if s.all {
		return
	}
	s.all = true
	workqueue.ParallelizeUntil(context.Background(), askers, t.Nodes(), func(i int) {
		if id := placement.NodeID(i); s.answers[i] == notAsked && s.eligible.Has(id) {
			s.answers[i] = s.answer(session, nodes[t.NodeName(id)])
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
	if s.eligible == s.permitted {
		s.eligible = copyOf(t, s.permitted)
	}
	s.answers[id] = refuses
	s.eligible.Remove(id)
}

// remember makes a node one that does not suit as long as the session lasts.
func (s *suit) remember(t *placement.Topology, id placement.NodeID) {
	s.refuse(t, id)
	s.refused = append(s.refused, id)
}

func (s *suit) answer(session predicates, node *api.NodeInfo) answer {
	if node == nil || session.PredicateForAllocateAction(s.task, node) != nil {
		return refuses
	}
	return suits
}

// maxKinds is how many pods of one role that differ are asked about by themselves in one plan.
const maxKinds = 32

// kinds are the pending pods of one role of a plan, by what predicates may read of them.
type kinds struct {
	suits []*suit // of the first pod and of those that differ; none where the role has no pending pod
	more  bool    // there are pods that none of suits is about
	// differ reports that the pods' templates do not permit the same nodes.
	differ bool
	// final reports that what predicates refuse to the pods now they refuse as well once other pods of the gang are placed.
	final bool
}

// of is the suit of a pod, nil if there is none.
func (k *kinds) of(task *api.TaskInfo) *suit {
	if len(k.suits) == 1 && !k.more {
		return k.suits[0]
	}
	return suitOf(k.suits, task)
}

func suitOf(all []*suit, task *api.TaskInfo) *suit {
	if i := slices.IndexFunc(all, func(s *suit) bool { return alike(s.task, task) }); i >= 0 {
		return all[i]
	}
	return nil
}

// eligible are the nodes that suit all of the pods, as far as predicates were asked; nil is all.
func (k *kinds) eligible(t *placement.Topology) *placement.NodeSet {
	var nodes *placement.NodeSet
	for _, s := range k.suits {
		nodes = both(t, nodes, s.eligible)
	}
	return nodes
}

// possible are the nodes but those of which it is certain that none of the pods may use them, whatever else is placed; nil
// is all. What predicates refuse to one pod is certain where all pods are alike and it is final; what they refused after some
// pods of the gang were placed may be open again once these are taken back.
func (k *kinds) possible() *placement.NodeSet {
	switch {
	case len(k.suits) == 0 || k.differ:
		return nil
	case len(k.suits) == 1 && !k.more && k.final && len(k.suits[0].refused) == 0:
		return k.suits[0].eligible
	default:
		return k.suits[0].permitted
	}
}

// certain reports whether no node was refused to the pods but those that possible leaves out.
func (k *kinds) certain() bool {
	possible := k.possible()
	return !slices.ContainsFunc(k.suits, func(s *suit) bool { return s.eligible != possible })
}

// both is what two sets have both; nil is all nodes. Sets that are given are not changed.
func both(t *placement.Topology, a, b *placement.NodeSet) *placement.NodeSet {
	switch {
	case a == nil:
		return b
	case b == nil || a == b:
		return a
	}
	nodes := placement.NewNodeSet(t)
	for id := range placement.NodeID(t.Nodes()) {
		if a.Has(id) && b.Has(id) {
			nodes.Add(id)
		}
	}
	return nodes
}

// copyOf is a set of its own of the same nodes; of all, if the set is nil.
func copyOf(t *placement.Topology, set *placement.NodeSet) *placement.NodeSet {
	nodes := placement.NewNodeSet(t)
	for id := range placement.NodeID(t.Nodes()) {
		if set == nil || set.Has(id) {
			nodes.Add(id)
		}
	}
	return nodes
}
