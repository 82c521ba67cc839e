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
	// +kubebuilder:validation:Minimum=1
	// +optional
	MinAvailable *int32 `json:"minAvailable,omitempty"`
	// queue is the Volcano queue; unset means the one that the annotation scheduling.volcano.sh/queue-name of the namespace names,
	// or "default".
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$')",message="spec.schedulingPolicy.queue cannot be the name of a queue: see kubectl get queues"
	// +kubebuilder:validation:XValidation:rule="self != 'root'",message="spec.schedulingPolicy.queue is root, which only holds the other queues: choose one of them"
	// +optional
	Queue string `json:"queue,omitempty"`
	// priorityClass is the PriorityClass of the job and of its pods.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$')",message="spec.schedulingPolicy.priorityClass cannot be the name of a priority class: see kubectl get priorityclasses"
	// +optional
	PriorityClass string `json:"priorityClass,omitempty"`
	// minResources are the resources that must be free in the queue before pods are made. Volcano works out from the
	// templates what the job's minimum needs; the scheduler's plugin honors what is requested here beyond that
	// paddle.
	// +optional
	MinResources corev1.ResourceList `json:"minResources,omitempty"`
	// networkTopology limits how far apart the job's pods may be.
	// +optional
	NetworkTopology *NetworkTopology `json:"networkTopology,omitempty"`
	// colocation says how near servers and workers must be: Preferred (as far as it pays), Required (no worker in a rack,
	// or whatever the scheduler's colocation-tier is, without a server) or None (traffic is left out). Unset is what the
	// scheduler's plugin paddle is configured with, by default Preferred.
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

// Parallelism holds the degrees of fleet's hybrid parallelism. A rank is a GPU; ranks are numbered as fleet's CommunicateTopology
// numbers them, in an order. The product of all degrees but expert is the number of GPUs.
//
// +kubebuilder:validation:XValidation:rule="!has(self.configMapKeyRef) || !(has(self.data) || has(self.pipeline) || has(self.sharding) || has(self.sep) || has(self.tensor) || has(self.expert) || has(self.order))",message="spec.parallelism.configMapKeyRef is for degrees and order that the training YAML has: leave those of spec.parallelism out, or leave configMapKeyRef out"
// +kubebuilder:validation:XValidation:rule="!has(self.expert) || ((has(self.sharding) ? self.sharding : 1) * (has(self.tensor) ? self.tensor : 1)) % self.expert == 0",message="spec.parallelism.expert does not divide sharding times tensor: correct one of them"
// +kubebuilder:validation:XValidation:rule="!has(self.expert) || self.expert == 1 || ((!has(self.data) || self.data == 1) && (!has(self.sep) || self.sep == 1))",message="spec.parallelism.expert needs data and sep to be 1, as in fleet: use sharding in their place"
type Parallelism struct {
	// data is the degree of data parallelism; unset is what the other degrees leave of the GPUs.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65536
	// +optional
	Data int32 `json:"data,omitempty"`
	// pipeline is the degree of pipeline parallelism; unset is 1, as of those below.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65536
	// +optional
	Pipeline int32 `json:"pipeline,omitempty"`
	// sharding is the number of ranks that the optimizer's state is divided over.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65536
	// +optional
	Sharding int32 `json:"sharding,omitempty"`
	// sep is the number of ranks that a sequence is divided over (segment parallelism).
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65536
	// +optional
	Sep int32 `json:"sep,omitempty"`
	// tensor is the degree of tensor parallelism (fleet's mp_degree): the number of consecutive ranks that exchange most.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65536
	// +optional
	Tensor int32 `json:"tensor,omitempty"`
	// expert is the number of consecutive ranks that experts are divided over. It divides sharding times tensor.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65536
	// +optional
	Expert int32 `json:"expert,omitempty"`
	// order of the axes, the outermost first: PipelineFirst (the default, as in fleet) is data, pipeline, sharding, sep, tensor;
	// ShardingFirst is data, sharding, pipeline, sep, tensor. PaddleFormers and ERNIEKit train with ShardingFirst unless their
	// hybrid_parallel_topo_order is pp_first.
	// +kubebuilder:validation:Enum=PipelineFirst;ShardingFirst
	// +optional
	Order ParallelismOrder `json:"order,omitempty"`
	// configMapKeyRef names a training YAML of PaddleFormers or ERNIEKit, in a ConfigMap of the job's namespace, that has degrees
	// and order. It is read when the Volcano Job is created; later changes are ignored.
	// +optional
	ConfigMapKeyRef *ConfigMapKeyRef `json:"configMapKeyRef,omitempty"`
}

