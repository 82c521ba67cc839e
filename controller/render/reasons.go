// SPDX-License-Identifier: Apache-2.0

package render

import "fmt"

// Reasons for which Validate refuses a job.
const (
	// ReasonInvalidName refuses a name that no Service can have.
	ReasonInvalidName = "InvalidName"
	// ReasonPodNameTooLong refuses a name that makes a pod's name longer than a host name may be.
	ReasonPodNameTooLong = "PodNameTooLong"
	// ReasonNoRole refuses a job without ps and worker.
	ReasonNoRole = "NoRole"
	// ReasonNoWorker refuses servers that nobody trains with.
	ReasonNoWorker = "NoWorker"
	// ReasonInvalidReplicas refuses a role of no pods.
	ReasonInvalidReplicas = "InvalidReplicas"
	// ReasonTooManyPods refuses a role whose addresses do not fit into a variable.
	ReasonTooManyPods = "TooManyPods"
	// ReasonInvalidMinAvailable refuses a minimum that no gang can have.
	ReasonInvalidMinAvailable = "InvalidMinAvailable"
	// ReasonInvalidQueue refuses a queue that cannot exist or take jobs.
	ReasonInvalidQueue = "InvalidQueue"
	// ReasonInvalidPriorityClass refuses a priority class that cannot exist.
	ReasonInvalidPriorityClass = "InvalidPriorityClass"
	// ReasonInvalidWithGloo refuses an unknown withGloo.
	ReasonInvalidWithGloo = "InvalidWithGloo"
	// ReasonInvalidTopology refuses a limit that cannot be held.
	ReasonInvalidTopology = "InvalidNetworkTopology"
	// ReasonInvalidColocation refuses an unknown colocation.
	ReasonInvalidColocation = "InvalidColocation"
	// ReasonInvalidParameterSize refuses a size that no model has.
	ReasonInvalidParameterSize = "InvalidParameterSize"
	// ReasonInvalidGroupSize refuses a parallel group of no GPUs, or of too many.
	ReasonInvalidGroupSize = "InvalidParallelGroupSize"
	// ReasonInvalidMinResources refuses amounts below nothing.
	ReasonInvalidMinResources = "InvalidMinResources"
	// ReasonInvalidSampleSet refuses a sampleSetRef that cannot be mounted.
	ReasonInvalidSampleSet = "InvalidSampleSet"
	// ReasonNoContainer refuses a template without containers.
	ReasonNoContainer = "NoContainer"
	// ReasonInvalidTemplate refuses a template that the API server would refuse as a pod.
	ReasonInvalidTemplate = "InvalidTemplate"
	// ReasonOtherScheduler refuses pods that would be placed outside of the gang.
	ReasonOtherScheduler = "OtherScheduler"
	// ReasonRestartPolicy refuses a restart policy under which the gang would hang.
	ReasonRestartPolicy = "RestartPolicyNotAllowed"
	// ReasonDNSPolicy refuses a DNS policy under which the pods' names do not resolve.
	ReasonDNSPolicy = "DNSPolicyNotAllowed"
	// ReasonHeterAlone refuses heterogeneous workers without servers and workers.
	ReasonHeterAlone = "HeterNeedsServersAndWorkers"
	// ReasonElasticRoles refuses elastic training with servers.
	ReasonElasticRoles = "ElasticNeedsWorkersOnly"
	// ReasonElasticBounds refuses bounds of an elastic job that cannot be held.
	ReasonElasticBounds = "InvalidElasticBounds"
	// ReasonEtcd refuses an elastic job whose etcd its workers would not find.
	ReasonEtcd = "InvalidElasticEtcd"
	// ReasonInvalidRunPolicy refuses a run policy that no job can follow.
	ReasonInvalidRunPolicy = "InvalidRunPolicy"
)

// Reasons of the notices about a job that is run.
const (
	// ReasonRestartPolicyChanged tells that restartPolicy Always became Never.
	ReasonRestartPolicyChanged = "RestartPolicyChanged"
	// ReasonCleanPodPolicy tells that a cleanPodPolicy does not exist.
	ReasonCleanPodPolicy = "UnknownCleanPodPolicy"
	// ReasonIntranet tells that an intranet does not exist.
	ReasonIntranet = "UnknownIntranet"
	// ReasonHostnameReplaced tells that a host name of the user's would hide the pods from each other.
	ReasonHostnameReplaced = "HostnameReplaced"
	// ReasonMinResources tells that the scheduler's plugin heeds the user's minResources, and nobody else.
	ReasonMinResources = "MinResourcesForPlugin"
	// ReasonMinAvailableRaised tells that minAvailable was below what a gang needs.
	ReasonMinAvailableRaised = "MinAvailableRaised"
	// ReasonWaitsForAll tells that training waits for more pods than minAvailable.
	ReasonWaitsForAll = "WaitsForAllPods"
	// ReasonEnvironmentOverridden tells which variables of ours the user has set.
	ReasonEnvironmentOverridden = "EnvironmentOverridden"
	// ReasonElasticPolicyIgnored tells that elasticPolicy has no effect.
	ReasonElasticPolicyIgnored = "ElasticPolicyIgnored"
	// ReasonBoundsIgnored tells that a role's requests and limits have no effect.
	ReasonBoundsIgnored = "BoundsIgnored"
	// ReasonHostNetwork tells what hostNetwork in a template costs.
	ReasonHostNetwork = "HostNetwork"
)

// notices collects what is to be told.
type notices []Notice

func (n *notices) add(reason, format string, args ...any) {
	*n = append(*n, Notice{Reason: reason, Message: fmt.Sprintf(format, args...)})
}
