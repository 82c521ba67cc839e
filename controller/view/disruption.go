// SPDX-License-Identifier: Apache-2.0

package view

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/paddle-volcano/paddle-volcano/controller/keys"
)

// Reasons of DisruptionTarget after a node was lost: the condition comes later than the loss.
const (
	reasonTaintManager = "DeletionByTaintManager"
	reasonPodGC        = "DeletionByPodGC"
	// reasonNodeLost is the status.reason of a pod whose kubelet does not answer.
	reasonNodeLost = "NodeLost"
)

// Disruption reports whether a pod was evicted, preempted, deleted by somebody other than Volcano, or lost with its node, and
// since when: the zero time for a lost node. A pod that had failed before is not disrupted.
func Disruption(pod *corev1.Pod) (since time.Time, ok bool) {
	if pod.Status.Phase == corev1.PodSucceeded {
		return time.Time{}, false
	}
	if pod.Status.Phase == corev1.PodUnknown || pod.Status.Reason == reasonNodeLost {
		return time.Time{}, true
	}
	for _, c := range pod.Status.Conditions {
		if c.Type != corev1.DisruptionTarget || c.Status != corev1.ConditionTrue {
			continue
		}
		if c.Reason == reasonTaintManager || c.Reason == reasonPodGC {
			return time.Time{}, true
		}
		since, ok = c.LastTransitionTime.Time, true
	}
	if !ok && pod.DeletionTimestamp != nil && pod.Annotations[keys.OutOfSync] == "" {
		since, ok = pod.DeletionTimestamp.Time, true
		if grace := pod.DeletionGracePeriodSeconds; grace != nil {
			since = since.Add(-time.Duration(*grace) * time.Second)
		}
	}
	if failed, known := failedAt(pod); ok && known && failed.Before(since) {
		return time.Time{}, false
	}
	return since, ok
}

// failedAt is when the first of a pod's containers failed; false if none has, or nobody wrote down when.
func failedAt(pod *corev1.Pod) (first time.Time, ok bool) {
	for i := range pod.Status.ContainerStatuses {
		end := pod.Status.ContainerStatuses[i].State.Terminated
		if end != nil && end.ExitCode != 0 && !end.FinishedAt.IsZero() && (!ok || end.FinishedAt.Time.Before(first)) {
			first, ok = end.FinishedAt.Time, true
		}
	}
	return first, ok
}

// Disrupted reports whether the present attempt of the gang ends because pods were disrupted. Peers that fail after that
// fail for it; a failure before it is one of the program.
func (v *View) Disrupted() bool {
	if v.Failure != nil && v.Failure.Reason == ReasonPodEvicted && v.Failure.Attempt == v.VolcanoJob.Status.RetryCount {
		return true
	}
	var first, failed time.Time
	disrupted, failure := false, false
	for _, m := range v.Members() {
		if attempt, ok := Attempt(m.Pod); ok && attempt != v.VolcanoJob.Status.RetryCount {
			continue
		}
		if since, ok := Disruption(m.Pod); ok {
			if !disrupted || since.Before(first) {
				first = since
			}
			disrupted = true
		} else if at, ok := failedAt(m.Pod); ok && m.FailedItself() {
			if !failure || at.Before(failed) {
				failed = at
			}
			failure = true
		}
	}
	return disrupted && (!failure || !failed.Before(first))
}
