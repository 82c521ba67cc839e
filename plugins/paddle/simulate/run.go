// SPDX-License-Identifier: Apache-2.0

// Package simulate runs Volcano's scheduler with the plugin in this process, over objects of a cluster: what it would bind,
// report and evict. Cache, sessions, plugins and actions are the real ones; what they write ends here, and nothing is
// asked of any server. It makes no API calls, reads no files and knows no PaddleJobs.
//
// Volcano keeps some of its state in variables of its packages, so one simulation, or the sessions of one Cache, run at a
// time in a process.
package simulate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	"volcano.sh/volcano/pkg/scheduler/api"
)

// running is held by the simulation that runs: Volcano keeps some of its state in variables of its packages.
var running sync.Mutex

// maxSessions bounds a simulation in which pods evict each other without end.
const maxSessions = 16

// Run runs sessions until the gang of one PodGroup has its nodes, or until nothing changes any more. Between two sessions
// the rest of the cluster does what it would: pods are made of jobs that were admitted, and pods that were evicted end.
func Run(c *Cluster, wanted string) (*Result, error) {
	at := slices.IndexFunc(c.PodGroups, func(group *scheduling.PodGroup) bool { return Key(group) == wanted })
	if at < 0 {
		return nil, fmt.Errorf("simulate the scheduler: the cluster has no PodGroup %s", wanted)
	}
	running.Lock()
	defer running.Unlock()
	r, err := start(c)
	if err != nil {
		return nil, err
	}
	defer r.cache.Close()
	had := r.bound()
	coming := maps.Clone(c.Coming)
	for range maxSessions {
		before := r.state()
		if err := r.session(); err != nil {
			return nil, err
		}
		r.note(had)
		if len(r.result.Bound[wanted]) > 0 && r.ready(wanted) {
			break
		}
		made, ended := r.makePods(coming), r.endPods()
		if !made && !ended && maps.Equal(before, r.state()) {
			break
		}
	}
	slices.SortFunc(r.result.Evicted, func(a, b *corev1.Pod) int { return cmp.Compare(Key(a), Key(b)) })
	return r.result, nil
}

// bound returns the nodes of all pods that have one, by PodGroup and pod.
func (r *run) bound() map[string]map[string]string {
	r.cache.Lock()
	defer r.cache.Unlock()
	all := map[string]map[string]string{}
	for id, job := range r.cache.Jobs {
		for _, task := range job.Tasks {
			if api.AllocatedStatus(task.Status) {
				if all[string(id)] == nil {
					all[string(id)] = map[string]string{}
				}
				all[string(id)][task.Name] = task.NodeName
			}
		}
	}
	return all
}

// note keeps which pods were bound that were not before.
func (r *run) note(had map[string]map[string]string) {
	for group, pods := range r.bound() {
		for pod, node := range pods {
			if had[group][pod] != "" {
				continue
			}
			if r.result.Bound[group] == nil {
				r.result.Bound[group] = map[string]string{}
			}
			r.result.Bound[group][pod] = node
		}
	}
}

// ready reports whether a PodGroup's gang has its nodes.
func (r *run) ready(group string) bool {
	r.cache.Lock()
	defer r.cache.Unlock()
	job := r.cache.Jobs[api.JobID(group)]
	return job != nil && job.IsReady()
}

// state returns what changes as sessions go on, by PodGroup.
func (r *run) state() map[string]string {
	r.cache.Lock()
	defer r.cache.Unlock()
	all := map[string]string{}
	for id, job := range r.cache.Jobs {
		if job.PodGroup == nil {
			continue
		}
		parts := []string{string(job.PodGroup.Status.Phase)}
		for _, c := range job.PodGroup.Status.Conditions {
			parts = append(parts, string(c.Type), c.Reason, c.Message)
		}
		for _, status := range slices.Sorted(maps.Keys(job.TaskStatusIndex)) {
			parts = append(parts, fmt.Sprintf("%s %d", status, len(job.TaskStatusIndex[status])))
		}
		all[string(id)] = strings.Join(parts, "|")
	}
	return all
}

// makePods does what Volcano's Job controller does: pods of PodGroups that were admitted are made.
func (r *run) makePods(coming map[string][]*corev1.Pod) bool {
	made := false
	for _, key := range slices.Sorted(maps.Keys(coming)) {
		if !r.admitted(key) {
			continue
		}
		for _, pod := range sorted(coming[key]) {
			r.cache.AddPod(pod.DeepCopy())
		}
		delete(coming, key)
		made = true
	}
	return made
}

// admitted reports whether a PodGroup's queue has admitted it.
func (r *run) admitted(group string) bool {
	r.cache.Lock()
	defer r.cache.Unlock()
	job := r.cache.Jobs[api.JobID(group)]
	return job != nil && job.PodGroup != nil && !job.IsPending()
}

// endPods does what kubelets do: pods that were evicted end.
func (r *run) endPods() bool {
	r.cache.Lock()
	var evicted []*corev1.Pod
	for _, job := range r.cache.Jobs {
		for _, task := range job.TaskStatusIndex[api.Releasing] {
			if task.Pod.DeletionTimestamp == nil {
				evicted = append(evicted, task.Pod)
			}
		}
	}
	r.cache.Unlock()
	for _, pod := range sorted(evicted) {
		r.cache.DeletePod(pod)
	}
	r.result.Evicted = append(r.result.Evicted, evicted...)
	return len(evicted) > 0
}
