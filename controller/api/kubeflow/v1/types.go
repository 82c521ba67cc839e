// SPDX-License-Identifier: Apache-2.0

package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PaddleJob is a PaddlePaddle training job in Kubeflow's form.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.paddleReplicaSpecs.Worker.replicas,statuspath=.status.replicaStatuses.Worker.active,selectorpath=.status.replicaStatuses.Worker.selector
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.conditions[-1:].type`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type PaddleJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   PaddleJobSpec `json:"spec,omitempty"`
	Status JobStatus     `json:"status,omitempty"`
}

// PaddleJobList is a list of PaddleJobs.
//
// +kubebuilder:object:root=true
type PaddleJobList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PaddleJob `json:"items"`
}

// ReplicaType is a role of a job.
type ReplicaType string

const (
	// Master pods are the parameter servers of a job that has any.
	Master ReplicaType = "Master"
	// Worker pods train.
	Worker ReplicaType = "Worker"
)

// PaddleJobSpec is what the user wants.
type PaddleJobSpec struct {
	// runPolicy says how the job as a whole is scheduled, stopped, ended and forgotten.
	// +optional
	RunPolicy RunPolicy `json:"runPolicy,omitempty"`

	// elasticPolicy bounds the number of workers.
	// +optional
	ElasticPolicy *ElasticPolicy `json:"elasticPolicy,omitempty"`

	// paddleReplicaSpecs are the pods by role: Worker, and Master for training with parameter servers.
	PaddleReplicaSpecs map[ReplicaType]*ReplicaSpec `json:"paddleReplicaSpecs"`
}

// RestartPolicy says what becomes of a pod that ends.
type RestartPolicy string

const (
	// RestartAlways starts it again whatever happened.
	RestartAlways RestartPolicy = "Always"
	// RestartOnFailure starts it again after a failure; it is what an empty policy means.
	RestartOnFailure RestartPolicy = "OnFailure"
	// RestartNever lets the job fail.
	RestartNever RestartPolicy = "Never"
	// RestartExitCode lets the job fail after exit codes 1 to 127, and starts the pod again after others.
	RestartExitCode RestartPolicy = "ExitCode"
)

// ReplicaSpec describes the pods of one role.
type ReplicaSpec struct {
	// replicas is the number of pods of this role; unset means 1.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`
	// template is the pod that each member of the role is made from; the container named paddle is the one that trains.
	// +optional
	Template corev1.PodTemplateSpec `json:"template,omitempty"`
	// restartPolicy is Always, OnFailure, Never or ExitCode; unset means OnFailure.
	// +optional
	RestartPolicy RestartPolicy `json:"restartPolicy,omitempty"`
}
