// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/policy"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// Reasons of conditions. README.md lists what each means.
const (
	reasonProceeding          = "Proceeding"
	reasonStalled             = "Stalled"
	reasonCreating            = "Creating"
	reasonVolcanoJobCreated   = "VolcanoJobCreated"
	reasonByOperator          = "StartedByPaddleOperator"
	reasonTraining            = "Training"
	reasonNotScheduled        = "NotScheduled"
	reasonWaitingForAddresses = "WaitingForAddresses"
	reasonPodsStarting        = "PodsStarting"
	reasonRestarted           = "Restarted"
	reasonWorkersSucceeded    = "WorkersSucceeded"
	reasonCompleted           = "Completed"
	reasonFailed              = "Failed"
)

// story writes the conditions of a status.
type story struct {
	next *v1.PaddleJobStatus
	v    *view.View
	plan *policy.Plan
	now  time.Time
}

// set writes one condition. The time of transition moves only with the status.
func (s *story) set(kind string, is bool, reason, message string) {
	state := metav1.ConditionFalse
	if is {
		state = metav1.ConditionTrue
	}
	meta.SetStatusCondition(&s.next.Conditions, metav1.Condition{
		Type: kind, Status: state, Reason: reason, Message: message,
		ObservedGeneration: s.v.Job.Generation, LastTransitionTime: metav1.NewTime(s.now).Rfc3339Copy(),
	})
}

// has says whether a condition is True.
func (s *story) has(kind string) bool { return meta.IsStatusConditionTrue(s.next.Conditions, kind) }

// goesOn tells of a job that has not ended.
func (s *story) goesOn() {
	s.resumed(reasonResumed)
	s.stalled()
	s.created()
	placed, running := progress(s.v)
	s.admitted(placed)
	s.scheduled(placed)
	s.running(placed, running)
	s.launcherUsable()
	s.restarting(running)
}

func (s *story) stalled() {
	v, plan := s.v, s.plan
	switch {
	case plan.Stalled != nil:
		s.set(v1.ConditionStalled, true, plan.Stalled.Reason, plan.Stalled.Message)
	case aborted(v.VolcanoJob) && plan.Retrying == nil:
		s.set(v1.ConditionStalled, true, policy.ReasonAborted, fmt.Sprintf(
			"somebody aborted the Volcano Job: vcctl job resume -n %s -N %s starts it again", v.Job.Namespace, v.Job.Name))
	default:
		s.set(v1.ConditionStalled, false, reasonProceeding, "")
	}
}

func aborted(job *vcbatch.Job) bool {
	return job != nil && (job.Status.State.Phase == vcbatch.Aborting || job.Status.State.Phase == vcbatch.Aborted)
}

func (s *story) created() {
	v, plan := s.v, s.plan
	switch {
	case plan.Waiting != nil:
		s.set(v1.ConditionCreated, false, plan.Waiting.Reason, plan.Waiting.Message)
	case v.VolcanoJob != nil && plan.Unapplied != nil:
		s.set(v1.ConditionCreated, true, plan.Unapplied.Reason, plan.Unapplied.Message)
	case v.VolcanoJob != nil:
		s.set(v1.ConditionCreated, true, reasonVolcanoJobCreated, warnings(v.Job, plan))
	case plan.Stalled != nil:
		s.set(v1.ConditionCreated, false, reasonStalled, plan.Stalled.Message)
	case len(v.Operator.Pods) > 0:
		s.set(v1.ConditionCreated, true, reasonByOperator,
			"paddle-operator started this job; it is left to finish without Volcano")
	default:
		s.set(v1.ConditionCreated, false, reasonCreating, "the Volcano Job could not be made yet; it is tried again")
	}
}

// warnings are the texts of those that were found, or those that were told before about the same spec.
func warnings(job *v1.PaddleJob, plan *policy.Plan) string {
	before := meta.FindStatusCondition(job.Status.Conditions, v1.ConditionCreated)
	if plan.Warnings == nil && before != nil && before.Reason == reasonVolcanoJobCreated &&
		before.ObservedGeneration == job.Generation {
		return before.Message
	}
	return texts(plan.Warnings)
}

func texts(notices []render.Notice) string {
	lines := make([]string, 0, len(notices))
	for _, n := range notices {
		lines = append(lines, n.Message)
	}
	return strings.Join(lines, "; ")
}

func (s *story) running(placed, running bool) {
	if running {
		s.set(v1.ConditionRunning, true, reasonTraining, "")
		return
	}
	if !placed {
		s.set(v1.ConditionRunning, false, reasonNotScheduled, "")
		return
	}
	failures := s.v.StartFailures()
	switch {
	case len(failures) > 0:
		s.set(v1.ConditionRunning, false, failures[0].Reason, startFailure(&failures[0], s.v.Total()))
	case len(s.plan.Missing) > 0:
		s.set(v1.ConditionRunning, false, reasonWaitingForAddresses,
			"the pods start once all addresses are known; missing: "+some(s.plan.Missing))
	default:
		s.set(v1.ConditionRunning, false, reasonPodsStarting, "not running yet: "+some(notRunning(s.v)))
	}
}

