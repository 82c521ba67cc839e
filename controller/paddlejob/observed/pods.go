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
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
)

// PodState is how far a pod has come.
type PodState int

// States of a pod. A pod that is being deleted is Leaving unless it has finished before.
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

// Disruption reports whether a pod was evicted, preempted, deleted by anything but Volcano, or lost with its node, and
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

// failedAt is when the first of a pod's containers failed; false if none has, or the time is not known.
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

// creationGap is more time than passes between two pods that Volcano creates for one attempt, and more than the clocks of API
// servers differ, which tell when pods are created and bound.
const creationGap = 10 * time.Second

// PartlyRecreated reports whether pods run whose peers Volcano has recreated without them, and since when. That is so if a pod is of
// an earlier attempt, or if one without which the gang does not start was created long after another was bound: the scheduler binds
// none before all of these exist. A gang of which Volcano creates pods slowly has no gap between them.
func (s *State) PartlyRecreated() (since time.Time, ok bool) {
	var needed, bound time.Time // the last creation of a pod that the gang needs to start, and the first binding
	var created []time.Time
	for _, m := range s.RolePods() {
		if m.Pod.DeletionTimestamp != nil || m.State == Succeeded || m.State == Failed {
			continue
		}
		attempt, known := Attempt(m.Pod)
		ok = ok || known && attempt < s.VolcanoJob.Status.RetryCount
		at := m.Pod.CreationTimestamp.Time
		created = append(created, at)
		total, minimum := s.Size(m.Role)
		alone := m.Role == builder.RoleWorker && RestartsPods(s.VolcanoJob)
		if total == minimum && !alone && at.After(needed) {
			needed = at
		}
		for _, c := range m.Pod.Status.Conditions {
			if at := c.LastTransitionTime.Time; c.Type == corev1.PodScheduled && c.Status == corev1.ConditionTrue && (bound.IsZero() || at.Before(bound)) {
				bound = at
			}
		}
	}
	slices.SortFunc(created, time.Time.Compare)
	since = s.VolcanoJob.Status.State.LastTransitionTime.Time
	for i, at := range created {
		gap := i > 0 && at.Sub(created[i-1]) > creationGap
		ok = ok || gap && !needed.Before(at) && !bound.IsZero() && at.Sub(bound) > creationGap
		if at.After(since) {
			since = at
		}
	}
	return since, ok
}

// Roles are the roles' names in the order in which everything about them is listed.
var Roles = []string{builder.RolePS, builder.RoleWorker, builder.RoleHeter}

// Size is how many pods of a role the gang has and the number below which it does not start: those of the Volcano Job,
// which is what runs, or of the spec where there is none yet.
func (s *State) Size(role string) (total, minimum int32) {
	if s.VolcanoJob == nil {
		for _, r := range builder.Roles(s.Job) {
			if r.Name == role {
				return r.Spec.Replicas, r.Spec.Replicas
			}
		}
		return 0, 0
	}
	for i := range s.VolcanoJob.Spec.Tasks {
		task := &s.VolcanoJob.Spec.Tasks[i]
		if task.Name == role {
			return task.Replicas, ptr.Deref(task.MinAvailable, task.Replicas)
		}
	}
	return 0, 0
}

// Admitted reports whether the queue has admitted the gang.
func (s *State) Admitted() bool {
	return s.PodGroup != nil && s.PodGroup.Status.Phase != "" && s.PodGroup.Status.Phase != vcscheduling.PodGroupPending
}

// PodsMissing reports whether pods are missing that Volcano is to make at once: the queue has admitted the gang.
func (s *State) PodsMissing() bool {
	phase := s.Phase()
	return (phase == "" || phase == vcbatch.Pending) && s.Admitted() && int32(len(s.Pods)) < s.Total()
}

// WorkersMissing reports whether an elastic job that trains has fewer pods than Volcano is to make.
func (s *State) WorkersMissing() bool {
	return s.Phase() == vcbatch.Running && builder.Scalable(s.Job) &&
		int32(len(s.Pods)) < s.Total()
}

// Total is how many pods the gang has.
func (s *State) Total() (total int32) {
	for _, role := range Roles {
		n, _ := s.Size(role)
		total += n
	}
	return total
}

// RolePods are the pods that run the job: those of the Volcano Job, or paddle-operator's where it started the job.
func (s *State) RolePods() []*RolePod {
	pods := s.Pods
	if s.VolcanoJob == nil {
		pods = s.Operator.Pods
	}
	members := make([]*RolePod, 0, len(pods))
	for _, pod := range pods {
		members = append(members, NewRolePod(pod))
	}
	return members
}

// AllSucceeded reports whether every worker that the job has has succeeded.
func (s *State) AllSucceeded() bool {
	total, _ := s.Size(builder.RoleWorker)
	done, _ := s.succeeded()
	return total > 0 && done >= total
}

// Succeeded reports whether training has: every worker has succeeded, or if they are elastic, every worker that has started,
// and as many as training needs at least.
func (s *State) Succeeded() bool {
	if s.AllSucceeded() {
		return true
	}
	if s.VolcanoJob == nil || !builder.Elastic(s.Job) {
		return false
	}
	_, least := s.Size(builder.RoleWorker)
	done, rest := s.succeeded()
	return rest && done >= max(least, 1)
}

// succeeded is how many workers have succeeded, and whether none of the others has started.
func (s *State) succeeded() (done int32, rest bool) {
	seen := map[int]bool{}
	rest = true
	for _, m := range s.RolePods() {
		switch {
		case m.Role != builder.RoleWorker || m.State == Unscheduled:
		case m.State == Succeeded:
			seen[m.Index] = true
		default:
			rest = false
		}
	}
	return int32(len(seen)), rest
}

// LastEnd is when the last container of the workers ended; the zero time if none is known to have.
func (s *State) LastEnd() time.Time {
	var last time.Time
	for _, m := range s.RolePods() {
		if m.Role != builder.RoleWorker {
			continue
		}
		for i := range m.Pod.Status.ContainerStatuses {
			if end := m.Pod.Status.ContainerStatuses[i].State.Terminated; end != nil && end.FinishedAt.After(last) {
				last = end.FinishedAt.Time
			}
		}
	}
	return last
}

// FirstFailure returns the first pod that has failed, nil if none has, and when it did: the zero time if that is not known.
func (s *State) FirstFailure() (first *RolePod, at time.Time) {
	for _, m := range s.RolePods() {
		if !m.FailedByItself() {
			continue
		}
		if failed, known := failedAt(m.Pod); first == nil || known && (at.IsZero() || failed.Before(at)) {
			first, at = m, failed
		}
	}
	return first, at
}
