// SPDX-License-Identifier: Apache-2.0

// Package feasibility finds out before a gang is planned which nodes are feasible for its pods: what the pod template
// permits, what the session's predicates answer, and which pods of the gang cannot share a node.
package feasibility

import (
	"context"
	"slices"

	"k8s.io/client-go/util/workqueue"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// Predicates are the predicates of a session. PredicateForAllocateAction is called by several goroutines.
type Predicates interface {
	PrePredicateFn(task *api.TaskInfo) error
	PredicateForAllocateAction(task *api.TaskInfo, node *api.NodeInfo) error
}

// Session is the input of a Checker.
type Session struct {
	Topology   *placement.Topology
	Nodes      map[string]*api.NodeInfo // by name
	Filters    Filters
	Predicates Predicates
	// PerPodKey reports whether each pod of a role has its own value of a label or annotation. Such keys do not make pods
	// different.
	PerPodKey func(key string) bool
}

// Checker caches in one session which nodes are feasible for the pods of each job. Whether a node has free resources is
// not part of the result.
type Checker struct {
	Session
	permitted map[string]*placement.NodeSet               // by template: all jobs of a session share them
	checked   map[api.JobID]map[string][]*nodeFeasibility // by role; pods of a role that are not equivalent have one each
}

// New returns a Checker without results.
func New(s Session) *Checker {
	return &Checker{Session: s, permitted: map[string]*placement.NodeSet{}, checked: map[api.JobID]map[string][]*nodeFeasibility{}}
}

// Feasible reports whether a node is feasible for a pod. An error means that no node is.
func (c *Checker) Feasible(task *api.TaskInfo, node placement.NodeID) (bool, error) {
	return c.check(c.of(task), node)
}

// Reject makes a node infeasible for a pod and those equivalent to it until the session ends. It does nothing for pods
// that were never checked.
func (c *Checker) Reject(task *api.TaskInfo, node placement.NodeID) {
	if f := c.find(c.checked[task.Job][task.TaskRole], task); f != nil {
		f.setInfeasible(c.Topology, node)
		f.rejected = append(f.rejected, node)
	}
}

// Forget discards the results of a job's pods that depend on where other pods are. Rejected nodes stay infeasible.
func (c *Checker) Forget(job api.JobID) {
	for _, ofRole := range c.checked[job] {
		for _, f := range ofRole {
			if dependsOnOtherPods(&f.task.Pod.Spec) {
				f.reset(c.Topology)
			}
		}
	}
}

// of returns the result for pods like a task, a new one if there is none.
func (c *Checker) of(task *api.TaskInfo) *nodeFeasibility {
	if f := c.find(c.checked[task.Job][task.TaskRole], task); f != nil {
		return f
	}
	if c.checked[task.Job] == nil {
		c.checked[task.Job] = map[string][]*nodeFeasibility{}
	}
	f := newNodeFeasibility(task, c.permittedNodes(task.Pod))
	c.checked[task.Job][task.TaskRole] = append(c.checked[task.Job][task.TaskRole], f)
	return f
}

// find returns the result for pods like a task, nil if there is none.
func (c *Checker) find(all []*nodeFeasibility, task *api.TaskInfo) *nodeFeasibility {
	if i := slices.IndexFunc(all, func(f *nodeFeasibility) bool { return c.equivalent(f.task, task) }); i >= 0 {
		return all[i]
	}
	return nil
}

// nodeFeasibility caches the results of predicates for equivalent pods of one role of one job. Predicates read labels,
// requests, annotations and the queue, so that no other role and no other job may use the results.
//
// Nodes are checked one by one until one is infeasible, and then all in parallel. Thus a job that is restricted to few nodes
// is planned twice and not once for each node. Nodes that the pod template does not permit are not checked.
type nodeFeasibility struct {
	task      *api.TaskInfo
	permitted *placement.NodeSet        // by the template; nil: all. Jobs share it: it is not changed
	prepared  bool                      // PrePredicateFn was called
	checked   map[placement.NodeID]bool // whether the node is feasible
	eligible  *placement.NodeSet        // nodes that are not infeasible; nil: all
	all       bool                      // every node was checked
	rejected  []placement.NodeID
}

// parallelism is the number of goroutines that call predicates; Volcano's predicate helper has as many.
const parallelism = 16

func newNodeFeasibility(task *api.TaskInfo, permitted *placement.NodeSet) *nodeFeasibility {
	copied := *task // the session changes a task when it is placed
	return &nodeFeasibility{task: &copied, permitted: permitted, eligible: permitted, checked: map[placement.NodeID]bool{}}
}

// reset discards all results but rejections.
func (f *nodeFeasibility) reset(t *placement.Topology) {
	f.prepared, f.all, f.eligible = false, false, f.permitted
	clear(f.checked)
	for _, id := range f.rejected {
		f.setInfeasible(t, id)
	}
}

func (f *nodeFeasibility) setInfeasible(t *placement.Topology, id placement.NodeID) {
	if f.eligible == f.permitted {
		f.eligible = t.NodesIn(t.Root()).And(f.permitted)
	}
	f.checked[id] = false
	f.eligible.Remove(id)
}

// check reports whether a node is feasible. An error means that no node is.
func (c *Checker) check(f *nodeFeasibility, id placement.NodeID) (bool, error) {
	if feasible, ok := f.checked[id]; ok || f.all {
		return feasible || !ok && f.eligible.Has(id), nil
	}
	if !f.prepared {
		if err := c.Predicates.PrePredicateFn(f.task); err != nil {
			return false, err
		}
		f.prepared = true
	}
	if !c.predicate(f, id) {
		f.setInfeasible(c.Topology, id)
		return false, nil
	}
	f.checked[id] = true
	return true, nil
}

// checkAll checks all nodes. It is called after check has found an infeasible one.
func (c *Checker) checkAll(f *nodeFeasibility) {
	if f.all {
		return
	}
	f.all = true
	infeasible := make([]bool, c.Topology.Nodes())
	workqueue.ParallelizeUntil(context.Background(), parallelism, len(infeasible), func(i int) {
		id := placement.NodeID(i)
		infeasible[i] = f.eligible.Has(id) && !f.checked[id] && !c.predicate(f, id)
	})
	for i := range infeasible {
		if infeasible[i] {
			f.setInfeasible(c.Topology, placement.NodeID(i))
		}
	}
}

func (c *Checker) predicate(f *nodeFeasibility, id placement.NodeID) (feasible bool) {
	node := c.Nodes[c.Topology.NodeName(id)]
	return node != nil && c.Predicates.PredicateForAllocateAction(f.task, node) == nil
}
