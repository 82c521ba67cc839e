// SPDX-License-Identifier: Apache-2.0

// Package observed is the state of one PaddleJob and of all objects that belong to it, as read at one moment. It decides
// nothing, reads no API and has no clock.
package observed

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
)

// State is what was seen of one PaddleJob. Objects are shared with the informers' caches and must not be changed.
type State struct {
	// Now is when it was seen.
	Now time.Time
	// Job is the PaddleJob, never nil.
	Job *v1.PaddleJob
	// VolcanoJob is the Volcano Job that Job controls, nil if there is none.
	VolcanoJob *vcbatch.Job
	// PodGroup is the one whose name VolcanoJob's pods carry, nil if there is none.
	PodGroup *vcscheduling.PodGroup
	// Environment is the ConfigMap with the pods' addresses, nil if there is none.
	Environment *corev1.ConfigMap
	// Pods are those that VolcanoJob controls, by role and index.
	Pods []*corev1.Pod
	// PodsMissingSince is since when pods of a gang that was admitted are missing, the zero time if none are.
	PodsMissingSince time.Time
	// WorkersMissingSince is since when workers of an elastic job that trains are missing, the zero time if none are.
	WorkersMissingSince time.Time
	// WorkerCap is the number of workers that an elastic job is kept at, because the API server refuses more; nil if it is not.
	WorkerCap *WorkerCap
	// PodCreateError is what the API server said of pods that Volcano cannot make, empty if it refuses none or that is not known.
	PodCreateError string
	// FailedMount is the message of the kubelet's last event FailedMount about the pod that Mounting returns, empty if there is none
	// or it is not known.
	FailedMount string
	// UnacknowledgedFor is for how long Volcano has read commands about VolcanoJob without an effect, 0 if it executes them.
	UnacknowledgedFor time.Duration
	// EarlierCommand is true if VolcanoJob's state is taken to come from a command that was given about an earlier Volcano Job of its name, or
	// about an earlier attempt.
	EarlierCommand bool
	// Failure is the first failure of the latest attempt that had one, nil if none was seen.
	Failure *Failure

	// Operator is what paddle-operator made for Job and left behind.
	Operator Operator
	// UserPodGroup is the PodGroup that the user made under Job's name, nil if there is none.
	UserPodGroup *vcscheduling.PodGroup
	// NamespaceQueue is the queue that the namespace names for its jobs, "" if it names none or a Volcano Job exists.
	NamespaceQueue string
	// TrainingConfig is the training YAML that spec.parallelism names, nil if there is none or a Volcano Job exists.
	TrainingConfig *string
	// NameConflicts are objects with the names of those that have to be created.
	NameConflicts []NameConflict
	// Predecessors are pods of an earlier job of the same name that are still there.
	Predecessors []*corev1.Pod
	// NameReservedFor is how much longer Volcano may take to forget an earlier Job of the same name.
	NameReservedFor time.Duration

	// TakenPorts are the ports of nodes that other jobs' pods have; nil where they were not read.
	TakenPorts func() []builder.Ports
	// Queue finds a queue by name, nil if there is none.
	Queue func(name string) *vcscheduling.Queue
	// PriorityClassExists reports whether there is a PriorityClass of a name.
	PriorityClassExists func(name string) bool
}

// Operator holds the children that paddle-operator gave a PaddleJob: it owned them directly.
type Operator struct {
	Pods        []*corev1.Pod
	Services    []*corev1.Service
	Environment *corev1.ConfigMap
	PodGroup    *vcscheduling.PodGroup
}

// Empty reports whether nothing of paddle-operator's is there.
func (o Operator) Empty() bool {
	return len(o.Pods) == 0 && len(o.Services) == 0 && o.Environment == nil && o.PodGroup == nil
}

// WorkerCap is how many workers of an elastic job the API server accepts.
type WorkerCap struct {
	Workers int32
	// PodCreateError is its answer about another one.
	PodCreateError string
	// Until is when more are requested again.
	Until time.Time
}

// NameConflict is an object of another owner that has a name which the job needs.
type NameConflict struct {
	// Kind is the kind in words, for example "Volcano Job".
	Kind string
	// Name is the object's name.
	Name string
	// Terminating is true if the object is being deleted, or belongs to a deleted PaddleJob and soon will be.
	Terminating bool
}