// startFailure is how many pods the kubelet does not start for a reason, and what it says of the first.
func startFailure(f *view.StartFailure, total int32) string {
	text := fmt.Sprintf("%d of %d pods cannot start, for example %s", len(f.Pods), total, f.Pods[0])
	if f.Message != "" {
		text += ": " + f.Message
	}
	return text
}

func (s *story) launcherUsable() {
	if notice := s.plan.LauncherUnusable; notice != nil {
		s.set(v1.ConditionLauncherUsable, false, notice.Reason, notice.Message)
		return
	}
	meta.RemoveStatusCondition(&s.next.Conditions, v1.ConditionLauncherUsable)
}

func notRunning(v *view.View) []string {
	var names []string
	for _, m := range v.Members() {
		if m.State != view.Running && m.State != view.Succeeded {
			names = append(names, m.Pod.Name)
		}
	}
	return names
}

// some lists a few names; a status must not grow with the gang.
func some(names []string) string {
	const few = 5
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}

func (s *story) restarting(running bool) {
	v, next := s.v, s.next
	switch {
	case v.VolcanoJob == nil:
	case s.plan.Retrying != nil:
		reason, message := cause(v, v.VolcanoJob.Status.RetryCount)
		if next.Restarts > view.Restarts(v.VolcanoJob) {
			message = s.numbered(reason, message)
		}
		s.set(v1.ConditionRestarting, true, reason, message+"; "+s.plan.Retrying.Message)
	case running && v.VolcanoJob.Status.State.Phase != vcbatch.Restarting:
		switch {
		case s.has(v1.ConditionRestarting):
			s.set(v1.ConditionRestarting, false, reasonRestarted, "")
		case v.Job.Status.Restarts < next.Restarts: // nobody looked while it was restarting
			_, message := s.lastRestart()
			s.set(v1.ConditionRestarting, false, reasonRestarted, message)
		}
	default:
		count := v.VolcanoJob.Status.RetryCount
		if count == 0 {
			return
		}
		before := meta.FindStatusCondition(next.Conditions, v1.ConditionRestarting)
		told := before != nil && before.Status == metav1.ConditionTrue && v.Job.Status.Restarts == next.Restarts
		reason, message := s.lastRestart()
		if told && reason == ReasonUnknownFailure {
			return // it was known when it happened
		}
		s.set(v1.ConditionRestarting, true, reason, message)
	}
}

// lastRestart tells of the gang's last restart, and why it was.
func (s *story) lastRestart() (reason, message string) {
	reason, message = cause(s.v, s.v.VolcanoJob.Status.RetryCount-1)
	return reason, s.numbered(reason, message)
}

// numbered is the number of the last restart and its cause; after a failure also how many restarts there may be if failures
// alone follow.
func (s *story) numbered(reason, message string) string {
	if reason != view.ReasonPodFailed {
		return fmt.Sprintf("restart %d: %s", s.next.Restarts, message)
	}
	return fmt.Sprintf("restart %d of %d: %s", s.next.Restarts, s.next.Restarts+max(s.v.BackoffLimit()-s.next.Failures, 0), message)
}

// ended tells how a job has ended, once; later only a changed spec has something to say.
func (s *story) ended() {
	v, next, plan := s.v, s.next, s.plan
	if plan.Unapplied != nil {
		s.set(v1.ConditionCreated, true, plan.Unapplied.Reason, plan.Unapplied.Message)
	} else if meta.FindStatusCondition(next.Conditions, v1.ConditionCreated) == nil && v.VolcanoJob == nil && plan.RestoredPhase == "" {
		if plan.Failed != nil && len(v.Operator.Pods) == 0 {
			s.set(v1.ConditionCreated, false, plan.Failed.Reason, plan.Failed.Message)
		} else {
			s.set(v1.ConditionCreated, true, reasonByOperator, "paddle-operator started this job")
		}
	}
	if s.has(v1.ConditionSucceeded) || s.has(v1.ConditionFailed) {
		return
	}
	s.set(v1.ConditionStalled, false, reasonProceeding, "")
	if s.has(v1.ConditionRestarting) {
		s.set(v1.ConditionRestarting, false, reasonRestarted, "")
	}
	// One whose time was up before its suspension ends when it is to go on.
	s.resumed(string(next.Phase))
	reason, message := reasonWorkersSucceeded, ""
	if next.Phase == v1.Failed {
		reason, message = failure(v, plan)
	}
	if plan.RestoredPhase != "" {
		reason, message = policy.ReasonRestored, plan.RestoredMessage
	}
	if next.Phase == v1.Completed {
		s.set(v1.ConditionRunning, false, reasonCompleted, "")
		s.set(v1.ConditionSucceeded, true, reason, message)
		return
	}
	s.set(v1.ConditionRunning, false, reasonFailed, "")
	s.set(v1.ConditionFailed, true, reason, message)
}
