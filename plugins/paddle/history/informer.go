// SPDX-License-Identifier: Apache-2.0

package history

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	"volcano.sh/volcano/pkg/scheduler/api"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
)

// isNodeFault reports whether a pod that has ended, or is about to, counts against its node: it failed there by itself, the
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

// ObserveEnded records what a session shows of pods that have ended. Of jobs without any it reads two counts only.
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

// observeEnded records pods of a job that have ended. What failed while another has succeeded is forgotten at once.
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
	sorted := make([]*api.TaskInfo, 0, len(tasks))
	for _, task := range tasks {
		sorted = append(sorted, task)
	}
	slices.SortFunc(sorted, func(a, b *api.TaskInfo) int { return cmp.Compare(a.Name, b.Name) })
	return sorted
}

// Watch follows pods through the scheduler's informers, from the first call on. A session alone is not enough: a pod that
// fails is often deleted between two of them.
func (h *History) Watch(factory informers.SharedInformerFactory) {
	if factory == nil || !h.watching.CompareAndSwap(false, true) {
		return
	}
	_, err := factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(added any) {
			if pod, ok := added.(*corev1.Pod); ok {
				h.podChanged(&corev1.Pod{}, pod)
			}
		},
		UpdateFunc: func(before, after any) {
			old, ok := before.(*corev1.Pod)
			pod, is := after.(*corev1.Pod)
			if ok && is {
				h.podChanged(old, pod)
			}
		},
	})
	if err != nil {
		h.watching.Store(false)
		klog.V(3).InfoS("Pods cannot be watched for failures; the next session tries again", "err", err)
	}
}

// podChanged records what became of a pod that has a node.
func (h *History) podChanged(old, pod *corev1.Pod) {
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
