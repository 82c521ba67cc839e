// SPDX-License-Identifier: Apache-2.0

package status

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/policy"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// Next is the status after what was seen and what was planned for it. What a status has once said of the past (that the
// job has ended, when it started, how often it was restarted) stays, also where the view lags behind.
func Next(v *view.View, plan *policy.Plan, now time.Time) *v1.PaddleJobStatus {
	next := v.Job.Status.DeepCopy()
	next.ObservedGeneration = v.Job.Generation
	next.Mode = render.Mode(v.Job)
	next.Queue = queueOf(v, next.Queue)
	next.Restarts = max(next.Restarts, restarts(v, plan))
	next.Failures += plan.Failures
	next.Phase = phaseOf(v, plan)
	next.Recreations = max(next.Recreations, recreations(v, plan))
	countRoles(next, v)
	times(next, v, plan, now)
	story := &story{next: next, v: v, plan: plan, now: now}
	switch {
	case over(next):
		story.ended()
	case v.Job.DeletionTimestamp != nil:
		// What was said holds until the end.
	case plan.Suspended != nil:
		story.suspended()
	case ending(v):
		// As above.
	default:
		story.goesOn()
	}
	return next
}

func queueOf(v *view.View, before string) string {
	switch {
	case v.VolcanoJob != nil:
		return v.VolcanoJob.Spec.Queue
	case v.Job.Spec.SchedulingPolicy != nil && v.Job.Spec.SchedulingPolicy.Queue != "":
		return v.Job.Spec.SchedulingPolicy.Queue
	}
	return before
}

// over says whether the status is that of a job that has ended for good.
func over(status *v1.PaddleJobStatus) bool {
	return status.Phase == v1.Completed || status.Phase == v1.Failed
}

// phaseOf is the job's state in one word.
func phaseOf(v *view.View, plan *policy.Plan) v1.Phase {
	switch {
	case view.Finished(v.Job):
		return v.Job.Status.Phase
	case plan.RestoredPhase != "":
		return plan.RestoredPhase
	case plan.Failed != nil:
		return v1.Failed
	case plan.Succeeded:
		return v1.Completed
	case v.Job.DeletionTimestamp != nil:
		return v1.Terminating
	case plan.Suspended != nil:
		return v1.Suspended
	case v.VolcanoJob == nil:
		switch {
		case len(v.Operator.Pods) > 0 && v.Succeeded():
			return v1.Completed
		case plan.Waiting != nil && plan.Waiting.Reason == policy.ReasonTakingOver:
			return v1.Pending
		}
		return placement(v)
	}
	switch phase := v.VolcanoJob.Status.State.Phase; {
	case v.Lag() > 0:
		return v.Job.Status.Phase
	case plan.Retrying != nil:
		return v1.Restarting
	case phase == vcbatch.Completed:
		return v1.Completed
	case phase == vcbatch.Failed || phase == vcbatch.Terminated:
		return v1.Failed
	case ending(v):
		return v.Job.Status.Phase
	case phase == vcbatch.Restarting:
		return v1.Restarting
	}
	return placement(v)
}

// ending says whether the end is certain and Volcano is on its way there: servers stop, and that is no news.
func ending(v *view.View) bool {
	return v.VolcanoJob != nil && (v.Ended() || v.Succeeded() || v.Lag() > 0)
}

// placement says how far the gang's pods have come.
func placement(v *view.View) v1.Phase {
	placed, running := progress(v)
	switch {
	case running:
		return v1.Running
	case placed:
		return v1.Starting
	}
	return v1.Pending
}

// progress says whether enough pods of every role are placed, and whether enough of them run or have succeeded.
func progress(v *view.View) (placed, running bool) {
	if replaced(v) {
		return false, false
	}
	on, up := map[string]int32{}, map[string]int32{}
	for _, m := range v.Members() {
		switch m.State {
		case view.Starting:
			on[m.Role]++
		case view.Running, view.Succeeded:
			on[m.Role]++
			up[m.Role]++
		}
	}
	size := int32(0)
	placed, running = true, true
	for _, role := range view.Roles {
		total, minimum := v.Size(role)
		size += total
		placed = placed && on[role] >= minimum
		running = running && up[role] >= minimum
	}
	return placed && size > 0, running && size > 0
}

// replaced reports whether the Volcano Job is one that was deleted when the job was suspended: its pods end, and the job, which
// was resumed since, waits for the next Volcano Job.
func replaced(v *view.View) bool {
	waits := v.Job.Status.Phase == v1.Suspended || v.Job.Status.Phase == v1.Pending
	return v.VolcanoJob != nil && v.VolcanoJob.DeletionTimestamp != nil && waits
}

// times keeps when the gang first ran and when the job ended.
func times(next *v1.PaddleJobStatus, v *view.View, plan *policy.Plan, now time.Time) {
	if next.StartTime == nil && plan.RestoredPhase == "" && (next.Phase == v1.Running || next.Phase == v1.Completed) {
		next.StartTime = started(v, now)
	}
	if next.CompletionTime == nil && over(next) {
		end := metav1.NewTime(now).Rfc3339Copy()
		if plan.Failed == nil && !plan.Succeeded && v.VolcanoJob != nil && !v.VolcanoJob.Status.State.LastTransitionTime.IsZero() {
			end = v.VolcanoJob.Status.State.LastTransitionTime
		}
		next.CompletionTime = &end
	}
}

// started is when the last container of the gang started.
func started(v *view.View, now time.Time) *metav1.Time {
	var last *metav1.Time
	for _, m := range v.Members() {
		for i := range m.Pod.Status.ContainerStatuses {
			state := &m.Pod.Status.ContainerStatuses[i].State
			var at *metav1.Time
			switch {
			case state.Running != nil:
				at = &state.Running.StartedAt
			case state.Terminated != nil:
				at = &state.Terminated.StartedAt
			}
			if !at.IsZero() && (last == nil || last.Before(at)) {
				last = at.DeepCopy()
			}
		}
	}
	if last == nil {
		at := metav1.NewTime(now).Rfc3339Copy()
		last = &at
	}
	return last
}
