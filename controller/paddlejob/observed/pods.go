// SPDX-License-Identifier: Apache-2.0

package observed

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// PodState is how far a pod has come.
type PodState int

// States of a pod. A pod that is being deleted is Leaving unless it has ended before.
const (
	Unscheduled PodState = iota
	Starting
	Running
	Succeeded
	Failed
	Unknown
	Terminating
)

// RolePod is one pod in its role.
type RolePod struct {
	Pod   *corev1.Pod
	Role  string
	Index int
	State PodState
}

// NewRolePod reads a pod's role, index and state. The index is -1 where neither Volcano's label nor the name holds one.
func NewRolePod(pod *corev1.Pod) *RolePod {
	role := pod.Labels[vcbatch.TaskSpecKey]
	if role == "" {
		role = pod.Labels[v1.ResourceTypeLabel]
	}
	text, ok := pod.Labels[v1.TaskIndexLabel]
	if !ok {
		text = pod.Name[strings.LastIndexByte(pod.Name, '-')+1:]
	}
	index, err := strconv.Atoi(text)
	if err != nil {
		index = -1
	}
	return &RolePod{Pod: pod, Role: role, Index: index, State: stateOf(pod)}
}

// Attempt is how often the gang had been restarted when Volcano made a pod; false if it does not say.
func Attempt(pod *corev1.Pod) (int32, bool) {
	attempt, err := strconv.ParseInt(pod.Annotations[vcbatch.JobRetryCountKey], 10, 32)
	return int32(attempt), err == nil
}

func stateOf(pod *corev1.Pod) PodState {
	switch {
	case pod.Status.Phase == corev1.PodSucceeded:
		return Succeeded
	case pod.Status.Phase == corev1.PodFailed:
		return Failed
	case pod.DeletionTimestamp != nil:
		return Terminating
	case pod.Status.Phase == corev1.PodUnknown:
		return Unknown
	case pod.Spec.NodeName == "":
		return Unscheduled
	case pod.Status.Phase != corev1.PodRunning, waiting(pod):
		return Starting
	}
	return Running
}

// waiting is true between two starts of a container that restarts in place.
func waiting(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool {
		return c.State.Waiting != nil
	})
}

// Started reports whether a container of the role itself, not only an init container, may have started.
func (m *RolePod) Started() bool {
	phase := m.Pod.Status.Phase
	return phase == corev1.PodRunning || phase == corev1.PodSucceeded || phase == corev1.PodFailed
}

// SortPods orders pods by role and index.
func SortPods(pods []*corev1.Pod) {
	slices.SortFunc(pods, func(a, b *corev1.Pod) int {
		x, y := NewRolePod(a), NewRolePod(b)
		return cmp.Or(
			cmp.Compare(slices.Index(Roles, x.Role), slices.Index(Roles, y.Role)),
			cmp.Compare(x.Index, y.Index),
			cmp.Compare(a.Name, b.Name),
		)
	})
}

// FailedByItself reports whether a pod has failed that Volcano had not stopped.
func (m *RolePod) FailedByItself() bool {
	return m.State == Failed && m.Pod.Annotations[v1.OutOfSyncAnnotation] == ""
}

// TerminationMessage says how a pod that has failed did so, in words.
func TerminationMessage(pod *corev1.Pod) string {
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range statuses {
			end := statuses[i].State.Terminated
			if end == nil || end.ExitCode == 0 {
				continue
			}
			text := fmt.Sprintf("%s exited with code %d", pod.Name, end.ExitCode)
			if end.Reason != "" && end.Reason != "Error" {
				text += " (" + end.Reason + ")"
			}
			return text
		}
	}
	if pod.Status.Reason != "" {
		return strings.TrimSpace(fmt.Sprintf("%s failed: %s %s", pod.Name, pod.Status.Reason, pod.Status.Message))
	}
	return pod.Name + " failed"
}

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
	if !ok && pod.DeletionTimestamp != nil && pod.Annotations[v1.OutOfSyncAnnotation] == "" {
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
func (s *State) Disrupted() bool {
	if s.Failure != nil && s.Failure.Reason == ReasonPodEvicted && s.Failure.Attempt == s.VolcanoJob.Status.RetryCount {
		return true
	}
	var first, failed time.Time
	disrupted, failure := false, false
	for _, m := range s.RolePods() {
		if attempt, ok := Attempt(m.Pod); ok && attempt != s.VolcanoJob.Status.RetryCount {
			continue
		}
		if since, ok := Disruption(m.Pod); ok {
			if !disrupted || since.Before(first) {
				first = since
			}
			disrupted = true
		} else if at, ok := failedAt(m.Pod); ok && m.FailedByItself() {
			if !failure || at.Before(failed) {
				failed = at
			}
			failure = true
		}
	}
	return disrupted && (!failure || !failed.Before(first))
}
