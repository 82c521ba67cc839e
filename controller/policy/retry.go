// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"strconv"
	"time"

	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// How long a job waits after a failure before it starts again: nothing the first time, and then twice as long each time.
const (
	secondDelay  = 10 * time.Second
	longestDelay = 6 * time.Minute
)

// delayBefore is how long a job that had failed so often before waits for its next start.
func delayBefore(failures int32) time.Duration {
	if failures <= 0 {
		return 0
	}
	delay := secondDelay
	for n := int32(1); n < failures && delay < longestDelay; n++ {
		delay *= 2
	}
	return min(delay, longestDelay)
}

// retry starts a job again that Volcano has stopped because a pod failed, or fails it. What it waits for first is that its
// pods are gone: Volcano would take those that have ended into the next attempt. Whether a failure counts is decided when
// every pod has ended or is gone, since a lost node shows late. The restart is in the status before the pods go, because they
// are what tells a failure from an eviction, and from somebody's own abortion of the Volcano Job.
func (p *Plan) retry(v *view.View) {
	phase := v.VolcanoJob.Status.State.Phase
	if (phase != vcbatch.Aborting && phase != vcbatch.Aborted) || !stoppedForAPod(v) {
		return
	}
	p.retrying()
	if phase == vcbatch.Aborting || v.Resumed() || !p.count(v) || p.delay(v) {
		return
	}
	for _, pod := range v.Pods {
		p.remove(KindPod, pod)
	}
	if len(v.Pods) == 0 {
		p.command(v, vcbus.ResumeJobAction, strconv.Itoa(int(v.VolcanoJob.Status.RetryCount)), "Retrying", "a pod of the gang failed or was evicted, and it starts again")
	}
}

// count reports whether the status has counted the next start of the gang. If it has not, it is counted now, as one for a
// failure or not, or the failure is the last.
func (p *Plan) count(v *view.View) bool {
	switch {
	case v.RestartCounted():
		return true
	case v.LastFailure():
		p.Failed, p.Retrying = lastFailure(v), nil
	default:
		p.Again = true
		if v.FailedByItself() {
			p.Failures = 1
		}
	}
	return false
}

// lastFailure is why a failure is not followed by another start.
func lastFailure(v *view.View) *render.Notice {
	if notice := permanent(v); notice != nil {
		return notice
	}
	return tooOften(v.BackoffLimit())
}

// retrying says that the job starts again soon.
func (p *Plan) retrying() {
	p.Retrying = &render.Notice{Reason: ReasonRetrying, Message: "the job starts again once its pods are gone"}
}

// delay reports whether it is too early to start the job again after a failure. An eviction has no delay.
func (p *Plan) delay(v *view.View) bool {
	if v.Disrupted() {
		return false
	}
	wait := delayBefore(v.Job.Status.Failures-1) - v.Now.Sub(v.VolcanoJob.Status.State.LastTransitionTime.Time)
	if wait <= 0 {
		return false
	}
	p.Retrying.Message = "the job starts again at " + v.Now.Add(wait).UTC().Format(time.RFC3339)
	p.lookAgainIn(wait)
	return true
}

// stoppedForAPod reports whether a failure or an eviction is why the Volcano Job is aborted.
func stoppedForAPod(v *view.View) bool {
	return v.Job.Status.Phase == v1.Restarting || v.FailureSeen() || v.Disrupted()
}

// exhausted fails a job that Volcano has failed, after a failure that is the last.
func (p *Plan) exhausted(v *view.View) bool {
	if !v.EndedTogether() || !v.LastFailure() {
		return false
	}
	p.Failed = lastFailure(v)
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

// restartWorkers starts workers again that have failed, where each is started again alone. A failure is counted in three
// steps, so that none is counted twice: the pod is given the failure's number, the status counts it, and the pod is deleted,
// for which Volcano makes another. An eviction is no failure.
func (p *Plan) restartWorkers(v *view.View) {
	if !view.RestartsPods(v.VolcanoJob) || !WantsPodGroup(v.VolcanoJob.Status.State.Phase) || v.Succeeded() {
		return
	}
	var failed []*view.Member
	next := v.Job.Status.Failures
	for _, m := range v.Members() {
		if m.Role != render.RoleWorker || m.State != view.Failed || m.Pod.DeletionTimestamp != nil {
			continue
		}
		number, numbered := view.FailureNumber(m.Pod)
		_, disrupted := view.Disruption(m.Pod)
		switch {
		case disrupted || numbered && number <= v.Job.Status.Failures:
			p.remove(KindPod, m.Pod)
		case numbered:
			next = max(next, number)
		default:
			failed = append(failed, m)
		}
	}
	p.Failures = next - v.Job.Status.Failures
	if len(failed) == 0 {
		return
	}
	if p.Failed = permanent(v); p.Failed == nil && next+int32(len(failed)) > v.BackoffLimit() {
		p.Failed = tooOften(v.BackoffLimit())
	}
	if p.Failed != nil {
		p.Actions = nil // they are to be looked at
		return
	}
	var action AnnouncePods
	for _, m := range failed {
		next++
		action.Pods = append(action.Pods, Announcement{Pod: m.Pod, Annotations: map[string]string{keys.Failure: strconv.Itoa(int(next))}})
	}
	p.do(action)
}
