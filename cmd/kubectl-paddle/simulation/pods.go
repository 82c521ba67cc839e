// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"fmt"
	"maps"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/snapshot"
)

// podsOf returns the pods that Volcano's Job controller makes of a Job, as the API server completes them.
// Source: createJobPod in pkg/controllers/job/job_controller_util.go, v1.14.1.
func (c *cluster) podsOf(job *vcbatch.Job) (pods []*corev1.Pod) {
	for i := range job.Spec.Tasks {
		task := &job.Spec.Tasks[i]
		for index := range int(task.Replicas) {
			pods = append(pods, c.podOf(job, task, index))
		}
	}
	return pods
}

func (c *cluster) podOf(job *vcbatch.Job, task *vcbatch.TaskSpec, index int) *corev1.Pod {
	number := strconv.Itoa(index)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("%s-%s-%d", job.Name, task.Name, index), Namespace: job.Namespace,
			UID: types.UID(fmt.Sprintf("%s-%s-%s-%d", job.Namespace, job.UID, task.Name, index)), CreationTimestamp: job.CreationTimestamp,
			Labels: map[string]string{}, Annotations: map[string]string{},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job, vcbatch.SchemeGroupVersion.WithKind("Job"))},
		},
		Spec:   *task.Template.Spec.DeepCopy(),
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	maps.Copy(pod.Labels, task.Template.Labels)
	maps.Copy(pod.Annotations, task.Template.Annotations)
	for key, value := range map[string]string{
		vcbatch.TaskIndex: number, vcbatch.TaskSpecKey: task.Name, vcbatch.JobNameKey: job.Name, vcbatch.QueueNameKey: job.Spec.Queue,
	} {
		pod.Labels[key], pod.Annotations[key] = value, value
	}
	pod.Labels[vcbatch.JobNamespaceKey] = job.Namespace
	pod.Annotations[vcscheduling.KubeGroupNameAnnotationKey] = snapshot.GroupOf(job)
	pod.Annotations[vcbatch.JobVersion] = strconv.Itoa(int(job.Status.Version))
	pod.Annotations[vcbatch.JobRetryCountKey] = strconv.Itoa(int(job.Status.RetryCount))
	pod.Annotations[vcbatch.PodTemplateKey] = job.Name + "-" + task.Name
	for _, key := range []string{vcscheduling.PodPreemptable, vcscheduling.CooldownTime} {
		copyKey(pod.Labels, job.Labels, key)
	}
	for _, key := range []string{
		vcscheduling.PodPreemptable, vcscheduling.CooldownTime, vcscheduling.RevocableZone, vcscheduling.JDBMinAvailable, vcscheduling.JDBMaxUnavailable,
	} {
		copyKey(pod.Annotations, job.Annotations, key)
	}
	if task.TopologyPolicy != "" {
		pod.Annotations[vcscheduling.NumaPolicyKey] = string(task.TopologyPolicy)
	}
	if parts := task.PartitionPolicy; parts != nil {
		pod.Labels[vcbatch.TaskPartitionID] = strconv.Itoa(index / max(int(parts.PartitionSize), 1))
	}
	if pod.Spec.SchedulerName == "" {
		pod.Spec.SchedulerName = job.Spec.SchedulerName
	}
	if pod.Spec.PriorityClassName == "" {
		pod.Spec.PriorityClassName = job.Spec.PriorityClassName
	}
	if pod.Spec.Priority == nil {
		value := c.priority(pod.Spec.PriorityClassName)
		pod.Spec.Priority = &value
	}
	complete(pod.Spec.Containers)
	complete(pod.Spec.InitContainers)
	return pod
}

func copyKey(to, from map[string]string, key string) {
	if value, ok := from[key]; ok {
		to[key] = value
	}
}

// complete does what the API server does: limits are also requests where there are none.
func complete(containers []corev1.Container) {
	for i := range containers {
		r := &containers[i].Resources
		for name, amount := range r.Limits {
			if _, ok := r.Requests[name]; ok {
				continue
			}
			if r.Requests == nil {
				r.Requests = corev1.ResourceList{}
			}
			r.Requests[name] = amount.DeepCopy()
		}
	}
}
