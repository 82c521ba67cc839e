// SPDX-License-Identifier: Apache-2.0

package v1

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PaddleJob is a PaddlePaddle training job in Kubeflow's form.
//
// +genclient
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
	RunPolicy RunPolicy `json:"runPolicy,omitempty"`

	// elasticPolicy bounds the number of workers.
	ElasticPolicy *ElasticPolicy `json:"elasticPolicy,omitempty"`

	// paddleReplicaSpecs are the pods by role: Worker, and Master for training with parameter servers.
	PaddleReplicaSpecs map[ReplicaType]*ReplicaSpec `json:"paddleReplicaSpecs"`
}

// RestartExitCode is the restartPolicy that Kubernetes does not have: the job fails after exit codes 1 to 127, and after others the pod
// starts again.
const RestartExitCode corev1.RestartPolicy = "ExitCode"

// ReplicaSpec describes the pods of one role.
type ReplicaSpec struct {
	// replicas is the number of pods of this role; unset means 1.
	Replicas *int32 `json:"replicas,omitempty"`
	// template is the pod that each member of the role is made from; the container named paddle is the one that trains.
	Template corev1.PodTemplateSpec `json:"template,omitempty"`
	// restartPolicy is Always, OnFailure, Never or ExitCode; unset means OnFailure.
	RestartPolicy corev1.RestartPolicy `json:"restartPolicy,omitempty"`
}

// ManagedByTrainingOperator is the runPolicy.managedBy of jobs that are for the controller of PaddleJobs.
const ManagedByTrainingOperator = "kubeflow.org/training-operator"

// RunPolicy says how the job as a whole is scheduled, stopped, ended and forgotten.
type RunPolicy struct {
	// cleanPodPolicy says which pods of a finished job are deleted: All, Running or None.
	CleanPodPolicy *string `json:"cleanPodPolicy,omitempty"`
	// ttlSecondsAfterFinished is how long a finished job is kept; unset keeps it.
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`
	// activeDeadlineSeconds is how long the job may take.
	ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds,omitempty"`
	// backoffLimit is how often the job is started again after failures.
	BackoffLimit *int32 `json:"backoffLimit,omitempty"`
	// schedulingPolicy holds what the scheduler needs to know about the job as a whole.
	SchedulingPolicy *SchedulingPolicy `json:"schedulingPolicy,omitempty"`
	// suspend stops the job while it is true.
	// +kubebuilder:default:=false
	Suspend *bool `json:"suspend,omitempty"`
	// managedBy names who looks after the job: kubeflow.org/training-operator, which is what unset means, or another
	// controller, which then does it alone.
	ManagedBy *string `json:"managedBy,omitempty"`
}

// SchedulingPolicy is what the job asks of the scheduler.
type SchedulingPolicy struct {
	// minAvailable is the number of pods below which nothing starts; unset means all of them.
	MinAvailable *int32 `json:"minAvailable,omitempty"`
	// queue is the Volcano queue; unset means "default".
	Queue string `json:"queue,omitempty"`
	// minResources are the resources that must be free before the job is admitted.
	MinResources corev1.ResourceList `json:"minResources,omitempty"`
	// priorityClass is the PriorityClass of the job.
	PriorityClass string `json:"priorityClass,omitempty"`
	// scheduleTimeoutSeconds is for schedulers other than Volcano.
	ScheduleTimeoutSeconds *int32 `json:"scheduleTimeoutSeconds,omitempty"`
}

// ElasticPolicy bounds the number of workers.
type ElasticPolicy struct {
	// minReplicas is the least number of workers.
	MinReplicas *int32 `json:"minReplicas,omitempty"`
	// maxReplicas is the greatest number of workers.
	MaxReplicas *int32 `json:"maxReplicas,omitempty"`
	// maxRestarts is how often workers start their training again when others have come or gone.
	MaxRestarts *int32 `json:"maxRestarts,omitempty"`
	// metrics would be those of a HorizontalPodAutoscaler.
	Metrics []autoscalingv2.MetricSpec `json:"metrics,omitempty"`
}

// JobStatus is what was seen of the job.
type JobStatus struct {
	// conditions are the job's history; the last one is its current state.
	Conditions []JobCondition `json:"conditions,omitempty"`
	// replicaStatuses count the pods by role.
	ReplicaStatuses map[ReplicaType]*ReplicaStatus `json:"replicaStatuses,omitempty"`
	// startTime is when the job started.
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// completionTime is when the job succeeded or failed.
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
	// lastReconcileTime is written by Kubeflow's training operator alone.
	LastReconcileTime *metav1.Time `json:"lastReconcileTime,omitempty"`
}

// JobCondition is one thing that is so, or is not so any more.
type JobCondition struct {
	// type says what the condition is about.
	Type string `json:"type"`
	// status is True, False or Unknown.
	Status corev1.ConditionStatus `json:"status"`
	// reason is a CamelCase word.
	Reason string `json:"reason,omitempty"`
	// message says it to people.
	Message string `json:"message,omitempty"`
	// lastUpdateTime is when anything of the condition changed.
	LastUpdateTime metav1.Time `json:"lastUpdateTime,omitempty"`
	// lastTransitionTime is when the status of the condition changed.
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty"`
}

// ReplicaStatus counts the pods of one role.
type ReplicaStatus struct {
	// active pods run.
	Active int32 `json:"active,omitempty"`
	// succeeded pods ended well.
	Succeeded int32 `json:"succeeded,omitempty"`
	// failed pods ended with an error.
	Failed int32 `json:"failed,omitempty"`
	// labelSelector was that of the pods before selector.
	LabelSelector *metav1.LabelSelector `json:"labelSelector,omitempty"`
	// selector is the label selector of the role's pods as text.
	Selector string `json:"selector,omitempty"`
}
