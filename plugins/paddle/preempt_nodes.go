// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"maps"

	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"
)

// preemptionKind is the action that evicts. It decides which pods Volcano considers (pkg/scheduler/actions).
type preemptionKind string

const (
	preempting preemptionKind = "preempt" // by a job of the same queue
	reclaiming preemptionKind = "reclaim" // by a job of a queue that has less than its share
)

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
func (v *victimSelector) candidates(p preemption, node *api.NodeInfo) []*api.TaskInfo {
	own := v.ssn.Jobs[p.preemptor.Job].Queue
	var found []*api.TaskInfo
	for _, task := range node.Tasks {
		job := v.ssn.Jobs[task.Job]
		if job == nil || !p.mayEvict(task) {
			continue
		}
		if p.kind == preempting && job.Queue == own || p.kind == reclaiming && job.Queue != own && v.ssn.Queues[job.Queue].Reclaimable() {
			found = append(found, task)
		}
	}
	return found
}

// idle returns the resources that a node has for a preemptor without a victim. It has none if the preemptor's queue is full:
// then victims of the queue must release as much as the preemptor requests.
func (v *victimSelector) idle(p preemption, node *api.NodeInfo) *api.Resource {
	if p.kind == preempting && !v.concurrent(p) {
		queue := v.ssn.Queues[v.ssn.Jobs[p.preemptor.Job].Queue]
		if !v.ssn.Allocatable(queue, p.preemptor) {
			return api.EmptyResource()
		}
	}
	return node.FutureIdle()
}

// concurrent reports whether several goroutines call the selector.
func (v *victimSelector) concurrent(p preemption) bool {
	if p.kind != preempting {
		return false
	}
	on := false
	framework.GetArgOfActionFromConf(v.ssn.Configurations, string(preempting)).GetBool(&on, topologyAware)
	return on
}

// hasCheaperNode reports whether a preemptor fits on some node without disrupting a gang. Volcano takes the first node that
// fits, in an order that disregards gangs. A node that has failed is checked again for pods of the same role only after a pod
// was evicted from it or placed on it.
func (v *victimSelector) hasCheaperNode(p preemption) bool {
	key := preemptionKey{p.kind, p.preemptor.UID}
	v.mu.Lock()
	found, known := v.cheaperElsewhere[key]
	pods := podsKey{p.kind, p.preemptor.Job, p.preemptor.TaskRole, p.preemptor.InitResreq.String()}
	disruptive := maps.Clone(v.disruptiveNodes[pods])
	v.mu.Unlock()
	if known {
		return found
	}
	if disruptive == nil {
		disruptive = map[string]bool{}
	}
	for _, node := range v.ssn.NodeList {
		if disruptive[node.Name] {
			continue
		}
		if found = v.isCheaper(p, node); found {
			break
		}
		disruptive[node.Name] = true
	}
	v.mu.Lock()
	v.cheaperElsewhere[key] = found
	v.disruptiveNodes[pods] = disruptive
	v.mu.Unlock()
	return found
}

// isCheaper reports whether Volcano would fit a preemptor on a node without disrupting a gang. In doubt it would not.
func (v *victimSelector) isCheaper(p preemption, node *api.NodeInfo) bool {
	if len(v.ssn.NodesInShard) > 0 && !v.ssn.NodesInShard.Has(node.Name) {
		return false
	}
	idle := v.idle(p, node)
	candidates := v.candidates(p, node)
	switch {
	case p.kind == reclaiming && len(candidates) == 0:
		return false // reclaim skips such nodes
	case fitsWith(p.preemptor, idle, nil):
		if v.concurrent(p) {
			return false // topology-aware preemption skips such nodes
		}
	case !fitsWith(p.preemptor, idle, candidates) || !fitsWith(p.preemptor, idle, v.candidatesOf(p, candidates).nonDisruptive()):
		return false
	}
	return v.ssn.PredicateFn(p.preemptor, node) == nil
}

// fitsWith reports whether a preemptor fits into idle resources and those of some victims.
func fitsWith(preemptor *api.TaskInfo, idle *api.Resource, victims []*api.TaskInfo) bool {
	free := idle.Clone()
	for _, task := range victims {
		free.Add(task.Resreq)
	}
	return preemptor.InitResreq.LessEqual(free, api.Zero)
}
