// SPDX-License-Identifier: Apache-2.0

package v1

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
)

// CleanPodPolicy says which pods of a finished job are deleted.
type CleanPodPolicy string

const (
	// CleanAll deletes every pod.
	CleanAll CleanPodPolicy = "All"
	// CleanRunning deletes the pods that still run.
	CleanRunning CleanPodPolicy = "Running"
	// CleanNone deletes none; it is what an empty policy means.
	CleanNone CleanPodPolicy = "None"
)

// ManagedByTrainingOperator is the runPolicy.managedBy of jobs that are for the controller of PaddleJobs.
const ManagedByTrainingOperator = "kubeflow.org/training-operator"

// RunPolicy says how the job as a whole is scheduled, stopped, ended and forgotten.
type RunPolicy struct {
	// cleanPodPolicy says which pods of a finished job are deleted: All, Running or None.
	// +optional
	CleanPodPolicy *CleanPodPolicy `json:"cleanPodPolicy,omitempty"`
	// ttlSecondsAfterFinished is how long a job that has ended is kept; unset keeps it.
	// +optional
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`
	// activeDeadlineSeconds is how long the job may take.
	// +optional
	ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds,omitempty"`
	// backoffLimit is how often the job is started again after failures.
	// +optional
	BackoffLimit *int32 `json:"backoffLimit,omitempty"`
	// schedulingPolicy holds what the scheduler is told about the job as a whole.
	// +optional
	SchedulingPolicy *SchedulingPolicy `json:"schedulingPolicy,omitempty"`
	// suspend stops the job while it is true.
	// +kubebuilder:default:=false
	// +optional
	Suspend *bool `json:"suspend,omitempty"`
	// managedBy names who looks after the job: kubeflow.org/training-operator, which is what unset means, or another
	// controller, which then does it alone.
	// +optional
	ManagedBy *string `json:"managedBy,omitempty"`
}

// SchedulingPolicy is what the job asks of the scheduler.
type SchedulingPolicy struct {
	// minAvailable is the number of pods below which nothing starts; unset means all of them.
	// +optional
	MinAvailable *int32 `json:"minAvailable,omitempty"`
	// queue is the Volcano queue; unset means "default".
	// +optional
	Queue string `json:"queue,omitempty"`
	// minResources are the resources that must be free before the job is let in.
	// +optional
	MinResources corev1.ResourceList `json:"minResources,omitempty"`
	// priorityClass is the PriorityClass of the job.
	// +optional
	PriorityClass string `json:"priorityClass,omitempty"`
	// scheduleTimeoutSeconds is for schedulers other than Volcano.
	// +optional
	ScheduleTimeoutSeconds *int32 `json:"scheduleTimeoutSeconds,omitempty"`
}

// ElasticPolicy bounds the number of workers.
type ElasticPolicy struct {
	// minReplicas is the least number of workers.
	// +optional
	MinReplicas *int32 `json:"minReplicas,omitempty"`
	// maxReplicas is the greatest number of workers.
	// +optional
	MaxReplicas *int32 `json:"maxReplicas,omitempty"`
	// maxRestarts is how often workers start their training again when others have come or gone.
	// +optional
	MaxRestarts *int32 `json:"maxRestarts,omitempty"`
	// metrics would be those of a HorizontalPodAutoscaler.
	// +optional
	Metrics []autoscalingv2.MetricSpec `json:"metrics,omitempty"`
}
