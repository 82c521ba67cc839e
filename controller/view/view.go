// SPDX-License-Identifier: Apache-2.0

package view

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
)

// View is what was seen of one PaddleJob. Objects are shared with the informers' caches and must not be changed.
type View struct {
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
	// SucceededFor is how long ago the last of the workers ended, where all have succeeded.
	SucceededFor time.Duration
	// Ends is how Volcano lately ended jobs whose workers have succeeded.
	Ends Ends
	// UnmadeSince is since when pods of a gang that was let in are missing, the zero time if none are.
	UnmadeSince time.Time
	// ShortSince is since when workers of an elastic job that trains are missing, the zero time if none are.
	ShortSince time.Time
	// Held is the number of workers that an elastic job is kept at, because the API server refuses more; nil if it is not.
	Held *Held
	// Refused is what the API server said of pods that Volcano cannot make, empty if it refuses none or that is not known.
	Refused string
	// FailedMount is the message of the kubelet's last event FailedMount about the pod that Mounting returns, empty if there is none
	// or it is not known.
	FailedMount string
	// Unheeded is for how long Volcano has read commands about VolcanoJob and has done nothing, 0 if it does what it is told.
	Unheeded time.Duration
	// Failure is the first failure of the latest attempt that had one, nil if none was seen.
	Failure *Failure

	// Operator is what paddle-operator made for Job and left behind.
	Operator Operator
	// Wanted is the PodGroup that the user made under Job's name, nil if there is none.
	Wanted *vcscheduling.PodGroup
	// NamespaceQueue is the queue that the namespace names for its jobs, "" if it names none or a Volcano Job exists.
	NamespaceQueue string
	// Occupied are objects in the place of those that have to be made.
	Occupied []Occupant
	// Predecessors are pods of an earlier job of the same name that are still there.
	Predecessors []*corev1.Pod
	// Forgetting is how much longer Volcano may take to forget an earlier Job of the same name.
	Forgetting time.Duration

	// TakenPorts are the ports of nodes that other jobs' pods have; nil where nobody looked.
	TakenPorts func() []render.Ports
	// Queue finds a queue by name, nil if there is none.
	Queue func(name string) *vcscheduling.Queue
	// Priority gives a PriorityClass's value, false if there is none.
	Priority func(class string) (int32, bool)
}

// Operator holds the children that paddle-operator gave a PaddleJob: it owned them directly.
type Operator struct {
	Pods        []*corev1.Pod
	Services    []*corev1.Service
	Environment *corev1.ConfigMap
	PodGroup    *vcscheduling.PodGroup
}

// Empty says whether nothing of paddle-operator's is there.
func (o Operator) Empty() bool {
	return len(o.Pods) == 0 && len(o.Services) == 0 && o.Environment == nil && o.PodGroup == nil
}

// Held is how many workers the API server lets an elastic job have.
type Held struct {
	Workers int32
	// Refused is what it said of another one.
	Refused string
	// Left is how much longer it is not asked for more.
	Left time.Duration
}

// Ends is what was seen of Volcano ending jobs, this and others, whose workers have succeeded.
type Ends struct {
	// Slowest is the longest that it lately took after a job's last worker had ended.
	Slowest time.Duration
	// Last is when it last ended one, the zero time if none was seen.
	Last time.Time
	// Newest is when the last worker ended of the job, among those that it ended, whose did so latest.
	Newest time.Time
}

// Occupant is an object of somebody else's that has a name which the job needs.
type Occupant struct {
	// Kind is the kind in words, for example "Volcano Job".
	Kind string
	// Name is the object's name.
	Name string
	// Leaving is true if the object is being deleted, or belongs to a deleted PaddleJob and soon will be.
	Leaving bool
}

// Failure is why an attempt of the gang ended.
type Failure struct {
	// Attempt is how often the gang had been restarted when the pod was made.
	Attempt int32
	// Reason is PodFailed or PodEvicted.
	Reason string
	// Told is true if Volcano had told the pod to end before.
	Told bool
	// Message names the pod and says how it ended.
	Message string
}

// Finished says whether the job has ended for good.
func Finished(job *v1.PaddleJob) bool {
	return job.Status.Phase == v1.Completed || job.Status.Phase == v1.Failed
}

// Reasons of a Failure.
const (
	ReasonPodFailed  = "PodFailed"
	ReasonPodEvicted = "PodEvicted"
)

// Ended says whether there is a Volcano Job whose gang does not run any more, or is about to stop for good.
func (v *View) Ended() bool {
	job := v.VolcanoJob
	if job == nil || v.Unretried() {
		return false
	}
	switch job.Status.State.Phase {
	case vcbatch.Completing, vcbatch.Completed, vcbatch.Terminating, vcbatch.Terminated, vcbatch.Failed:
		return true
	case vcbatch.Restarting:
		return job.Status.RetryCount >= job.Spec.MaxRetry
	}
	return false
}
