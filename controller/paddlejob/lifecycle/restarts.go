// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
	"github.com/paddle-volcano/paddle-volcano/controller/volcano"
)

// How long a job waits after a failure before it starts again: nothing the first time, and then twice as long each time.
const (
	secondDelay  = 10 * time.Second
	longestDelay = 6 * time.Minute
)

// backoffDelay is how long a job that had failed so often before waits for its next start.
func backoffDelay(failures int32) time.Duration {
	if failures <= 0 {
		return 0
	}
	return min(secondDelay<<min(failures-1, 10), longestDelay)
}

// retry starts a job again that Volcano has stopped because a pod failed, or fails it. What it waits for first is that its
// pods are gone: Volcano would take finished ones into the next attempt. Whether a failure counts is decided when
// every pod has finished or is gone, since a lost node shows late. The restart is in the status before the pods go, because they
// distinguish a failure from an eviction, and from a user's abortion of the Volcano Job.
func (p *Plan) retry(obs *observed.State) {
	if !observed.IsAborted(obs.Phase()) || !obs.StoppedForAPod() {
		return
	}
	p.retrying()
	if obs.Phase() == vcbatch.Aborting || obs.Resumed() || !p.nextStartIsDue(obs) {
		return
	}
	remove(p, KindPod, obs.Pods...)
	if len(obs.Pods) == 0 {
		p.command(obs, vcbus.ResumeJobAction, strconv.Itoa(int(obs.VolcanoJob.Status.RetryCount)), "Retrying", "a pod of the gang failed or was evicted, and it starts again")
	}
}

// nextStartIsDue reports whether the gang may start again now. Before that the status counts the start, as one after a failure or
// not, unless the failure was the last; then the delay of the backoff passes.
func (p *Plan) nextStartIsDue(obs *observed.State) bool {
	switch left := backoffLeft(obs); {
	case obs.RestartCounted() && left <= 0:
		return true
	case obs.RestartCounted():
		p.Retrying.Message = "the job starts again at " + obs.Now.Add(left).UTC().Format(time.RFC3339)
		p.requeueAfter(left)
	case obs.LastFailure():
		p.Failed, p.Retrying = lastFailure(obs), nil
	default:
		p.CountRestart = true
		if obs.GangFailedByItself() {
			p.Failures = 1
		}
	}
	return false
}

// lastFailure is why a failure is not followed by another start.
func lastFailure(obs *observed.State) *builder.Cause {
	if cause := permanent(obs); cause != nil {
		return cause
	}
	return backoffLimitCause(obs.BackoffLimit())
}

// retrying says that the job starts again soon.
func (p *Plan) retrying() {
	p.Retrying = &builder.Cause{Reason: ReasonRetrying, Message: "the job starts again once its pods are gone"}
}

// backoffLeft returns how much longer a job waits that has failed. One that was evicted does not wait.
func backoffLeft(obs *observed.State) time.Duration {
	if obs.Disrupted() {
		return 0
	}
	return backoffDelay(obs.Job.Status.Failures-1) - obs.Now.Sub(obs.VolcanoJob.Status.State.LastTransitionTime.Time)
}

func backoffLimitCause(limit int32) *builder.Cause {
	text := fmt.Sprintf("the limit of failures, spec.runPolicy.backoffLimit (%d), is exceeded: correct the program or raise the limit, and submit the job again", limit)
	return &builder.Cause{Reason: ReasonBackoffLimitExceeded, Message: text}
}

// permanent returns which exit code makes another start useless, nil if none does.
func permanent(obs *observed.State) *builder.Cause {
	pod, code, ok := obs.PermanentExit()
	if !ok {
		return nil
	}
	return &builder.Cause{Reason: ReasonPermanentExitCode, Message: fmt.Sprintf(
		"%s exited with code %d, after which spec.runPolicy.podFailurePolicy does not start the job again", pod, code)}
}

