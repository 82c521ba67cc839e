// SPDX-License-Identifier: Apache-2.0

package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ConditionType is the type of a condition.
type ConditionType string

// Condition types in the order of a job's life. Kubeflow's own are all but Stalled.
const (
	// ConditionStalled is True while the job cannot go on until the user changes something.
	ConditionStalled ConditionType = "Stalled"
	// ConditionCreated is True once the job is looked after.
	ConditionCreated ConditionType = "Created"
	// ConditionRunning is True while the job trains.
	ConditionRunning ConditionType = "Running"
	// ConditionRestarting is True from a failure until the job trains again.
	ConditionRestarting ConditionType = "Restarting"
	// ConditionSuspended is True while the job is suspended.
	ConditionSuspended ConditionType = "Suspended"
	// ConditionSucceeded is True once the job has succeeded.
	ConditionSucceeded ConditionType = "Succeeded"
	// ConditionFailed is True once the job has failed for good.
	ConditionFailed ConditionType = "Failed"
)

// JobStatus is what was seen of the job.
type JobStatus struct {
	// conditions tell the job's story; the last of them says what it is now.
	// +optional
	Conditions []JobCondition `json:"conditions,omitempty"`
	// replicaStatuses count the pods by role.
	// +optional
	ReplicaStatuses map[ReplicaType]*ReplicaStatus `json:"replicaStatuses,omitempty"`
	// startTime is when the job started.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// completionTime is when the job succeeded or failed.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
	// lastReconcileTime is written by Kubeflow's training operator alone.
	// +optional
	LastReconcileTime *metav1.Time `json:"lastReconcileTime,omitempty"`
}

// JobCondition is one thing that is so, or is not so any more.
type JobCondition struct {
	// type says what the condition is about.
	Type ConditionType `json:"type"`
	// status is True, False or Unknown.
	Status corev1.ConditionStatus `json:"status"`
	// reason is one word for why.
	// +optional
	Reason string `json:"reason,omitempty"`
	// message says it to people.
	// +optional
	Message string `json:"message,omitempty"`
	// lastUpdateTime is when anything of the condition changed.
	// +optional
	LastUpdateTime metav1.Time `json:"lastUpdateTime,omitempty"`
	// lastTransitionTime is when the status of the condition changed.
	// +optional
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty"`
}

// ReplicaStatus counts the pods of one role.
type ReplicaStatus struct {
	// active pods run.
	// +optional
	Active int32 `json:"active,omitempty"`
	// succeeded pods ended well.
	// +optional
	Succeeded int32 `json:"succeeded,omitempty"`
	// failed pods ended with an error.
	// +optional
	Failed int32 `json:"failed,omitempty"`
	// labelSelector was that of the pods before selector.
	// +optional
	LabelSelector *metav1.LabelSelector `json:"labelSelector,omitempty"`
	// selector is the label selector of the role's pods as text.
	// +optional
	Selector string `json:"selector,omitempty"`
}
