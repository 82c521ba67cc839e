// SPDX-License-Identifier: Apache-2.0

package observed

import (
	"time"

	"k8s.io/utils/ptr"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/controller/builder"
)

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
	attempt := s.Attempt()
	return (attempt == AttemptNew || attempt == AttemptPending) && s.Admitted() && int32(len(s.Pods)) < s.Total()
}

// WorkersMissing reports whether an elastic job that trains has fewer pods than Volcano is to make.
func (s *State) WorkersMissing() bool {
	return s.Attempt() == AttemptRunning && builder.Scalable(s.Job) &&
		int32(len(s.Pods)) < s.Total()
}

// TerminatedByVolcano reports whether Volcano, or somebody, has just terminated the job: its end is not written down yet.
func (s *State) TerminatedByVolcano() bool {
	return s.Attempt() == AttemptTerminated && !Finished(s.Job)
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

// FirstFailure returns the first pod that has failed, nil if none has, and when it did: the zero time if nobody wrote that down.
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