// Failure is why an attempt of the gang ended.
type Failure struct {
	// Attempt is how often the gang had been restarted when the pod was made.
	Attempt int32
	// Reason is PodFailed or PodEvicted.
	Reason string
	// ByVolcano is true if Volcano had stopped the pod before.
	ByVolcano bool
	// Message names the pod and says how it ended.
	Message string
}

// Finished reports whether the job has finished.
func Finished(job *v1.PaddleJob) bool { return Outcome(&job.Status) != "" }

// Outcome returns how a job has finished, Completed or Failed, "" for one that has not. Nothing else reads the phase: only
// paddle-operator has left jobs that have one and no conditions.
func Outcome(status *v1.PaddleJobStatus) v1.Phase {
	phase := status.Phase
	switch {
	case meta.IsStatusConditionTrue(status.Conditions, v1.ConditionFailed):
		return v1.Failed
	case meta.IsStatusConditionTrue(status.Conditions, v1.ConditionSucceeded):
		return v1.Completed
	case len(status.Conditions) == 0 && (phase == v1.Completed || phase == v1.Failed):
		return phase
	}
	return ""
}

// Restarting reports whether the status says that an attempt of the gang is over, and that the next one has not begun.
func Restarting(status *v1.PaddleJobStatus) bool {
	c := meta.FindStatusCondition(status.Conditions, v1.ConditionAdmitted)
	return c != nil && c.Reason == ReasonRestarting
}

// Placed reports whether the status says that a job that has not ended has pods on nodes, or has just lost them to a failure.
func Placed(status *v1.PaddleJobStatus) bool {
	return Outcome(status) == "" && (meta.IsStatusConditionTrue(status.Conditions, v1.ConditionScheduled) || Restarting(status))
}

// SuspendSet reports whether the spec suspends the job.
func SuspendSet(job *v1.PaddleJob) bool {
	return job.Spec.RunPolicy != nil && ptr.Deref(job.Spec.RunPolicy.Suspend, false)
}

// ReasonRestarting is the reason of the condition Admitted, and others, between two attempts of the gang.
const ReasonRestarting = "Restarting"

// Reasons of a Failure.
const (
	ReasonPodFailed  = "PodFailed"
	ReasonPodEvicted = "PodEvicted"
)

// Ended reports whether there is a Volcano Job whose gang does not run any more, or is about to stop permanently.
func (s *State) Ended() bool {
	phase := s.Phase()
	return (IsEnded(phase) || phase == vcbatch.Completing || phase == vcbatch.Terminating) && !s.NeedsRecreation()
}

// Active is how long the job has been active: since its creation, or since its last resumption if it was suspended, as a
// Job of batch/v1. A suspended job is not active.
func (s *State) Active() time.Duration {
	since := s.Job.CreationTimestamp.Time
	if c := meta.FindStatusCondition(s.Job.Status.Conditions, v1.ConditionSuspended); c != nil {
		if c.Status == metav1.ConditionTrue {
			return 0
		}
		since = c.LastTransitionTime.Time
	}
	return s.Now.Sub(since)
}

// Phase returns Volcano's phase of the present attempt to run the gang; "" also for a job without a Volcano Job.
func (s *State) Phase() vcbatch.JobPhase {
	if s.VolcanoJob == nil {
		return ""
	}
	return s.VolcanoJob.Status.State.Phase
}

// IsActive reports whether the gang is to be scheduled, or runs. Volcano deletes the PodGroup on every restart and at the end, and one
// that is created meanwhile would hold unused capacity of the queue.
func IsActive(phase vcbatch.JobPhase) bool {
	return phase == "" || phase == vcbatch.Pending || phase == vcbatch.Running
}

// IsAborted reports whether the gang runs again only when the Volcano Job is resumed.
func IsAborted(phase vcbatch.JobPhase) bool {
	return phase == vcbatch.Aborting || phase == vcbatch.Aborted
}

// IsEnded reports whether the gang does not run again.
func IsEnded(phase vcbatch.JobPhase) bool {
	return phase == vcbatch.Completed || phase == vcbatch.Terminated || phase == vcbatch.Failed
}

// CommandOf has the action of the command that brings a Volcano Job into a phase, where one does.
var CommandOf = map[vcbatch.JobPhase]vcbus.Action{
	vcbatch.Aborting: vcbus.AbortJobAction, vcbatch.Aborted: vcbus.AbortJobAction,
	vcbatch.Completing: vcbus.CompleteJobAction, vcbatch.Completed: vcbus.CompleteJobAction,
	vcbatch.Terminating: vcbus.TerminateJobAction, vcbatch.Terminated: vcbus.TerminateJobAction,
}
