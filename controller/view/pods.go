// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/controller/keys"
)

// State is how far a pod has come.
type State int

// States of a pod. A pod that is being deleted is Leaving unless it has ended before.
const (
	Unplaced State = iota
	Starting
	Running
	Succeeded
	Failed
	Unknown
	Leaving
)

// Member is one pod in its role.
type Member struct {
	Pod   *corev1.Pod
	Role  string
	Index int
	State State
}

// NewMember reads a pod's role, index and state. The index is -1 where neither Volcano's label nor the name holds one.
func NewMember(pod *corev1.Pod) *Member {
	role := pod.Labels[vcbatch.TaskSpecKey]
	if role == "" {
		role = pod.Labels[keys.ResourceType]
	}
	text, ok := pod.Labels[keys.TaskIndex]
	if !ok {
		text = pod.Name[strings.LastIndexByte(pod.Name, '-')+1:]
	}
	index, err := strconv.Atoi(text)
	if err != nil {
		index = -1
	}
	return &Member{Pod: pod, Role: role, Index: index, State: stateOf(pod)}
}

// Attempt is how often the gang had been restarted when Volcano made a pod; false if it does not say.
func Attempt(pod *corev1.Pod) (int32, bool) {
	attempt, err := strconv.ParseInt(pod.Annotations[vcbatch.JobRetryCountKey], 10, 32)
	return int32(attempt), err == nil
}

func stateOf(pod *corev1.Pod) State {
	switch {
	case pod.Status.Phase == corev1.PodSucceeded:
		return Succeeded
	case pod.Status.Phase == corev1.PodFailed:
		return Failed
	case pod.DeletionTimestamp != nil:
		return Leaving
	case pod.Status.Phase == corev1.PodUnknown:
		return Unknown
	case pod.Spec.NodeName == "":
		return Unplaced
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

// Begun says whether a container of the role itself, not only an init container, may have started.
func (m *Member) Begun() bool {
	phase := m.Pod.Status.Phase
	return phase == corev1.PodRunning || phase == corev1.PodSucceeded || phase == corev1.PodFailed
}

// SortPods orders pods by role and index.
func SortPods(pods []*corev1.Pod) {
	slices.SortFunc(pods, func(a, b *corev1.Pod) int {
		x, y := NewMember(a), NewMember(b)
		return cmp.Or(
			cmp.Compare(slices.Index(Roles, x.Role), slices.Index(Roles, y.Role)),
			cmp.Compare(x.Index, y.Index),
			cmp.Compare(a.Name, b.Name),
		)
	})
}

// FailedItself reports whether a pod has failed that Volcano had not told to end.
func (m *Member) FailedItself() bool {
	return m.State == Failed && m.Pod.Annotations[keys.OutOfSync] == ""
}

// Ending says how a pod that has failed did so, in words.
func Ending(pod *corev1.Pod) string {
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
