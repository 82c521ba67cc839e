// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"strconv"

	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// Reasons of a failure that is not known any more, or was not one of a pod.
const (
	ReasonUnknownFailure = "PodFailedOrEvicted"
	ReasonTerminated     = "Terminated"
)

// restarts is how often the gang was started again. Volcano counts failures: the one that uses up maxRetry is followed
// by no start.
func restarts(v *view.View) int32 {
	if v.VolcanoJob == nil {
		return 0
	}
	return earlier(v.VolcanoJob) + min(v.VolcanoJob.Status.RetryCount, allowed(v.VolcanoJob))
}

// allowed is how often Volcano starts a Job's gang again.
func allowed(job *vcbatch.Job) int32 { return max(job.Spec.MaxRetry-1, 0) }

// earlier is how often the gang was restarted under Volcano Jobs that this one replaced.
func earlier(job *vcbatch.Job) int32 {
	count, err := strconv.ParseInt(job.Annotations[keys.EarlierRestarts], 10, 32)
	if err != nil || count < 0 {
		return 0
	}
	return int32(count)
}

// cause is why the attempt before the present one ended, or the present one where it was the last.
func cause(v *view.View, attempt int32) (reason, message string) {
	if v.Failure != nil && v.Failure.Attempt == attempt {
		return v.Failure.Reason, v.Failure.Message
	}
	for _, m := range v.Members() {
		if m.State == view.Failed {
			return view.ReasonPodFailed, view.Ending(m.Pod)
		}
	}
	return ReasonUnknownFailure, "a pod failed or was evicted"
}

// failure is why the job has failed for good.
func failure(v *view.View) (reason, message string) {
	if v.VolcanoJob == nil {
		return cause(v, 0)
	}
	status := &v.VolcanoJob.Status
	if status.State.Phase == vcbatch.Terminated {
		return ReasonTerminated, fmt.Sprintf("Volcano gave the job up: kubectl describe vcjob -n %s %s says why",
			v.VolcanoJob.Namespace, v.VolcanoJob.Name)
	}
	reason, message = cause(v, max(status.RetryCount-1, 0))
	if n := restarts(v); n > 0 {
		message += fmt.Sprintf("; the job had been restarted %s before", often(n))
	}
	return reason, message
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
