// SPDX-License-Identifier: Apache-2.0

package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Mode is how a job trains.
type Mode string

const (
	// ModePS trains with parameter servers.
	ModePS Mode = "PS"
	// ModeCollective trains with workers that reduce among themselves.
	ModeCollective Mode = "Collective"
	// ModeSingle trains with one worker.
	ModeSingle Mode = "Single"
)

// Phase is a job's state in one word.
type Phase string

const (
	// Pending jobs have pods that are not placed, or no pods yet.
	Pending Phase = "Pending"
	// Starting jobs are placed, and at least one pod is not running yet.
	Starting Phase = "Starting"
	// Running jobs train.
	Running Phase = "Running"
	// Restarting jobs have lost a pod and start again, at once or after a delay.
	Restarting Phase = "Restarting"
	// Suspended jobs have no pods, because spec.runPolicy.suspend says so.
	Suspended Phase = "Suspended"
	// Completed jobs have succeeded.
	Completed Phase = "Completed"
	// Failed jobs have failed permanently.
	Failed Phase = "Failed"
	// Terminating jobs are being deleted.
	Terminating Phase = "Terminating"
)

// Condition types of a PaddleJob, in the order of its life.
const (
	// ConditionReady is the summary of the others: True while every pod of the gang runs and once the job has succeeded. While it
	// is False, its reason and message are those of the condition that explains why.
	ConditionReady = "Ready"
	// ConditionStalled is True while the job cannot continue until the user changes something; its message says what.
	ConditionStalled = "Stalled"
	// ConditionCreated is True once the Volcano Job exists.
	ConditionCreated = "Created"
	// ConditionAdmitted is True once the queue has admitted the gang.
	ConditionAdmitted = "Admitted"
	// ConditionScheduled is True once the gang is placed; while it is False its message says why.
	ConditionScheduled = "Scheduled"
	// ConditionRunning is True while every pod of the gang runs.
	ConditionRunning = "Running"
	// ConditionLauncherUsable is False while paddle.distributed.launch cannot start the gang because of the pods' addresses;
	// otherwise absent.
	ConditionLauncherUsable = "LauncherUsable"
	// ConditionSuspended is True while spec.runPolicy.suspend keeps the job from running; absent until it first does.
	ConditionSuspended = "Suspended"
	// ConditionRestarting is True from a failure until the gang runs again.
	ConditionRestarting = "Restarting"
	// ConditionSucceeded is True once every worker has succeeded.
	ConditionSucceeded = "Succeeded"
	// ConditionFailed is True once the job has failed permanently.
	ConditionFailed = "Failed"
)

// PaddleJobStatus defines the observed state of a PaddleJob.
type PaddleJobStatus struct {
	// phase is the job's state in one word, for people and for programs written for paddle-operator. Programs read conditions.
	// +optional
	Phase Phase `json:"phase,omitempty"`

	// mode is how the job trains: PS, Collective or Single.
	// +optional
	Mode Mode `json:"mode,omitempty"`

	// queue is the Volcano queue that the job was sent to.
	// +optional
	Queue string `json:"queue,omitempty"`

	// ps counts the parameter servers.
	// +optional
	PS *ResourceStatus `json:"ps,omitempty"`

	// worker counts the workers.
	// +optional
	Worker *ResourceStatus `json:"worker,omitempty"`

	// heter counts the heterogeneous workers.
	// +optional
	Heter *ResourceStatus `json:"heter,omitempty"`

	// selector is the label selector of the workers' pods, as text, which the scale subresource gives to autoscalers.
	// +optional
	Selector string `json:"selector,omitempty"`

	// elastic is a field of paddle-operator.
	//
	// Deprecated: it is not written.
	// +optional
	Elastic *string `json:"elastic,omitempty"`

	// restarts is how often the gang was started again after a failure or an eviction.
	// +optional
	Restarts int32 `json:"restarts,omitempty"`

	// failures is how many failures count towards backoffLimit: those of the gang, and those of workers that are started
	// again alone. Evictions do not count.
	// +optional
	Failures int32 `json:"failures,omitempty"`

	// recreations is how often the Volcano Job was deleted to be recreated: for a change of the spec before the job began,
	// for a suspension, or by another program.
	// +optional
	Recreations int32 `json:"recreations,omitempty"`

	// startTime is when all pods of the gang first ran.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// completionTime is when the job succeeded or failed.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// observedGeneration is the generation of the spec that this status was worked out from.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are the job's state by aspect: Ready is their summary.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ResourceStatus counts the pods of one role.
type ResourceStatus struct {
	// replicas is the number of pods that exist and have not ended.
	// +optional
	Replicas int32 `json:"replicas,omitempty"`
	// ready is running and wanted pods as text, for example "2/2".
	// +optional
	Ready string `json:"ready,omitempty"`
	// pending pods are not placed.
	// +optional
	Pending int32 `json:"pending,omitempty"`
	// starting pods are placed and not running yet.
	// +optional
	Starting int32 `json:"starting,omitempty"`
	// running pods train.
	// +optional
	Running int32 `json:"running,omitempty"`
	// failed pods ended with an error.
	// +optional
	Failed int32 `json:"failed,omitempty"`
	// succeeded pods ended well.
	// +optional
	Succeeded int32 `json:"succeeded,omitempty"`
	// unknown pods are on nodes that do not answer.
	// +optional
	Unknown int32 `json:"unknown,omitempty"`
	// refs point to the pods with the ten lowest indexes, in index order. All pods of a job bear its label
	// batch.paddlepaddle.org/job-name.
	// +listType=atomic
	// +optional
	Refs []corev1.ObjectReference `json:"refs,omitempty"`
}
