// SPDX-License-Identifier: Apache-2.0

package preempt

import "volcano.sh/volcano/pkg/scheduler/api"

// topologyAware is the argument of the action preempt with which it tries nodes in parallel.
const topologyAware = "enableTopologyAwarePreemption"

// mayEvict reports whether Volcano evicts a pod in its state.
func (p preemption) mayEvict(task *api.TaskInfo) bool {
	if p.kind == reclaiming {
		return task.Preemptable && task.Status == api.Running
	}
	return task.Preemptable && api.PreemptableStatus(task.Status) && (!p.preemptor.BestEffort || task.BestEffort)
}

// candidates returns the pods of a node that Volcano would pass to Preemptable or Reclaimable.
func (s *Selector) candidates(p preemption, node *api.NodeInfo) []*api.TaskInfo {
	own := s.ssn.Jobs[p.preemptor.Job].Queue
	var found []*api.TaskInfo
	for _, task := range node.Tasks {
		job := s.ssn.Jobs[task.Job]
		if job == nil || !p.mayEvict(task) {
			continue
		}
		if p.kind == preempting && job.Queue == own || p.kind == reclaiming && job.Queue != own && s.ssn.Queues[job.Queue].Reclaimable() {
			found = append(found, task)
		}
	}
	return found
}

// idle returns the resources that a node has for a preemptor without a victim. It has none if the preemptor's queue is full:
// then victims of the queue must release as much as the preemptor requests. Topology-aware preemption disregards the queue.
func (s *Selector) idle(p preemption, node *api.NodeInfo) *api.Resource {
	if p.kind == preempting && !s.topologyAware {
		queue := s.ssn.Queues[s.ssn.Jobs[p.preemptor.Job].Queue]
		if !s.ssn.Allocatable(queue, p.preemptor) {
			return api.EmptyResource()
		}
	}
	return node.FutureIdle()
}

// hasCheaperNode reports whether a preemptor fits on some node without disrupting a gang. Volcano takes the first node that
// fits, in an order that disregards gangs. A node that has failed is checked again for pods of the same role only after a pod
// was evicted from it or placed on it.
func (s *Selector) hasCheaperNode(p preemption) bool {
	known := s.answersFor(p)
	if known.hasCheaperNode != nil {
		return *known.hasCheaperNode
	}
	found := false
	for _, node := range s.ssn.NodeList {
		if known.disruptiveNodes[node.Name] {
			continue
		}
		if found = s.isCheaper(p, node); found {
			break
		}
		known.disruptiveNodes[node.Name] = true
	}
	known.hasCheaperNode = &found
	return found
}

// isCheaper reports whether Volcano would fit a preemptor on a node without disrupting a gang. In doubt it would not.
func (s *Selector) isCheaper(p preemption, node *api.NodeInfo) bool {
	if len(s.ssn.NodesInShard) > 0 && !s.ssn.NodesInShard.Has(node.Name) {
		return false
	}
	idle := s.idle(p, node)
	candidates := s.candidates(p, node)
	switch {
	case p.kind == reclaiming && len(candidates) == 0:
		return false // reclaim skips such nodes
	case fitsWith(p.preemptor, idle, nil):
		if p.kind == preempting && s.topologyAware {
			return false // topology-aware preemption skips such nodes
		}
	case !fitsWith(p.preemptor, idle, candidates) || !fitsWith(p.preemptor, idle, s.classify(p, candidates).nonDisruptive()):
		return false
	}
	return s.ssn.PredicateFn(p.preemptor, node) == nil
}

// fitsWith reports whether a preemptor fits into idle resources and those of some victims.
func fitsWith(preemptor *api.TaskInfo, idle *api.Resource, victims []*api.TaskInfo) bool {
	free := idle.Clone().Add(totalResources(victims))
	return preemptor.InitResreq.LessEqual(free, api.Zero)
}
