// SPDX-License-Identifier: Apache-2.0

package builder

import (
	"cmp"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// Elastic reports whether the number of the job's workers may change while it trains: spec.elasticPolicy has bounds, or its
// deprecated alias spec.elastic is set.
func Elastic(job *v1.PaddleJob) bool {
	return ElasticSet(job) && job.Spec.Worker != nil && job.Spec.PS == nil
}

// ElasticSet reports whether the spec requests elastic workers, also if the job's roles do not allow for them.
func ElasticSet(job *v1.PaddleJob) bool {
	return job.Spec.Elastic != nil || job.Spec.ElasticPolicy != nil && job.Spec.ElasticPolicy.MinReplicas != nil
}

// Bounds returns the minimum and the maximum number of workers with which an elastic job trains. An unset one is the number of
// replicas.
func Bounds(job *v1.PaddleJob) (least, most int32) {
	worker := job.Spec.Worker
	if worker == nil {
		return 0, 0
	}
	minReplicas, maxReplicas := bounds(job)
	return *cmp.Or(minReplicas, &worker.Replicas), *cmp.Or(maxReplicas, &worker.Replicas)
}

// bounds returns what the spec says about the number of elastic workers: in spec.elasticPolicy, or in its deprecated aliases
// requests and limits of spec.worker.
func bounds(job *v1.PaddleJob) (minReplicas, maxReplicas *int32) {
	if policy := job.Spec.ElasticPolicy; policy != nil && policy.MinReplicas != nil {
		return policy.MinReplicas, policy.MaxReplicas
	}
	return job.Spec.Worker.Requests, job.Spec.Worker.Limits
}

// PodFailureRules returns the rules of spec.runPolicy.podFailurePolicy, or the one that its deprecated alias permanentExitCodes
// means.
func PodFailureRules(job *v1.PaddleJob) []v1.PodFailurePolicyRule {
	switch run := job.Spec.RunPolicy; {
	case run == nil:
	case run.PodFailurePolicy != nil:
		return run.PodFailurePolicy.Rules
	case len(run.PermanentExitCodes) > 0:
		return []v1.PodFailurePolicyRule{{
			Action:      v1.FailJob,
			OnExitCodes: v1.PodFailurePolicyOnExitCodes{Operator: v1.ExitCodeIn, Values: run.PermanentExitCodes},
		}}
	}
	return nil
}
