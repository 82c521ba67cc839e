// SPDX-License-Identifier: Apache-2.0

package feasibility

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// maxVariants is how many pods of a role that are not equivalent have results of their own in one plan.
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

// Feasible reports whether a node is feasible for a pending pod of the role, as far as the pod has a result of its own. If
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

// Possible returns all nodes but those that are certainly infeasible for every pod of the role, whatever else is placed;
// nil is the set of all nodes. complete reports that Eligible leaves out no other nodes.
//
// A node that is infeasible for one pod is certainly so if all pods are equivalent and the result is final. A node that was
// rejected after some pods of the gang were placed may be feasible again once these are taken back.
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
