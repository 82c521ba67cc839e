// SPDX-License-Identifier: Apache-2.0

package render

import (
	"slices"

	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

// Scalable says whether the number of workers may change while the job runs: nothing that their pods are made from may
// depend on it.
func Scalable(job *v1.PaddleJob) bool {
	worker := job.Spec.Worker
	return Elastic(job) && job.Spec.PS == nil && worker != nil && worker.Requests != nil && worker.Limits != nil &&
		worker.Replicas >= *worker.Requests && worker.Replicas <= *worker.Limits
}

// Delayed says whether it is the controller that starts the job again after a failure, with a growing delay, and not
// Volcano, at once.
func Delayed(job *v1.PaddleJob) bool {
	run := job.Spec.RunPolicy
	return run != nil && (run.BackoffLimit != nil || len(run.PermanentExitCodes) > 0)
}

// restartsPods says whether a worker that fails is started again alone.
func restartsPods(job *v1.PaddleJob) bool {
	return Elastic(job) || (job.Spec.RunPolicy != nil && job.Spec.RunPolicy.RestartScope == v1.RestartPod)
}

// lastingRun is the part of runPolicy that is in the Volcano Job and cannot change with it, nil if there is none.
func lastingRun(job *v1.PaddleJob) *v1.RunPolicy {
	run := job.Spec.RunPolicy
	if run == nil {
		return nil
	}
	var lasting v1.RunPolicy
	if Delayed(job) {
		lasting.BackoffLimit = ptr.To[int32](0) // that there is one, not which
	}
	if run.RestartScope == v1.RestartPod {
		lasting.RestartScope = v1.RestartPod
	}
	if restartsPods(job) {
		lasting.PermanentExitCodes = slices.Sorted(slices.Values(run.PermanentExitCodes))
	}
	if lasting.BackoffLimit == nil && lasting.RestartScope == "" {
		return nil
	}
	return &lasting
}

// unlimited is for Volcano Jobs of which the controller counts the failures: the limit may change while the job runs.
const unlimited int32 = 1 << 30

// retries is how many failures Volcano takes for the last one.
func retries(job *v1.PaddleJob) int32 {
	if Delayed(job) {
		return unlimited
	}
	return maxRetry
}

// jobPolicies are what becomes of the gang when a pod is lost: all of it starts again, because launchers and role makers
// count their peers once, at the start. A failure that is followed by a delay, or by no further start, first stops the
// gang, which keeps the failed pods to be looked at; an eviction is no fault of the job's, and has no delay. Nothing is
// said of evictions from elastic jobs: Volcano then makes the pod anew and lets the others be, and when the job is made
// smaller it is Volcano itself that deletes pods.
func jobPolicies(job *v1.PaddleJob) []vcbatch.LifecyclePolicy {
	failed := vcbatch.LifecyclePolicy{Event: vcbus.PodFailedEvent, Action: vcbus.RestartJobAction}
	if Delayed(job) {
		failed.Action = vcbus.AbortJobAction
	}
	if Elastic(job) {
		return []vcbatch.LifecyclePolicy{failed}
	}
	return []vcbatch.LifecyclePolicy{failed, {Event: vcbus.PodEvictedEvent, Action: vcbus.RestartJobAction}}
}

// taskPolicies are the role's own, which Volcano asks before those of the Job.
func taskPolicies(job *v1.PaddleJob, r role) []vcbatch.LifecyclePolicy {
	if r.name != RoleWorker {
		return nil
	}
	// Servers never exit, so the workers' success is the job's; Volcano stops the servers then.
	policies := []vcbatch.LifecyclePolicy{{Event: vcbus.TaskCompletedEvent, Action: vcbus.CompleteJobAction}}
	if !restartsPods(job) {
		return policies
	}
	if run := job.Spec.RunPolicy; run != nil {
		// Before the pod is started again, which leaves nothing of it to be looked at.
		for _, code := range slices.Sorted(slices.Values(run.PermanentExitCodes)) {
			policies = append(policies, vcbatch.LifecyclePolicy{ExitCode: ptr.To(code), Action: vcbus.TerminateJobAction})
		}
	}
	policies = append(policies, vcbatch.LifecyclePolicy{Event: vcbus.PodFailedEvent, Action: vcbus.RestartPodAction})
	if !Elastic(job) {
		policies = append(policies, vcbatch.LifecyclePolicy{Event: vcbus.PodEvictedEvent, Action: vcbus.RestartPodAction})
	}
	return policies
}
