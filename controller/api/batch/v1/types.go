// SPDX-License-Identifier: Apache-2.0

package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PaddleJob is one PaddlePaddle training job: workers, and parameter servers where it has any.
//
// +genclient
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=pdj
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.worker.replicas,statuspath=.status.worker.replicas,selectorpath=.status.selector
// +kubebuilder:validation:XValidation:rule="has(self.status) || self.metadata.name.matches('^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$')",message="metadata.name cannot be the name of the job's Service: use at most 63 lower case letters, digits and '-', beginning with a letter and not ending with '-'"
// +kubebuilder:validation:XValidation:rule="has(self.status) || !has(self.spec) || !has(self.spec.ps) || size(self.metadata.name) + 4 + size(string(self.spec.ps.replicas - 1)) <= 63",message="metadata.name is too long: with '-ps-' and an index it must fit into the 63 characters of a host name; shorten it"
// +kubebuilder:validation:XValidation:rule="has(self.status) || !has(self.spec) || !has(self.spec.worker) || size(self.metadata.name) + 8 + size(string(self.spec.worker.replicas - 1)) <= 63",message="metadata.name is too long: with '-worker-' and an index it must fit into the 63 characters of a host name; shorten it"
// +kubebuilder:validation:XValidation:rule="has(self.status) || !has(self.spec) || !has(self.spec.heter) || size(self.metadata.name) + 7 + size(string(self.spec.heter.replicas - 1)) <= 63",message="metadata.name is too long: with '-heter-' and an index it must fit into the 63 characters of a host name; shorten it"
// +kubebuilder:validation:XValidation:rule="has(self.status) || has(self.spec)",message="spec has no role: set spec.worker, and spec.ps too for training with parameter servers"
// +kubebuilder:printcolumn:name="STATUS",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="MODE",type=string,JSONPath=`.status.mode`
// +kubebuilder:printcolumn:name="PS",type=string,JSONPath=`.status.ps.ready`
// +kubebuilder:printcolumn:name="WORKER",type=string,JSONPath=`.status.worker.ready`
// +kubebuilder:printcolumn:name="REASON",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
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
	// CleanNever keeps every finished pod.
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

