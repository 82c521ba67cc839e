// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"strconv"
	"time"

	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// How long a failed job waits before it starts again: nothing the first time, and then twice as long each time.
const (
	secondDelay  = 10 * time.Second
	longestDelay = 6 * time.Minute
)

// delayBefore is how long a job that was started again so often waits for the next time.
func delayBefore(restarts int32) time.Duration {
	if restarts <= 0 {
		return 0
	}
	delay := secondDelay
	for n := int32(1); n < restarts && delay < longestDelay; n++ {
		delay *= 2
	}
	return min(delay, longestDelay)
}

// retry starts a job again that Volcano has stopped because a pod failed, or fails it. What it waits for first is that its
// pods are gone: Volcano would take those that have ended into the next attempt. That the job is to be started again is in
// its status before they go, because they are what tells a failure from somebody's own abortion of the Volcano Job.
func (p *Plan) retry(v *view.View) {
	phase := v.VolcanoJob.Status.State.Phase
	if !view.Delayed(v.VolcanoJob) || (phase != vcbatch.Aborting && phase != vcbatch.Aborted) || !failedBefore(v) {
		return
	}
	restarts := view.Failures(v.VolcanoJob)
	if p.Failed = permanent(v); p.Failed != nil {
		return
	}
	if limit := v.BackoffLimit(); restarts >= limit {
		p.Failed = tooOften(limit)
		return
	}
	p.retrying()
	if phase == vcbatch.Aborting || v.Resumed() || p.delay(v) || v.Job.Status.Phase != v1.Restarting {
		return
	}
	for _, pod := range v.Pods {
		p.remove(KindPod, pod)
	}
	if len(v.Pods) == 0 {
		p.command(v, vcbus.ResumeJobAction, strconv.Itoa(int(v.VolcanoJob.Status.RetryCount)), "Retrying", "the job failed and starts again")
	}
}

// retrying says that the job starts again soon.
func (p *Plan) retrying() {
	p.Retrying = &render.Notice{Reason: ReasonRetrying, Message: "the job starts again once its pods are gone"}
}

// delay says whether it is too early to start the job again.
func (p *Plan) delay(v *view.View) bool {
	wait := delayBefore(view.Failures(v.VolcanoJob)) - v.Now.Sub(v.VolcanoJob.Status.State.LastTransitionTime.Time)
	if wait <= 0 {
		return false
	}
	p.Retrying.Message = "the job starts again at " + v.Now.Add(wait).UTC().Format(time.RFC3339)
	p.lookAgainIn(wait)
	return true
}

// failedBefore says whether a failure is why the Volcano Job is aborted.
func failedBefore(v *view.View) bool {
	return v.Job.Status.Phase == v1.Restarting || v.FailureSeen()
}

// exhausted fails a job that was restarted once too often by Volcano itself, which knows no limit where the controller
// counts, and one that Volcano has failed (view.Unretried) after the last restart that it may have.
func (p *Plan) exhausted(v *view.View) bool {
	if v.VolcanoJob == nil || !view.Delayed(v.VolcanoJob) {
		return false
	}
	count, limit := view.Failures(v.VolcanoJob), v.BackoffLimit()
	if v.VolcanoJob.Status.State.Phase == vcbatch.Failed {
		if p.Failed = permanent(v); p.Failed == nil && count >= limit {
			p.Failed = tooOften(limit)
		}
		return p.Failed != nil
	}
	if endCertain(v) || count <= limit || count <= v.Job.Status.Restarts {
		return false // a limit that is lowered ends no job that runs
	}
	p.Failed = tooOften(limit)
	return true
}

func tooOften(limit int32) *render.Notice {
	text := fmt.Sprintf("spec.runPolicy.backoffLimit allows for %d", limit)
	return &render.Notice{Reason: ReasonBackoffLimitExceeded, Message: text}
}

// permanent says which exit code makes another start useless, nil if none does.
func permanent(v *view.View) *render.Notice {
	pod, code, ok := v.PermanentExit()
	if !ok {
		return nil
	}
	return &render.Notice{Reason: ReasonPermanentExitCode, Message: fmt.Sprintf(
		"%s exited with code %d, which is one of spec.runPolicy.permanentExitCodes", pod, code)}
}
