// SPDX-License-Identifier: Apache-2.0

// Package feasibility finds out before a gang is planned which nodes are feasible for its pods: what the pod template
// permits, what the session's predicates answer, and which pods of the gang cannot share a node.
package feasibility

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
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

// maxVariants is how many pods of a role that are not equivalent have separate results in one plan.
const maxVariants = 32

// Role is the feasibility of the pending pods of one role of a plan.
type Role struct {
	checker  *Checker
	variants []*nodeFeasibility // of pods that are not equivalent; none where no pod is pending
	more     bool               // there are pods of none of the variants
	// templatesDiffer reports that the templates of the pods do not permit the same nodes.
	templatesDiffer bool
	// final reports that a node that is infeasible for the pods stays so once other pods of the gang are placed.
	final bool
}

// Roles returns the feasibility of the pending pods of a job, by role in the order in which they are placed.
func (c *Checker) Roles(job *api.JobInfo, pending [][]*api.TaskInfo) []Role {
	roles := make([]Role, len(pending))
	taken := map[corev1.ResourceName]bool{} // by pods that are placed earlier
	for i, tasks := range pending {
		r := &roles[i]
		r.checker = c
		r.final = len(tasks) > 0 && !mayBecomeFeasible(job, tasks[0].Pod) && !requestsLess(tasks[0], taken)
		for _, task := range tasks {
			if c.find(r.variants, task) != nil {
				continue
			}
			for name := range task.InitResreq.ScalarResources {
				taken[name] = true
			}
			r.templatesDiffer = r.templatesDiffer || len(r.variants) > 0 && c.permittedNodes(task.Pod) != r.variants[0].permitted
			if r.more = r.more || len(r.variants) == maxVariants; !r.more {
				r.variants = append(r.variants, c.of(task))
			}
		}
	}
	return roles
}

// requestsLess reports whether pods that are placed earlier take a resource that a task does not request. A plugin may
// reserve CPU and memory of a node for the pods that will take it (resource-strategy-fit), and release them afterwards.
func requestsLess(task *api.TaskInfo, taken map[corev1.ResourceName]bool) bool {
	for name := range taken {
		if task.InitResreq.ScalarResources[name] <= 0 {
			return true
		}
	}
	return false
}

// Feasible reports whether a node is feasible for a pending pod of the role, as far as the pod has a result. If
// it is infeasible and the pods are equivalent, all nodes are checked. An error means that no node is feasible.
func (r *Role) Feasible(task *api.TaskInfo, node placement.NodeID) (bool, error) {
	f := r.of(task)
	if f == nil {
		return true, nil
	}
	ok, err := r.checker.check(f, node)
	if err == nil && !ok && len(r.variants) == 1 {
		r.checker.checkAll(f)
	}
	return ok, err
}

// of returns the result for a pod, nil if there is none.
func (r *Role) of(task *api.TaskInfo) *nodeFeasibility {
	if len(r.variants) == 1 && !r.more {
		return r.variants[0]
	}
	return r.checker.find(r.variants, task)
}

// Eligible returns the nodes that are not known to be infeasible for one of the pods; nil is the set of all nodes.
func (r *Role) Eligible() *placement.NodeSet {
	var nodes *placement.NodeSet
	for _, f := range r.variants {
		nodes = nodes.And(f.eligible)
	}
	return nodes
}

// Possible returns all nodes but those that are certainly infeasible for every pod of the role, wherever other pods are placed;
// nil is the set of all nodes. complete reports that Eligible leaves out no other nodes.
//
// A node that is infeasible for one pod is certainly so if all pods are equivalent and the result is final. A node that was
// rejected after some pods of the gang were placed may be feasible again once these are deallocated.
func (r *Role) Possible() (nodes *placement.NodeSet, complete bool) {
	switch {
	case len(r.variants) == 0 || r.templatesDiffer:
	case len(r.variants) == 1 && !r.more && r.final && len(r.variants[0].rejected) == 0:
		nodes = r.variants[0].eligible
	default:
		nodes = r.variants[0].permitted
	}
	return nodes, !slices.ContainsFunc(r.variants, func(f *nodeFeasibility) bool { return f.eligible != nodes })
}