// PaddleJobSpec defines the desired state of a PaddleJob.
//
// +kubebuilder:validation:XValidation:rule="has(self.worker)",message="spec.worker is missing: set it; parameter servers do not train by themselves"
// +kubebuilder:validation:XValidation:rule="!has(self.heter) || has(self.ps)",message="spec.heter needs spec.ps: heterogeneous workers train with parameter servers; set spec.ps too, or make them spec.worker"
// +kubebuilder:validation:XValidation:rule="!has(self.runPolicy) || !has(self.runPolicy.restartScope) || self.runPolicy.restartScope != 'Pod' || has(self.ps)",message="spec.runPolicy.restartScope Pod is for workers of PS mode: set spec.ps too, or use Gang"
// +kubebuilder:validation:XValidation:rule="!has(self.schedulingPolicy) || !has(self.schedulingPolicy.minAvailable) || self.schedulingPolicy.minAvailable <= (has(self.ps) ? self.ps.replicas : 0) + (has(self.worker) ? self.worker.replicas : 0) + (has(self.heter) ? self.heter.replicas : 0)",message="spec.schedulingPolicy.minAvailable is more than the job's pods: lower it, or leave it out to mean all of them"
// +kubebuilder:validation:XValidation:rule="!(has(self.elastic) || (has(self.elasticPolicy) && has(self.elasticPolicy.minReplicas))) || (!has(self.ps) && !has(self.heter))",message="spec.elasticPolicy is for workers that train without servers: leave minReplicas, maxReplicas and spec.elastic out, or leave spec.ps and spec.heter out"
// +kubebuilder:validation:XValidation:rule="!has(self.elasticPolicy) || !has(self.elasticPolicy.minReplicas) || !has(self.worker) || (!has(self.worker.requests) && !has(self.worker.limits))",message="spec.worker.requests and spec.worker.limits are the deprecated names of spec.elasticPolicy.minReplicas and maxReplicas: leave them out"
// +kubebuilder:validation:XValidation:rule="!has(self.elasticPolicy) || !has(self.elasticPolicy.minReplicas) || !has(self.elasticPolicy.maxReplicas) || !has(self.worker) || (self.worker.replicas >= self.elasticPolicy.minReplicas && self.worker.replicas <= self.elasticPolicy.maxReplicas)",message="spec.worker.replicas is outside of spec.elasticPolicy.minReplicas to maxReplicas: choose a number between them"
// +kubebuilder:validation:XValidation:rule="!has(self.elastic) || !has(self.worker) || !has(self.worker.requests) || (self.worker.requests >= 1 && self.worker.requests <= self.worker.replicas)",message="spec.worker.requests, the minimum of elastic workers, must be 1 or more and at most spec.worker.replicas: correct one of them"
// +kubebuilder:validation:XValidation:rule="!has(self.elastic) || !has(self.worker) || !has(self.worker.limits) || self.worker.limits >= self.worker.replicas",message="spec.worker.limits, the maximum of elastic workers, must be at least spec.worker.replicas: correct one of them"
// +kubebuilder:validation:XValidation:rule="has(self.ps) || !has(self.worker) || self.worker.replicas < 2 || has(self.elastic) || (has(self.elasticPolicy) && has(self.elasticPolicy.minReplicas)) || !has(self.worker.template) || !has(self.worker.template.spec) || !has(self.worker.template.spec.restartPolicy) || self.worker.template.spec.restartPolicy != 'OnFailure'",message="spec.worker.template.spec.restartPolicy OnFailure would make a collective job hang: the other workers do not see that a container restarts in place; use Never, the whole job then restarts"
// +kubebuilder:validation:XValidation:rule="!has(self.parallelism) || (!has(self.ps) && !has(self.heter))",message="spec.parallelism is for workers that train without servers: leave it out, or leave spec.ps and spec.heter out"
// +kubebuilder:validation:XValidation:rule="!has(self.parallelism) || !has(self.schedulingPolicy) || !has(self.schedulingPolicy.parallelGroupSize)",message="spec.parallelism says more than spec.schedulingPolicy.parallelGroupSize: leave parallelGroupSize out"
// +kubebuilder:validation:XValidation:rule="has(self.managedBy) == has(oldSelf.managedBy) && (!has(self.managedBy) || self.managedBy == oldSelf.managedBy)",message="spec.managedBy is immutable: delete the PaddleJob and create it again"
type PaddleJobSpec struct {
	// cleanPodPolicy says when the pods of a finished job are deleted: Always, Never, OnFailure or OnCompletion (the
	// default). Any other value is treated as Never.
	// +optional
	CleanPodPolicy CleanPodPolicy `json:"cleanPodPolicy,omitempty"`

	// managedBy names the controller that runs the job. Unset, or batch.paddlepaddle.org/paddlejob-controller, is this project's
	// controller, which ignores jobs of any other value. It is a domain and a path, and cannot change.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[A-Za-z0-9][-A-Za-z0-9._~/]*$')",message="spec.managedBy must be a domain, a slash and a path, such as kueue.x-k8s.io/multikueue: correct it, or leave it out"
	// +optional
	ManagedBy *string `json:"managedBy,omitempty"`

	// schedulingPolicy is what the scheduler needs to know about the job as a whole.
	// +optional
	SchedulingPolicy *SchedulingPolicy `json:"schedulingPolicy,omitempty"`

	// parallelism holds the degrees of hybrid parallelism that the workers' program trains with: ranks that exchange much are
	// placed near each other.
	// +optional
	Parallelism *Parallelism `json:"parallelism,omitempty"`

	// intranet says how the pods reach each other: PodIP (the default), Service or Host.
	// +optional
	Intranet Intranet `json:"intranet,omitempty"`

	// withGloo switches gloo on in PS mode: 0 off, 1 for workers, 2 for workers and servers.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2
	// +optional
	WithGloo *int32 `json:"withGloo,omitempty"`

	// ps describes the parameter servers. A job that has any is in PS mode.
	// +optional
	PS *ResourceSpec `json:"ps,omitempty"`

	// worker describes the workers. Without ps, one worker is mode Single and more are mode Collective.
	// +optional
	Worker *ResourceSpec `json:"worker,omitempty"`

	// heter describes the heterogeneous workers of PS mode.
	// +optional
	Heter *ResourceSpec `json:"heter,omitempty"`

	// elastic makes the workers elastic when it is set, with any number.
	//
	// Deprecated: set elasticPolicy.minReplicas and elasticPolicy.maxReplicas.
	// +kubebuilder:validation:Maximum=2147483647
	// +optional
	Elastic *int32 `json:"elastic,omitempty"`

	// elasticPolicy makes the workers elastic when it has minReplicas and maxReplicas: they find each other through etcd, and
	// their number may change while the job trains.
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
//
// +kubebuilder:validation:XValidation:rule="has(self.template) && has(self.template.spec) && size(self.template.spec.containers) > 0",message="template.spec.containers is empty: add the container that trains"
// +kubebuilder:validation:XValidation:rule="!has(self.template) || !has(self.template.spec) || !has(self.template.spec.ephemeralContainers) || size(self.template.spec.ephemeralContainers) == 0",message="template.spec.ephemeralContainers cannot be in a template: leave it out"
// +kubebuilder:validation:XValidation:rule="!has(self.template) || !has(self.template.spec) || !has(self.template.spec.restartPolicy) || size(self.template.spec.restartPolicy) == 0 || self.template.spec.restartPolicy in ['Always', 'OnFailure', 'Never']",message="template.spec.restartPolicy does not exist: use Never, or leave it out"
type ResourceSpec struct {
	// replicas is the number of pods of this role.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	Replicas int32 `json:"replicas"`
	// requests is the minimum number of pods of an elastic role.
	//
	// Deprecated: set spec.elasticPolicy.minReplicas.
	// +kubebuilder:validation:Maximum=2147483647
	// +optional
	Requests *int32 `json:"requests,omitempty"`
	// limits is the maximum number of pods of an elastic role.
	//
	// Deprecated: set spec.elasticPolicy.maxReplicas.
	// +kubebuilder:validation:Maximum=2147483647
	// +optional
	Limits *int32 `json:"limits,omitempty"`
	// template is the pod that each member of the role is made from.
	// +optional
	Template corev1.PodTemplateSpec `json:"template,omitempty"`
}

// SampleSetRef names the claim of a data set.
type SampleSetRef struct {
	// name of the PersistentVolumeClaim.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="spec.sampleSetRef.name is not the name of a PersistentVolumeClaim: set it to one of the job's namespace"
	Name string `json:"name"`
	// namespace of the claim; a pod can only mount claims of its own namespace.
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// mountPath is where container 0 sees the data.
	// +kubebuilder:validation:MaxLength=4096
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^:]+$')",message="spec.sampleSetRef.mountPath cannot be mounted: set it to a path without a colon"
	MountPath string `json:"mountPath"`
}
