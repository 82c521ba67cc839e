// SPDX-License-Identifier: Apache-2.0

package kubeflow

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	batchv1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	kubeflowv1 "github.com/paddle-volcano/paddle-volcano/controller/api/kubeflow/v1"
)

// Next is the status of a job after what was seen and what was planned for it. What a status has once said of the past
// (that the job has ended, when it started) stays, also when its PaddleJob is gone.
func Next(v *State, plan *Plan) *kubeflowv1.JobStatus {
	next := v.Job.Status.DeepCopy()
	made := v.Made()
	if v.Job.DeletionTimestamp != nil || ManagedExternally(v.Job) || made == nil && isTerminal(next) {
		return next
	}
	s := &conditionSetter{next: next, job: v.Job, now: metav1.NewTime(v.Now).Rfc3339Copy()}
	if !isTerminal(next) {
		s.created(made, plan)
		s.suspended(made)
		s.restarting(made)
		s.running(made)
		s.stalled(made, plan)
		s.ended(made)
	}
	s.times(made)
	s.counts(made)
	return next
}

// isTerminal reports whether the status is that of a job that has ended for good, whoever wrote it.
func isTerminal(status *kubeflowv1.JobStatus) bool {
	return isTrue(status, kubeflowv1.ConditionSucceeded) || isTrue(status, kubeflowv1.ConditionFailed)
}

func (s *conditionSetter) times(made *batchv1.PaddleJob) {
	next := s.next
	if made != nil && next.StartTime == nil {
		next.StartTime = made.Status.StartTime.DeepCopy()
	}
	if next.CompletionTime == nil && isTerminal(next) {
		next.CompletionTime = s.now.DeepCopy()
		if made != nil && made.Status.CompletionTime != nil {
			next.CompletionTime = made.Status.CompletionTime.DeepCopy()
		}
	}
}

// counts the pods of each role. Those of a job that has ended are never fewer than they were.
func (s *conditionSetter) counts(made *batchv1.PaddleJob) {
	next := s.next
	before := next.ReplicaStatuses
	next.ReplicaStatuses = maps.Clone(before)
	for _, name := range roleNames(s.job) {
		var seen *batchv1.ResourceStatus
		if made != nil {
			seen = made.Status.Worker
			if name == kubeflowv1.Master {
				seen = made.Status.PS
			}
		}
		count := &kubeflowv1.ReplicaStatus{}
		if old := before[name]; old != nil {
			count = old.DeepCopy()
		}
		count.Active = 0
		count.Selector = labels.SelectorFromSet(podLabels(s.job.Name, name)).String()
		switch {
		case seen == nil:
		case isTerminal(next):
			count.Succeeded = max(count.Succeeded, int32(seen.Succeeded))
			count.Failed = max(count.Failed, int32(seen.Failed))
		default:
			count.Active, count.Succeeded, count.Failed = int32(seen.Running), int32(seen.Succeeded), int32(seen.Failed)
		}
		if next.ReplicaStatuses == nil {
			next.ReplicaStatuses = map[kubeflowv1.ReplicaType]*kubeflowv1.ReplicaStatus{}
		}
		next.ReplicaStatuses[name] = count
	}
}

// roleNames are the roles that a job has, as they are properly written.
func roleNames(job *kubeflowv1.PaddleJob) []kubeflowv1.ReplicaType {
	var names []kubeflowv1.ReplicaType
	for _, name := range []kubeflowv1.ReplicaType{kubeflowv1.Master, kubeflowv1.Worker} {
		if slices.ContainsFunc(slices.Collect(maps.Keys(job.Spec.PaddleReplicaSpecs)), func(theirs kubeflowv1.ReplicaType) bool {
			return strings.EqualFold(string(theirs), string(name))
		}) {
			names = append(names, name)
		}
	}
	return names
}

// conditionOf is a condition of a PaddleJob, nil if it has none such or there is no PaddleJob.
func conditionOf(made *batchv1.PaddleJob, kind string) *metav1.Condition {
	if made == nil {
		return nil
	}
	return meta.FindStatusCondition(made.Status.Conditions, kind)
}

func holds(c *metav1.Condition) bool { return c != nil && c.Status == metav1.ConditionTrue }
