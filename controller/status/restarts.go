// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/policy"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// Reasons of a failure that is not known any more, or was not one of a pod.
const (
	ReasonUnknownFailure = "PodFailedOrEvicted"
)

// restarts is how often the gang was started again, the start that is certain included.
func restarts(v *view.View, plan *policy.Plan) int32 {
	if v.VolcanoJob == nil {
		return 0
	}
	if plan.Again {
		return view.Restarts(v.VolcanoJob) + 1
	}
	return view.Restarts(v.VolcanoJob)
}

// recreations is how many Volcano Jobs were deleted to be made anew, the one that is on its way out included.
func recreations(v *view.View, plan *policy.Plan) int32 {
	if v.VolcanoJob == nil || v.Job.DeletionTimestamp != nil || view.Finished(v.Job) {
		return 0
	}
	if plan.Recreate || v.VolcanoJob.DeletionTimestamp != nil {
		return view.Recreations(v.VolcanoJob) + 1
	}
	return view.Recreations(v.VolcanoJob)
}

// cause is why the attempt before the present one ended, or the present one where it was the last.
func cause(v *view.View, attempt int32) (reason, message string) {
	if v.Failure != nil && v.Failure.Attempt == attempt {
		return v.Failure.Reason, v.Failure.Message
	}
	if v.VolcanoJob != nil && attempt == v.VolcanoJob.Status.RetryCount && v.Disrupted() {
		return view.ReasonPodEvicted, "a pod was deleted or evicted"
	}
	for _, m := range v.Members() {
		if m.State == view.Failed {
			return view.ReasonPodFailed, view.Ending(m.Pod)
		}
	}
	return ReasonUnknownFailure, "a pod failed or was evicted"
}

// failure is why the job has failed for good.
func failure(v *view.View, plan *policy.Plan) (reason, message string) {
	if plan.Failed != nil {
		return plan.Failed.Reason, failedMessage(v, plan)
	}
	if v.VolcanoJob == nil {
		return cause(v, 0)
	}
	status := &v.VolcanoJob.Status
	if pod, code, ok := v.PermanentExit(); ok {
		return policy.ReasonPermanentExitCode, fmt.Sprintf("%s exited with code %d, after which the job is not started again", pod, code)
	}
	if status.State.Phase == vcbatch.Terminated {
		if c := meta.FindStatusCondition(v.Job.Status.Conditions, v1.ConditionScheduled); c != nil && policy.IsRefusal(c.Reason) {
			return c.Reason, "Volcano gave the job up: " + c.Message
		}
		if v.Refused != "" {
			return policy.RefusalReason(v.Refused), "Volcano gave the job up, because the API server refused a pod: " + v.Refused
		}
		return policy.ReasonTerminated, fmt.Sprintf("Volcano gave the job up: kubectl describe vcjob -n %s %s says why",
			v.VolcanoJob.Namespace, v.VolcanoJob.Name)
	}
	reason, message = cause(v, max(status.RetryCount-1, 0))
	if n := restarts(v, plan); n > 0 {
		message += fmt.Sprintf("; the job had been restarted %s before", often(n))
	}
	return reason, message
}

// failedMessage says of a job that the controller fails what happened last, where it ended by a failure.
func failedMessage(v *view.View, plan *policy.Plan) string {
	if plan.Failed.Reason != policy.ReasonBackoffLimitExceeded || v.VolcanoJob == nil {
		return plan.Failed.Message
	}
	_, text := cause(v, v.VolcanoJob.Status.RetryCount)
	before := view.Restarts(v.VolcanoJob)
	if before <= 0 {
		return text + "; " + plan.Failed.Message
	}
	return fmt.Sprintf("%s; the job had been restarted %s before, and %s", text, often(before), plan.Failed.Message)
}

func often(n int32) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}
