// SPDX-License-Identifier: Apache-2.0

package render

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// restartsPods says whether a worker that fails is started again alone.
func restartsPods(job *v1.PaddleJob) bool {
	return Elastic(job) || (job.Spec.RunPolicy != nil && job.Spec.RunPolicy.RestartScope == v1.RestartPod)
}

// lastingRun is the part of runPolicy that is in the Volcano Job and cannot change with it, nil if there is none.
func lastingRun(job *v1.PaddleJob) *v1.RunPolicy {
	if run := job.Spec.RunPolicy; run != nil && run.RestartScope == v1.RestartPod {
		return &v1.RunPolicy{RestartScope: v1.RestartPod}
	}
	return nil
}

// earlierLastingRun is what lastingRun was while Volcano Jobs depended on whether the controller counted failures, and while
// those whose workers start again alone held the exit codes.
func earlierLastingRun(job *v1.PaddleJob) *v1.RunPolicy {
	lasting, run := lastingRun(job), job.Spec.RunPolicy
	if run == nil || run.BackoffLimit == nil && len(run.PermanentExitCodes) == 0 {
		return lasting
	}
	if lasting == nil {
		lasting = &v1.RunPolicy{}
	}
	lasting.BackoffLimit = ptr.To[int32](0)
	if restartsPods(job) {
		lasting.PermanentExitCodes = slices.Sorted(slices.Values(run.PermanentExitCodes))
	}
	return lasting
}

// unlimited is the maxRetry of Volcano Jobs: Volcano counts evictions as failures, so the controller counts.
const unlimited int32 = 1 << 30

// failureTimeout is the timeout of the policy for failures: longer than the controller is ever away.
const failureTimeout = 365 * 24 * time.Hour

// gangPolicies are what becomes of the gang when a pod is lost: all of it starts again, because launchers and role makers
// count their peers once, at the start. An eviction is no failure: Volcano starts the gang again at once, with or without the
// controller, also where the evicted program or its peers failed before the pod was gone. A failure is the controller's, which
// aborts the Volcano Job (policy/abort.go), counts the failure, and resumes the Volcano Job after a delay, or fails the job.
// The policy for a failure only keeps Volcano from acting: without one Volcano would look at the Job at once, and fail the Job
// if all pods have ended. Its action is never reached, since the controller's AbortJob cancels it (cleanupDelayActions in
// volcano/pkg/controllers/job/job_controller.go, v1.14.1). A pod may also fail after the Job is aborted: the action must not
// resume an aborted Job, which would start the next attempt beside the failed pods of this one.
func gangPolicies() []vcbatch.LifecyclePolicy {
	return []vcbatch.LifecyclePolicy{
		{Event: vcbus.PodEvictedEvent, Action: vcbus.RestartJobAction},
		{Event: vcbus.PodFailedEvent, Action: vcbus.AbortJobAction, Timeout: &metav1.Duration{Duration: failureTimeout}},
	}
}

// LeavesFailures reports whether Volcano leaves the failures of a Volcano Job's pods to the controller. Those that an earlier
// release of the controller made it aborts or restarts itself.
func LeavesFailures(job *vcbatch.Job) bool {
	return !slices.ContainsFunc(job.Spec.Policies, func(p vcbatch.LifecyclePolicy) bool {
		return p.Event == vcbus.PodFailedEvent && p.Timeout == nil
	})
}

// jobPolicies are those of the whole Job: none where workers are started again alone. Volcano then creates an evicted worker
// again, and the controller deletes one that has failed, once it is counted. If all pods of the Job have failed, Volcano fails the
// Job, and the controller starts the gang again. Volcano's own RestartPod would delete the gang's
// PodGroup, with its place in the queue (killPods in volcano/pkg/controllers/job/job_controller_actions.go, v1.14.1).
func jobPolicies(job *v1.PaddleJob) []vcbatch.LifecyclePolicy {
	if restartsPods(job) {
		return nil
	}
	return gangPolicies()
}

// taskPolicies are the role's own, which Volcano asks before those of the Job.
func taskPolicies(job *v1.PaddleJob, r role) []vcbatch.LifecyclePolicy {
	if r.name == RoleWorker {
		// Servers never exit, so the workers' success is the job's; Volcano stops the servers then.
		return []vcbatch.LifecyclePolicy{{Event: vcbus.TaskCompletedEvent, Action: vcbus.CompleteJobAction}}
	}
	if restartsPods(job) {
		return gangPolicies()
	}
	return nil
}