// restartWorkers starts workers again that have failed, where each is started again alone. A failure is counted in three
// steps, so that none is counted twice: the pod is given the failure's number, the status counts it, and the pod is deleted,
// for which Volcano makes another. An eviction is no failure.
func (p *Plan) restartWorkers(obs *observed.State) {
	if !observed.RestartsPods(obs.VolcanoJob) || !observed.IsActive(obs.Phase()) || obs.Succeeded() {
		return
	}
	var failed []*observed.RolePod
	next := obs.Job.Status.Failures
	for _, m := range obs.RolePods() {
		if m.Role != builder.RoleWorker || m.State != observed.Failed || m.Pod.DeletionTimestamp != nil {
			continue
		}
		number, numbered := observed.FailureNumber(m.Pod)
		_, disrupted := observed.Disruption(m.Pod)
		switch {
		case disrupted || obs.FailureIgnored(m) || numbered && number <= obs.Job.Status.Failures:
			remove(p, KindPod, m.Pod)
		case numbered:
			next = max(next, number)
		default:
			failed = append(failed, m)
		}
	}
	p.Failures = next - obs.Job.Status.Failures
	if len(failed) == 0 {
		return
	}
	if p.Failed = permanent(obs); p.Failed == nil && next+int32(len(failed)) > obs.BackoffLimit() {
		p.Failed = backoffLimitCause(obs.BackoffLimit())
	}
	if p.Failed != nil {
		p.Actions = nil // failed pods are kept for inspection
		return
	}
	var action AnnouncePods
	for _, m := range failed {
		next++
		action.Pods = append(action.Pods, Announcement{Pod: m.Pod, Annotations: map[string]string{v1.FailureAnnotation: strconv.Itoa(int(next))}})
	}
	p.do(action)
}

// abort stops a gang of which a pod has failed. No policy of the Volcano Job aborts it: an abortion is either the controller's,
// and then the status says Restarting before, or a user's own. Where the pod failed because another was evicted,
// Volcano starts the gang again by itself once that one is gone.
func (p *Plan) abort(obs *observed.State) {
	if !observed.IsActive(obs.Phase()) || obs.Succeeded() || obs.Resumed() || !slices.ContainsFunc(together(obs), (*observed.RolePod).FailedByItself) {
		return
	}
	if left := evicting(obs); left > 0 {
		p.requeueAfter(left)
		return
	}
	p.retrying()
	if !observed.Restarting(&obs.Job.Status) {
		return
	}
	p.command(obs, vcbus.AbortJobAction, strconv.Itoa(int(obs.VolcanoJob.Status.RetryCount)), "PodFailed", "a pod of the gang failed")
}

// together are the pods of the present attempt that are not started again alone.
func together(obs *observed.State) []*observed.RolePod {
	alone := observed.RestartsPods(obs.VolcanoJob)
	return slices.DeleteFunc(obs.RolePods(), func(m *observed.RolePod) bool {
		attempt, ok := observed.Attempt(m.Pod)
		return ok && attempt != obs.VolcanoJob.Status.RetryCount || alone && m.Role == builder.RoleWorker
	})
}

// evicting is how much longer to wait for Volcano, where it starts the gang again because a pod is being evicted or was; 0 if
// it does not.
func evicting(obs *observed.State) time.Duration {
	if !obs.Disrupted() {
		return 0
	}
	missing := obs.Total()
	if observed.RestartsPods(obs.VolcanoJob) {
		workers, _ := obs.Size(builder.RoleWorker)
		missing -= workers
	}
	var last time.Time
	for _, m := range together(obs) {
		if m.Pod.DeletionTimestamp == nil {
			missing--
		} else if m.Pod.DeletionTimestamp.After(last) {
			last = m.Pod.DeletionTimestamp.Time
		}
	}
	if missing <= 0 {
		return 0
	}
	if _, failed := obs.FirstFailure(); failed.After(last) {
		last = failed
	}
	return max(volcano.EvictionGracePeriod-obs.Now.Sub(last), 0)
}

// recreateFailedJob replaces the Volcano Job of a job that starts again. The restart is in the status before the Volcano Job goes, because the
// next one gets the number from there.
func (p *Plan) recreateFailedJob(obs *observed.State) {
	p.retrying()
	if !p.nextStartIsDue(obs) {
		return
	}
	p.recreate(obs)
}
