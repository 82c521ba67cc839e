// SPDX-License-Identifier: Apache-2.0

package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PaddleJob is one PaddlePaddle training job: parameter servers, workers, or both.
//
// +genclient
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=pdj
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="STATUS",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="MODE",type=string,JSONPath=`.status.mode`
// +kubebuilder:printcolumn:name="PS",type=string,JSONPath=`.status.ps.ready`
// +kubebuilder:printcolumn:name="WORKER",type=string,JSONPath=`.status.worker.ready`
// +kubebuilder:printcolumn:name="QUEUE",type=string,JSONPath=`.status.queue`,priority=1
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=`.metadata.creationTimestamp`
type PaddleJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   PaddleJobSpec   `json:"spec,omitempty"`
	Status PaddleJobStatus `json:"status,omitempty"`
}

// PaddleJobList is a list of PaddleJobs.
//
// +kubebuilder:object:root=true
type PaddleJobList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PaddleJob `json:"items"`
}

// CleanPodPolicy says when the pods of a finished job are deleted. Any other text than the constants below is accepted
// and treated as Never: published manifests hold misspelt values, and an enum would refuse what works today.
type CleanPodPolicy string

const (
	// CleanAlways deletes the pods after success and after failure.
	CleanAlways CleanPodPolicy = "Always"
	// CleanNever keeps every pod that has ended.
	CleanNever CleanPodPolicy = "Never"
	// CleanOnFailure deletes the pods only after failure.
	CleanOnFailure CleanPodPolicy = "OnFailure"
	// CleanOnCompletion deletes the pods only after success. It is what an empty policy means.
	CleanOnCompletion CleanPodPolicy = "OnCompletion"
)

// Intranet says by which addresses the pods of a job reach each other.
type Intranet string

const (
	// PodIP uses the pods' IPs, known once all of them are placed. It is what an empty intranet means, unless the
	// controller was started with another --default-intranet.
	PodIP Intranet = "PodIP"
	// Service uses one DNS name per pod, known before any pod exists.
	Service Intranet = "Service"
	// Host uses the nodes' network.
	Host Intranet = "Host"
)

// PaddleJobSpec is what the user wants.
//
// +kubebuilder:validation:XValidation:rule="!has(self.runPolicy) || !has(self.runPolicy.restartScope) || self.runPolicy.restartScope != 'Pod' || has(self.ps)",message="runPolicy.restartScope Pod is for workers of PS mode: set spec.ps too, or use Gang"
type PaddleJobSpec struct {
	// cleanPodPolicy says when the pods of a finished job are deleted: Always, Never, OnFailure or OnCompletion (the
	// default). Any other value is treated as Never.
	// +optional
	CleanPodPolicy CleanPodPolicy `json:"cleanPodPolicy,omitempty"`

	// schedulingPolicy holds what the scheduler is told about the job as a whole.
	// +optional
	SchedulingPolicy *SchedulingPolicy `json:"schedulingPolicy,omitempty"`

	// intranet says how the pods reach each other: PodIP (the default), Service or Host.
	// +optional
	Intranet Intranet `json:"intranet,omitempty"`

	// withGloo switches gloo on in PS mode: 0 off, 1 for workers, 2 for workers and servers.
	// +optional
	WithGloo *int `json:"withGloo,omitempty"`

	// ps describes the parameter servers. A job that has any is in PS mode.
	// +optional
	PS *ResourceSpec `json:"ps,omitempty"`

	// worker describes the workers. Without ps, one worker is mode Single and more are mode Collective.
	// +optional
	Worker *ResourceSpec `json:"worker,omitempty"`

	// heter describes the heterogeneous workers of PS mode.
	// +optional
	Heter *ResourceSpec `json:"heter,omitempty"`

	// elastic switches elastic training on when it is set, with any number: workers, between requests and limits of them,
	// find each other through etcd, and come and go while the job trains.
	// +optional
	Elastic *int `json:"elastic,omitempty"`

	// elasticPolicy says how elastic training works; it counts only where elastic is set.
	// +optional
	ElasticPolicy *ElasticPolicy `json:"elasticPolicy,omitempty"`

	// runPolicy says how the job as a whole is stopped, started again, ended and forgotten.
	// +optional
	RunPolicy *RunPolicy `json:"runPolicy,omitempty"`

	// sampleSetRef mounts the claim of a data set into container 0 of every role.
	// +optional
	SampleSetRef *SampleSetRef `json:"sampleSetRef,omitempty"`
}

// ResourceSpec describes the pods of one role.
type ResourceSpec struct {
	// replicas is the number of pods of this role.
	Replicas int `json:"replicas"`
	// requests is the least number of pods of an elastic role.
	// +optional
	Requests *int `json:"requests,omitempty"`
	// limits is the greatest number of pods of an elastic role.
	// +optional
	Limits *int `json:"limits,omitempty"`
	// template is the pod that each member of the role is made from.
	// +optional
	Template corev1.PodTemplateSpec `json:"template,omitempty"`
}

// SampleSetRef names the claim of a data set.
type SampleSetRef struct {
	// name of the PersistentVolumeClaim.
	Name string `json:"name"`
	// namespace of the claim; a pod can only mount claims of its own namespace.
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// mountPath is where container 0 sees the data.
	MountPath string `json:"mountPath"`
}
