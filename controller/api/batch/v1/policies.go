// SPDX-License-Identifier: Apache-2.0

package v1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// SchedulingPolicy is what the job asks of the scheduler.
type SchedulingPolicy struct {
	// minAvailable is the number of pods below which nothing starts; unset means all of them. A value below the total
	// lowers the workers' minimum, never the servers', and never below one worker.
	// +optional
	MinAvailable *int32 `json:"minAvailable,omitempty"`
	// queue is the Volcano queue; unset means the one that the annotation scheduling.volcano.sh/queue-name of the namespace names,
	// or "default".
	// +optional
	Queue string `json:"queue,omitempty"`
	// priorityClass is the PriorityClass of the job and of its pods.
	// +optional
	PriorityClass string `json:"priorityClass,omitempty"`
	// minResources are the resources that must be free in the queue before pods are made. Volcano works out from the
	// templates what the job's minimum needs; what is asked for here beyond that is heeded by the scheduler's plugin
	// paddle.
	// +optional
	MinResources corev1.ResourceList `json:"minResources,omitempty"`
	// networkTopology limits how far apart the job's pods may be.
	// +optional
	NetworkTopology *NetworkTopology `json:"networkTopology,omitempty"`
	// colocation says how near servers and workers must be: Preferred (as far as it pays), Required (no worker in a rack,
	// or whatever the scheduler's colocation-tier is, without a server) or None (traffic is left out). Unset is what the
	// scheduler's plugin paddle was told, by default Preferred.
	// +optional
	Colocation Colocation `json:"colocation,omitempty"`
	// parameterSize is the size of the model's parameters, for example 2Gi: what a step of training exchanges. The
	// scheduler's words about traffic are then in bytes.
	// +optional
	ParameterSize *resource.Quantity `json:"parameterSize,omitempty"`
	// parallelGroupSize is the number of consecutive ranks (GPUs) of one tensor or pipeline parallel group, which are
	// kept together before all else.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65536
	// +optional
	ParallelGroupSize *int32 `json:"parallelGroupSize,omitempty"`
}

// NetworkTopology limits how far apart the pods of a job may be, as Volcano's field of that name does.
//
// +kubebuilder:validation:XValidation:rule="!has(self.highestTierAllowed) || !has(self.highestTierName)",message="set highestTierAllowed or highestTierName, not both"
type NetworkTopology struct {
	// mode is hard (the default: the job waits until it fits) or soft (as near as can be).
	// +kubebuilder:validation:Enum=hard;soft
	// +optional
	Mode TopologyMode `json:"mode,omitempty"`
	// highestTierAllowed is the tier within one domain of which all pods must be.
	// +kubebuilder:validation:Minimum=0
	// +optional
	HighestTierAllowed *int `json:"highestTierAllowed,omitempty"`
	// highestTierName is the same by name.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	HighestTierName string `json:"highestTierName,omitempty"`
}

// TopologyMode says what becomes of a job that does not fit within its limit.
type TopologyMode string

const (
	// TopologyHard jobs wait.
	TopologyHard TopologyMode = "hard"
	// TopologySoft jobs are placed as near as can be.
	TopologySoft TopologyMode = "soft"
)

// Colocation says how near servers and workers must be.
//
// +kubebuilder:validation:Enum=Required;Preferred;None
type Colocation string

// RunPolicy says how a job as a whole is stopped, started again, ended and forgotten. Names are those of Kubeflow's.
type RunPolicy struct {
	// suspend stops the job: its pods go, and their resources and the room in the queue are given back. When it is false
	// again the job starts anew, from its own checkpoints.
	// +optional
	Suspend *bool `json:"suspend,omitempty"`
	// activeDeadlineSeconds is how long the job may take from its creation, or from its last resumption if it was suspended,
	// as in batch/v1: time in the queue and restarts included. A job that takes longer fails.
	// +kubebuilder:validation:Minimum=1
	// +optional
	ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds,omitempty"`
	// ttlSecondsAfterFinished is how long a job that has ended is kept; then the PaddleJob is deleted with all that
	// belongs to it. Unset keeps it.
	// +kubebuilder:validation:Minimum=0
	// +optional
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`
	// backoffLimit is how often the job is started again after failures: the first time at once, then after 10 s, 20 s
	// and so on, 6 minutes at most. Unset means twice. A pod that is evicted, preempted, deleted or lost with its node is no
	// failure: the job is then started again at once, however often.
	// +kubebuilder:validation:Minimum=0
	// +optional
	BackoffLimit *int32 `json:"backoffLimit,omitempty"`
	// restartScope is what starts again when a pod fails or is evicted: Gang (the default), all pods of the job; Pod, that
	// pod alone, for workers of PS mode whose training lets a worker join again.
	// +optional
	RestartScope RestartScope `json:"restartScope,omitempty"`
	// permanentExitCodes are exit codes after which the job is not started again, because the next time would end the
	// same way.
	// +kubebuilder:validation:MaxItems=255
	// +kubebuilder:validation:items:Minimum=1
	// +kubebuilder:validation:items:Maximum=255
	// +listType=set
	// +optional
	PermanentExitCodes []int32 `json:"permanentExitCodes,omitempty"`
}

// RestartScope is what starts again when a pod fails.
//
// +kubebuilder:validation:Enum=Gang;Pod
type RestartScope string

const (
	// RestartGang starts all pods of the job again.
	RestartGang RestartScope = "Gang"
	// RestartPod starts a worker of PS mode again alone.
	RestartPod RestartScope = "Pod"
)

// ElasticPolicy says how elastic training works.
type ElasticPolicy struct {
	// etcd is host:port of the etcd through which the workers find each other; unset is what the controller was started
	// with (--elastic-etcd).
	// +optional
	Etcd string `json:"etcd,omitempty"`
	// timeoutSeconds is how long the launchers wait for more workers than the minimum; unset means Paddle's own.
	// +kubebuilder:validation:Minimum=1
	// +optional
	TimeoutSeconds *int32 `json:"timeoutSeconds,omitempty"`
	// maxRestarts is how often a launcher starts its trainers again when workers have come or gone; unset means Paddle's
	// own.
	// +kubebuilder:validation:Minimum=0
	// +optional
	MaxRestarts *int32 `json:"maxRestarts,omitempty"`
}
