// SPDX-License-Identifier: Apache-2.0

package paddle

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

// blames tells whether a pod that has ended, or is about to, speaks against its node: it failed there by itself, the
// kubelet refused or evicted it, or something else took it from the node. Not so pods that a scheduler preempts, nor those
// that are killed as their gang starts again.
func blames(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue {
			return c.Reason != corev1.PodReasonPreemptionByScheduler
		}
	}
	return pod.Status.Phase == corev1.PodFailed && pod.DeletionTimestamp == nil
}

// open notes what a session shows of pods that have ended. Of jobs without any it reads two counts only.
func (m *memory) open(jobs map[api.JobID]*api.JobInfo) {
	var ended []api.JobID
	for id, job := range jobs {
		if len(job.TaskStatusIndex[api.Failed])+len(job.TaskStatusIndex[api.Succeeded]) > 0 {
			ended = append(ended, id)
		}
	}
	slices.Sort(ended)
	for _, id := range ended {
		m.ended(jobs[id])
	}
}

// ended notes pods of a job that have ended. What failed while another has succeeded is forgotten at once.
func (m *memory) ended(job *api.JobInfo) {
	if len(job.TaskStatusIndex[api.Succeeded]) > 0 {
		m.succeeded(job.UID)
		return
	}
	if !paddlejob.IsPaddle(job) {
		return
	}
	for _, task := range byName(job.TaskStatusIndex[api.Failed]) {
		if task.NodeName != "" && blames(task.Pod) {
			m.failed(job.UID, task.NodeName)
		}
	}
}

// close notes where the pods of gangs are being bound.
func (m *memory) close(jobs map[api.JobID]*api.JobInfo, gangs map[api.JobID]paddlejob.Gang) {
	for _, id := range slices.Sorted(maps.Keys(gangs)) {
		job, ok := jobs[id]
		if !ok {
			continue
		}
		binding := job.TaskStatusIndex[api.Binding]
		for _, task := range byName(binding) {
			m.placed(id, task.Name, task.NodeName)
		}
		if len(binding) > 0 {
			m.prune(job)
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

// watch follows pods through the scheduler's informers, from the first call on. A session alone is not enough: a pod that
// fails is often deleted between two of them.
func (m *memory) watch(factory informers.SharedInformerFactory) {
	if factory == nil || !m.watching.CompareAndSwap(false, true) {
		return
	}
	_, err := factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(added any) {
			if pod, ok := added.(*corev1.Pod); ok {
				m.changed(&corev1.Pod{}, pod)
			}
		},
		UpdateFunc: func(before, after any) {
			old, ok := before.(*corev1.Pod)
			pod, is := after.(*corev1.Pod)
			if ok && is {
				m.changed(old, pod)
			}
		},
	})
	if err != nil {
		m.watching.Store(false)
		klog.V(3).InfoS("Pods cannot be watched for failures; the next session tries again", "err", err)
	}
}

// changed notes what became of a pod that has a node.
func (m *memory) changed(old, pod *corev1.Pod) {
	bound := old.Spec.NodeName != pod.Spec.NodeName
	failed := !blames(old) && blames(pod)
	succeeded := old.Status.Phase != pod.Status.Phase && pod.Status.Phase == corev1.PodSucceeded
	group := pod.Annotations[scheduling.KubeGroupNameAnnotationKey]
	if pod.Spec.NodeName == "" || group == "" || !bound && !failed && !succeeded {
		return
	}
	job := api.JobID(pod.Namespace + "/" + group)
	if !m.knows(job) && !paddlejob.IsPaddlePod(pod) {
		return
	}
	if bound {
		m.placed(job, pod.Name, pod.Spec.NodeName)
	}
	if failed {
		m.failed(job, pod.Spec.NodeName)
	}
	if succeeded {
		m.succeeded(job)
	}
}
