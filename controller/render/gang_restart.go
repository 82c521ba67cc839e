// SPDX-License-Identifier: Apache-2.0

package render

import (
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

// unlimited is the maxRetry of Volcano Jobs: Volcano counts evictions as failures, so the controller counts.
const unlimited int32 = 1 << 30

// gangPolicies are what becomes of the gang when a pod is lost: all of it starts again, because launchers and role makers
// count their peers once, at the start. A failure first stops the gang, which keeps the failed pods: the controller counts
// the failure, and starts the gang again after a delay, or fails the job. An eviction is no failure: Volcano starts the gang
// again at once.
func gangPolicies() []vcbatch.LifecyclePolicy {
	return []vcbatch.LifecyclePolicy{
		{Event: vcbus.PodFailedEvent, Action: vcbus.AbortJobAction},
		{Event: vcbus.PodEvictedEvent, Action: vcbus.RestartJobAction},
	}
}

// jobPolicies are those of the whole Job: none where workers are started again alone. Volcano then makes an evicted worker
// anew, and the controller deletes one that has failed, once it is counted. Volcano's own RestartPod would delete the gang's
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
