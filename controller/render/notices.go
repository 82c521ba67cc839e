// SPDX-License-Identifier: Apache-2.0

package render

import (
	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
)

// jobNotices tells what of the spec, templates aside, has another effect than the user may expect.
func jobNotices(job *v1.PaddleJob, wish Wish, cfg Config) notices {
	var told notices
	switch job.Spec.CleanPodPolicy {
	case "", v1.CleanAlways, v1.CleanNever, v1.CleanOnFailure, v1.CleanOnCompletion:
	default:
		told.add(ReasonCleanPodPolicy, "cleanPodPolicy %q does not exist and is treated as Never: use Always, Never, OnFailure or OnCompletion",
			string(job.Spec.CleanPodPolicy))
	}
	switch job.Spec.Intranet {
	case "", v1.PodIP, v1.Service, v1.Host:
	default:
		told.add(ReasonIntranet, "spec.intranet %q does not exist and is treated as PodIP: use PodIP, Service or Host", string(job.Spec.Intranet))
	}
	if policy := job.Spec.SchedulingPolicy; policy != nil && len(policy.MinResources) > 0 {
		told.add(ReasonMinResources, "spec.schedulingPolicy.minResources is not the PodGroup's, which Volcano works out from the requests in "+
			"the templates: as annotation %s it is what must be free at least before the scheduler's plugin paddle lets the job in; without that "+
			"plugin it has no effect", keys.MinResources)
	}
	told = append(told, gangNotices(job, wish, cfg)...)
	told = append(told, elasticNotices(job)...)
	return told
}

// gangNotices tells where the gang is not what minAvailable suggests.
func gangNotices(job *v1.PaddleJob, wish Wish, cfg Config) notices {
	value, set, field := minimum(job, wish)
	if !set {
		return nil
	}
	var told notices
	var sum int64
	for _, n := range members(job, wish) {
		sum += int64(n)
	}
	if int64(value) < sum {
		told.add(ReasonMinAvailableRaised, "%s: %d is too few, %d is used instead: every server is needed, and at least one worker, "+
			"or spec.worker.requests of them if the job is elastic", field, value, sum)
	}
	switch all := total(job); {
	case sum == all, Elastic(job):
	case Mode(job) != v1.ModePS:
		told.add(ReasonWaitsForAll, "%s: %d pods are enough to be placed, but Paddle's launcher waits for all %d workers before it "+
			"trains: leave it out unless the rest will find room soon", field, sum, all)
	case Intranet(job, cfg) != v1.Service:
		told.add(ReasonWaitsForAll, "%s: %d pods are enough to be placed, but training starts when all %d have an IP; "+
			"spec.intranet: Service does not wait for that", field, sum, all)
	}
	return told
}
