// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"maps"

	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"
)

// purpose is for what pods are evicted: that says which ones Volcano looks at (pkg/scheduler/actions).
type purpose string

const (
	preempting purpose = "preempt" // by a job of the same queue
	reclaiming purpose = "reclaim" // by a job of a queue that has less than its share
)

// topologyAware is the argument of the action preempt by which it tries many nodes at once.
const topologyAware = "enableTopologyAwarePreemption"

// takes tells whether Volcano takes a pod in such a state.
func (n need) takes(task *api.TaskInfo) bool {
	if n.purpose == reclaiming {
		return task.Preemptable && task.Status == api.Running
	}
	return task.Preemptable && api.PreemptableStatus(task.Status) && (!n.preemptor.BestEffort || task.BestEffort)
}

// candidates is the pods of a node that Volcano would ask about.
func (v *victims) candidates(n need, node *api.NodeInfo) []*api.TaskInfo {
	own := v.ssn.Jobs[n.preemptor.Job].Queue
	var found []*api.TaskInfo
	for _, task := range node.Tasks {
		job := v.ssn.Jobs[task.Job]
		if job == nil || !n.takes(task) {
			continue
		}
		if n.purpose == preempting && job.Queue == own || n.purpose == reclaiming && job.Queue != own && v.ssn.Queues[job.Queue].Reclaimable() {
			found = append(found, task)
		}
	}
	return found
}

// room is what a node has for a preemptor without any victim. It has none if the preemptor's queue, not the node, is full:
// then as much of the queue must go as the preemptor asks for.
func (v *victims) room(n need, node *api.NodeInfo) *api.Resource {
	if n.purpose == preempting && !v.concurrent(n) {
		queue := v.ssn.Queues[v.ssn.Jobs[n.preemptor.Job].Queue]
		if !v.ssn.Allocatable(queue, n.preemptor) {
			return api.EmptyResource()
		}
	}
	return node.FutureIdle()
}

// concurrent tells whether questions come from several goroutines.
func (v *victims) concurrent(n need) bool {
	if n.purpose != preempting {
		return false
	}
	on := false
	framework.GetArgOfActionFromConf(v.ssn.Configurations, string(preempting)).GetBool(&on, topologyAware)
	return on
}

// cheaper tells whether some node has room for a preemptor without breaking a gang that is whole. Volcano goes through
// the nodes in an order that knows nothing of gangs, and takes the first that will do. A node that has none is not asked
// about again for pods of the same role until something is evicted from it or placed on it.
func (v *victims) cheaper(n need) bool {
	key := needKey{n.purpose, n.preemptor.UID}
	v.mu.Lock()
	found, known := v.elsewhere[key]
	pods := dearKey{n.purpose, n.preemptor.Job, n.preemptor.TaskRole, n.preemptor.InitResreq.String()}
	dear := maps.Clone(v.dear[pods])
	v.mu.Unlock()
	if known {
		return found
	}
	if dear == nil {
		dear = map[string]bool{}
	}
	for _, node := range v.ssn.NodeList {
		if dear[node.Name] {
			continue
		}
		if found = v.cheap(n, node); found {
			break
		}
		dear[node.Name] = true
	}
	v.mu.Lock()
	v.elsewhere[key] = found
	v.dear[pods] = dear
	v.mu.Unlock()
	return found
}

// cheap tells whether Volcano would find room on a node without breaking a gang. In doubt it would not.
func (v *victims) cheap(n need, node *api.NodeInfo) bool {
	if len(v.ssn.NodesInShard) > 0 && !v.ssn.NodesInShard.Has(node.Name) {
		return false
	}
	room := v.room(n, node)
	candidates := v.candidates(n, node)
	switch {
	case n.purpose == reclaiming && len(candidates) == 0:
		return false // reclaim passes such nodes by
	case fit(n.preemptor, room, nil):
		if v.concurrent(n) {
			return false // topology-aware preemption does as well
		}
	case !fit(n.preemptor, room, candidates) || !fit(n.preemptor, room, v.offer(n, candidates).cheap()):
		return false
	}
	return v.ssn.PredicateFn(n.preemptor, node) == nil
}

// fit tells whether a preemptor fits into room once some pods have gone.
func fit(preemptor *api.TaskInfo, room *api.Resource, gone []*api.TaskInfo) bool {
	free := room.Clone()
	for _, task := range gone {
		free.Add(task.Resreq)
	}
	return preemptor.InitResreq.LessEqual(free, api.Zero)
}
