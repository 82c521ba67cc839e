// SPDX-License-Identifier: Apache-2.0

// Package history remembers where the pods of jobs ran, and which nodes failed them. It outlives sessions and is safe for
// concurrent use. It knows no plans and no framework.Session.
package history

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/lru"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	"volcano.sh/volcano/pkg/scheduler/api"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
)

const (
	// maxJobs is how many jobs are remembered: beyond it, the one that was used least recently is forgotten.
	maxJobs = 10_000
	// maxFailedNodes is how many nodes are remembered that failed one job.
	maxFailedNodes = 16
	// prunedPods is how many names of pods a job may have beyond twice its pods, before those of other pods are forgotten.
	prunedPods = 16
)

// Record is what is remembered of a job.
type Record struct {
	// Nodes are the nodes on which pods were last placed, by the pods' names.
	Nodes map[string]string
	// FailedNodes are nodes on which a pod failed since one last succeeded, the latest last.
	FailedNodes []string
}

// History is what outlives sessions about where jobs ran, by the job's UID (namespace and name of its PodGroup, which a
// Volcano Job keeps when it starts again, as it keeps its pods' names). It is safe for concurrent use.
type History struct {
	watching atomic.Bool

	mu   sync.Mutex
	jobs *lru.Cache // of *Record, by api.JobID
}

// New returns an empty history.
func New() *History { return &History{jobs: lru.New(maxJobs)} }

// Get returns a copy of what is remembered of a job, and false if nothing is.
func (h *History) Get(job api.JobID) (r Record, found bool) {
	found = h.update(job, false, func(of *Record) {
		r = Record{Nodes: maps.Clone(of.Nodes), FailedNodes: slices.Clone(of.FailedNodes)}
	})
	return r, found
}

// update calls change with the record of a job, and reports whether there was one. If there is none, it makes one if create is
// set, and else does nothing.
func (h *History) update(job api.JobID, create bool, change func(*Record)) (found bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	value, _ := h.jobs.Get(job)
	r, found := value.(*Record)
	if !found {
		if !create {
			return false
		}
		r = &Record{Nodes: map[string]string{}}
		h.jobs.Add(job, r)
	}
	change(r)
	return found
}

func (h *History) knows(job api.JobID) bool { return h.update(job, false, func(*Record) {}) }

func (h *History) recordPlacement(job api.JobID, pod, node string) {
	h.update(job, true, func(r *Record) { r.Nodes[pod] = node })
}

// prune forgets pods that a job no longer has, if they outnumber those that it has: pods of some controllers get new names
// each time.
func (h *History) prune(job *api.JobInfo) {
	h.update(job.UID, false, func(r *Record) {
		if len(r.Nodes) <= 2*len(job.Tasks)+prunedPods {
			return
		}
		names := sets.New[string]()
		for _, task := range job.Tasks {
			names.Insert(task.Name)
		}
		maps.DeleteFunc(r.Nodes, func(name, _ string) bool { return !names.Has(name) })
	})
}

// RecordFailure records that a pod failed on a node.
func (h *History) RecordFailure(job api.JobID, node string) {
	h.update(job, true, func(r *Record) {
		nodes := append(slices.DeleteFunc(r.FailedNodes, func(name string) bool { return name == node }), node)
		r.FailedNodes = nodes[max(0, len(nodes)-maxFailedNodes):]
	})
}

// recordSuccess forgets the nodes on which pods of a job failed.
func (h *History) recordSuccess(job api.JobID) {
	h.update(job, false, func(r *Record) { r.FailedNodes = nil })
}

// isNodeFault reports whether a pod that has finished, or is about to, counts against its node: it failed there by itself, the
// kubelet refused or evicted it, or something else took it from the node. Not so pods that a scheduler preempts, nor those
// that are killed as their gang starts again.
func isNodeFault(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue {
			return c.Reason != corev1.PodReasonPreemptionByScheduler
		}
	}
	return pod.Status.Phase == corev1.PodFailed && pod.DeletionTimestamp == nil
}

// ObserveEnded records what a session shows of finished pods. Of jobs without any it reads two counts only.
func (h *History) ObserveEnded(jobs map[api.JobID]*api.JobInfo) {
	var ended []api.JobID
	for id, job := range jobs {
		if len(job.TaskStatusIndex[api.Failed])+len(job.TaskStatusIndex[api.Succeeded]) > 0 {
			ended = append(ended, id)
		}
	}
	slices.Sort(ended)
	for _, id := range ended {
		h.observeEnded(jobs[id])
	}
}

// observeEnded records finished pods of a job. What failed while another has succeeded is forgotten at once.
func (h *History) observeEnded(job *api.JobInfo) {
	if len(job.TaskStatusIndex[api.Succeeded]) > 0 {
		h.recordSuccess(job.UID)
		return
	}
	if !paddlejob.IsPaddle(job) {
		return
	}
	for _, task := range byName(job.TaskStatusIndex[api.Failed]) {
		if task.NodeName != "" && isNodeFault(task.Pod) {
			h.RecordFailure(job.UID, task.NodeName)
		}
	}
}

// ObserveBindings records where the pods of gangs are being bound.
func (h *History) ObserveBindings(jobs map[api.JobID]*api.JobInfo, gangs map[api.JobID]paddlejob.Gang) {
	for _, id := range slices.Sorted(maps.Keys(gangs)) {
		job, ok := jobs[id]
		if !ok {
			continue
		}
		binding := job.TaskStatusIndex[api.Binding]
		for _, task := range byName(binding) {
			h.recordPlacement(id, task.Name, task.NodeName)
		}
		if len(binding) > 0 {
			h.prune(job)
		}
	}
}

func byName(tasks map[api.TaskID]*api.TaskInfo) []*api.TaskInfo {
	return slices.SortedFunc(maps.Values(tasks), func(a, b *api.TaskInfo) int { return cmp.Compare(a.Name, b.Name) })
}

// Watch follows pods through the scheduler's informers, from the first call on. A session alone is not enough: a pod that
// fails is often deleted between two of them.
func (h *History) Watch(factory informers.SharedInformerFactory) {
	if factory == nil || !h.watching.CompareAndSwap(false, true) {
		return
	}
	_, err := factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(added any) { h.podChanged(&corev1.Pod{}, added) },
		UpdateFunc: h.podChanged,
	})
	if err != nil {
		h.watching.Store(false)
		klog.V(3).InfoS("Pods cannot be watched for failures; the next session tries again", "err", err)
	}
}

func (h *History) podChanged(before, after any) {
	old, ok := before.(*corev1.Pod)
	pod, is := after.(*corev1.Pod)
	if !ok || !is {
		return
	}
	bound := old.Spec.NodeName != pod.Spec.NodeName
	failed := !isNodeFault(old) && isNodeFault(pod)
	succeeded := old.Status.Phase != pod.Status.Phase && pod.Status.Phase == corev1.PodSucceeded
	group := pod.Annotations[scheduling.KubeGroupNameAnnotationKey]
	if pod.Spec.NodeName == "" || group == "" || !bound && !failed && !succeeded {
		return
	}
	job := api.JobID(pod.Namespace + "/" + group)
	if !h.knows(job) && !paddlejob.IsPaddlePod(pod) {
		return
	}
	if bound {
		h.recordPlacement(job, pod.Name, pod.Spec.NodeName)
	}
	if failed {
		h.RecordFailure(job, pod.Spec.NodeName)
	}
	if succeeded {
		h.recordSuccess(job)
	}
}
