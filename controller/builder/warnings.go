// SPDX-License-Identifier: Apache-2.0

package builder

import (
	"fmt"
	"slices"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// Reasons of warnings about a job that runs.
const (
	ReasonRestartPolicyChanged  = "RestartPolicyChanged"
	ReasonCleanPodPolicy        = "UnknownCleanPodPolicy"
	ReasonIntranet              = "UnknownIntranet"
	ReasonHostnameReplaced      = "HostnameReplaced"
	ReasonMinResources          = "MinResourcesForPlugin"
	ReasonMinAvailableRaised    = "MinAvailableRaised"
	ReasonWaitsForAll           = "WaitsForAllPods"
	ReasonEnvironmentOverridden = "EnvironmentOverridden"
	ReasonElasticPolicyIgnored  = "ElasticPolicyIgnored"
	ReasonBoundsIgnored         = "BoundsIgnored"
	ReasonHostNetwork           = "HostNetwork"
)

// Causes collects causes.
type Causes []Cause

// Add adds a cause with a message of a format.
func (n *Causes) Add(reason, format string, args ...any) {
	*n = append(*n, Cause{Reason: reason, Message: fmt.Sprintf(format, args...)})
}

// jobWarnings adds what of the spec, templates aside, has another effect than the user may expect.
func jobWarnings(warnings *Causes, job *v1.PaddleJob, overrides PodGroupOverrides, cfg Config) {
	if !slices.Contains([]v1.CleanPodPolicy{"", v1.CleanAlways, v1.CleanNever, v1.CleanOnFailure, v1.CleanOnCompletion}, job.Spec.CleanPodPolicy) {
		warnings.Add(ReasonCleanPodPolicy, "cleanPodPolicy %q does not exist and is treated as Never: use Always, Never, OnFailure or OnCompletion",
			string(job.Spec.CleanPodPolicy))
	}
	if !slices.Contains([]v1.Intranet{"", v1.PodIP, v1.Service, v1.Host}, job.Spec.Intranet) {
		warnings.Add(ReasonIntranet, "spec.intranet %q does not exist and is treated as PodIP: use PodIP, Service or Host", string(job.Spec.Intranet))
	}
	if policy := job.Spec.SchedulingPolicy; policy != nil && len(policy.MinResources) > 0 {
		warnings.Add(ReasonMinResources, "spec.schedulingPolicy.minResources is not the PodGroup's, which Volcano works out from the requests in "+
			"the templates: as annotation %s it is what must be free at least before the scheduler's plugin paddle admits the job; without that "+
			"plugin it has no effect", v1.MinResourcesAnnotation)
	}
	gangWarnings(warnings, job, overrides, cfg)
	elasticWarnings(warnings, job)
}

// gangWarnings adds where the gang is not what minAvailable suggests.
func gangWarnings(warnings *Causes, job *v1.PaddleJob, overrides PodGroupOverrides, cfg Config) {
	value, set, field := minimum(job, overrides)
	if !set {
		return
	}
	var sum int64
	for _, n := range members(job, overrides) {
		sum += int64(n)
	}
	if int64(value) < sum {
		warnings.Add(ReasonMinAvailableRaised, "%s: %d is too few, %d is used instead: every server is needed, and at least one worker, "+
			"or spec.worker.requests of them if the job is elastic", field, value, sum)
	}
	switch all := Total(job); {
	case sum == all, Elastic(job):
	case Mode(job) != v1.ModePS:
		warnings.Add(ReasonWaitsForAll, "%s: %d pods are enough to be placed, but Paddle's launcher waits for all %d workers before it "+
			"trains: leave it out unless the rest will find capacity soon", field, sum, all)
	case Intranet(job, cfg) != v1.Service:
		warnings.Add(ReasonWaitsForAll, "%s: %d pods are enough to be placed, but training starts when all %d have an IP; "+
			"spec.intranet: Service does not wait for that", field, sum, all)
	}
}