// ParallelismOrder is the order in which fleet numbers ranks.
type ParallelismOrder string

// Orders of ranks.
const (
	PipelineFirst ParallelismOrder = "PipelineFirst"
	ShardingFirst ParallelismOrder = "ShardingFirst"
)

// ConfigMapKeyRef is one key of a ConfigMap.
type ConfigMapKeyRef struct {
	// name of the ConfigMap.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// key of its data.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key"`
}

// NetworkTopology limits how far apart the pods of a job may be, as Volcano's field of that name does.
//
// +kubebuilder:validation:XValidation:rule="!has(self.highestTierAllowed) || !has(self.highestTierName) || size(self.highestTierName) == 0",message="spec.schedulingPolicy.networkTopology: set highestTierAllowed or highestTierName, not both"
// +kubebuilder:validation:XValidation:rule="(has(self.mode) && self.mode == 'soft') || has(self.highestTierAllowed) || (has(self.highestTierName) && size(self.highestTierName) > 0)",message="spec.schedulingPolicy.networkTopology is hard and names no tier: set highestTierAllowed or highestTierName, or mode: soft"
type NetworkTopology struct {
	// mode is hard (the default: the job waits until it fits) or soft (as near as can be).
	// +kubebuilder:validation:Enum=hard;soft
	// +optional
	Mode TopologyMode `json:"mode,omitempty"`
	// highestTierAllowed is the tier within one domain of which all pods must be.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	// +optional
	HighestTierAllowed *int32 `json:"highestTierAllowed,omitempty"`
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
//
// +kubebuilder:validation:XValidation:rule="!has(self.podFailurePolicy) || !has(self.permanentExitCodes)",message="spec.runPolicy.permanentExitCodes is the deprecated form of podFailurePolicy: keep podFailurePolicy only"
type RunPolicy struct {
	// suspend stops the job: its pods go, and their resources and the capacity in the queue are given back. When it is false
	// again the job starts again, from its own checkpoints.
	// +optional
	Suspend *bool `json:"suspend,omitempty"`
	// activeDeadlineSeconds is how long the job may take from its creation, or from its last resumption if it was suspended,
	// as in batch/v1: time in the queue and restarts included. A job that takes longer fails.
	// +kubebuilder:validation:Minimum=1
	// +optional
	ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds,omitempty"`
	// ttlSecondsAfterFinished is how long a finished job is kept; then the PaddleJob is deleted with all that
	// belongs to it. Unset keeps it.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	// +optional
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`
	// backoffLimit is how often the job is started again after failures: the first time at once, then after 10 s, 20 s
	// and so on, 6 minutes at most. Unset means twice. A pod that is evicted, preempted, deleted or lost with its node is no
	// failure: the job is then started again at once, however often.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	// +optional
	BackoffLimit *int32 `json:"backoffLimit,omitempty"`
	// restartScope is what starts again when a pod fails or is evicted: Gang (the default), all pods of the job; Pod, that
	// pod alone, for workers of PS mode whose training lets a worker join again.
	// +optional
	RestartScope RestartScope `json:"restartScope,omitempty"`
	// podFailurePolicy says what the failure of a pod means for the job, by its exit codes. Without a rule that matches, a
	// failure counts towards backoffLimit.
	// +optional
	PodFailurePolicy *PodFailurePolicy `json:"podFailurePolicy,omitempty"`
	// permanentExitCodes are exit codes after which the job is not started again.
	//
	// Deprecated: set podFailurePolicy with a rule of action FailJob.
	// +kubebuilder:validation:MaxItems=255
	// +kubebuilder:validation:items:Minimum=1
	// +kubebuilder:validation:items:Maximum=255
	// +listType=set
	// +optional
	PermanentExitCodes []int32 `json:"permanentExitCodes,omitempty"`
}

// PodFailurePolicy says what the failure of a pod means for the job, as the field of that name in batch/v1 does.
type PodFailurePolicy struct {
	// rules are tried in order; the first one that matches a failed pod decides.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	// +listType=atomic
	Rules []PodFailurePolicyRule `json:"rules"`
}

// PodFailurePolicyRule is one rule of a PodFailurePolicy.
type PodFailurePolicyRule struct {
	// action is FailJob (the job fails and is not started again), Ignore (the job is started again, and the failure does not count
	// towards backoffLimit) or Count (the job is started again, and the failure counts).
	Action PodFailurePolicyAction `json:"action"`
	// onExitCodes matches a pod of which a container failed with one of these exit codes.
	OnExitCodes PodFailurePolicyOnExitCodes `json:"onExitCodes"`
}

// PodFailurePolicyAction is what the failure of a pod means for the job.
//
// +kubebuilder:validation:Enum=FailJob;Ignore;Count
type PodFailurePolicyAction string

// Actions of a PodFailurePolicyRule.
const (
	// FailJob fails the job permanently.
	FailJob PodFailurePolicyAction = "FailJob"
	// IgnoreFailure starts the job again and does not count the failure.
	IgnoreFailure PodFailurePolicyAction = "Ignore"
	// CountFailure starts the job again and counts the failure towards backoffLimit.
	CountFailure PodFailurePolicyAction = "Count"
)

// PodFailurePolicyOnExitCodes matches the exit codes of containers.
//
// +kubebuilder:validation:XValidation:rule="self.operator != 'In' || !(0 in self.values)",message="onExitCodes.values has 0, with which no container fails: take it out, or use operator NotIn"
type PodFailurePolicyOnExitCodes struct {
	// containerName is the container that is looked at; unset means all of the pod, init containers included.
	// +kubebuilder:validation:MaxLength=63
	// +optional
	ContainerName *string `json:"containerName,omitempty"`
	// operator is In or NotIn.
	Operator PodFailurePolicyOperator `json:"operator"`
	// values are the exit codes, each once.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=255
	// +kubebuilder:validation:items:Minimum=0
	// +kubebuilder:validation:items:Maximum=255
	// +listType=set
	Values []int32 `json:"values"`
}

// PodFailurePolicyOperator relates an exit code to a list of them.
//
// +kubebuilder:validation:Enum=In;NotIn
type PodFailurePolicyOperator string

const (
	// ExitCodeIn matches exit codes of the list.
	ExitCodeIn PodFailurePolicyOperator = "In"
	// ExitCodeNotIn matches exit codes other than those of the list, and other than 0.
	ExitCodeNotIn PodFailurePolicyOperator = "NotIn"
)

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

// ElasticPolicy says between which numbers of workers an elastic job trains, and how they find each other.
//
// +kubebuilder:validation:XValidation:rule="has(self.minReplicas) == has(self.maxReplicas)",message="spec.elasticPolicy.minReplicas and maxReplicas belong together: set both, or neither"
// +kubebuilder:validation:XValidation:rule="!has(self.minReplicas) || !has(self.maxReplicas) || self.minReplicas <= self.maxReplicas",message="spec.elasticPolicy.minReplicas is above maxReplicas: lower it, or raise maxReplicas"
type ElasticPolicy struct {
	// minReplicas is the minimum number of workers with which the job trains. The job is elastic when it is set.
	// +kubebuilder:validation:Minimum=1
	// +optional
	MinReplicas *int32 `json:"minReplicas,omitempty"`
	// maxReplicas is the maximum number of workers.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	// +optional
	MaxReplicas *int32 `json:"maxReplicas,omitempty"`
	// etcd is host:port of the etcd through which the workers find each other; unset is what the controller was started
	// with (--elastic-etcd).
	// +optional
	Etcd string `json:"etcd,omitempty"`
	// timeoutSeconds is how long the launchers wait for more workers than the minimum; unset means Paddle's own.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	// +optional
	TimeoutSeconds *int32 `json:"timeoutSeconds,omitempty"`
	// maxRestarts is how often a launcher starts its trainers again when workers have come or gone; unset means Paddle's
	// own.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	// +optional
	MaxRestarts *int32 `json:"maxRestarts,omitempty"`
}
