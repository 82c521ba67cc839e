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
	reasonProceeding        = "Proceeding"
	reasonStalled           = "Stalled"
	reasonCreating          = "Creating"
	reasonVolcanoJobCreated = "VolcanoJobCreated"
	reasonByOperator        = "StartedByPaddleOperator"
	reasonTraining          = "Training"
	reasonRestarted         = "Restarted"
	reasonWorkersSucceeded  = "WorkersSucceeded"
	reasonCompleted         = "Completed"
	reasonFailed            = "Failed"
)

// set writes one condition. The time of transition moves only with the status.
func set(next *v1.PaddleJobStatus, v *view.View, kind string, is bool, reason, message string) {
	state := metav1.ConditionFalse
	if is {
		state = metav1.ConditionTrue
	}
	meta.SetStatusCondition(&next.Conditions, metav1.Condition{
		Type: kind, Status: state, Reason: reason, Message: message, ObservedGeneration: v.Job.Generation,
	})
}

// conditions tells the story of a job that has not ended.
func conditions(next *v1.PaddleJobStatus, v *view.View, plan *policy.Plan, now time.Time) {
	stalledCondition(next, v, plan)
	createdCondition(next, v, plan)
	placed, running := progress(v)
	scheduledCondition(next, v, placed, now)
	runningCondition(next, v, plan, placed, running)
	restartingCondition(next, v, running)
}

func stalledCondition(next *v1.PaddleJobStatus, v *view.View, plan *policy.Plan) {
	switch {
	case plan.Stalled != nil:
		set(next, v, v1.ConditionStalled, true, plan.Stalled.Reason, plan.Stalled.Message)
	case aborted(v.VolcanoJob):
		set(next, v, v1.ConditionStalled, true, policy.ReasonAborted, fmt.Sprintf(
			"somebody aborted the Volcano Job: vcctl job resume -n %s -N %s starts it again", v.Job.Namespace, v.Job.Name))
	default:
		set(next, v, v1.ConditionStalled, false, reasonProceeding, "")
	}
}

func aborted(job *vcbatch.Job) bool {
	return job != nil && (job.Status.State.Phase == vcbatch.Aborting || job.Status.State.Phase == vcbatch.Aborted)
}

func createdCondition(next *v1.PaddleJobStatus, v *view.View, plan *policy.Plan) {
	switch {
	case plan.Waiting != nil:
		set(next, v, v1.ConditionCreated, false, plan.Waiting.Reason, plan.Waiting.Message)
	case v.VolcanoJob != nil && plan.Unapplied != nil:
		set(next, v, v1.ConditionCreated, true, plan.Unapplied.Reason, plan.Unapplied.Message)
	case v.VolcanoJob != nil:
		set(next, v, v1.ConditionCreated, true, reasonVolcanoJobCreated, warnings(v.Job, plan))
	case plan.Stalled != nil:
		set(next, v, v1.ConditionCreated, false, reasonStalled, plan.Stalled.Message)
	case len(v.Operator.Pods) > 0:
		set(next, v, v1.ConditionCreated, true, reasonByOperator,
			"paddle-operator started this job; it is left to finish without Volcano")
	default:
		set(next, v, v1.ConditionCreated, false, reasonCreating, "the Volcano Job could not be made yet; it is tried again")
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

func runningCondition(next *v1.PaddleJobStatus, v *view.View, plan *policy.Plan, placed, running bool) {
	switch {
	case running:
		set(next, v, v1.ConditionRunning, true, reasonTraining, "")
	case placed && len(plan.Missing) > 0:
		set(next, v, v1.ConditionRunning, false, "WaitingForAddresses",
			"the pods start once all addresses are known; missing: "+some(plan.Missing))
	case placed:
		set(next, v, v1.ConditionRunning, false, "PodsStarting", "not running yet: "+some(notRunning(v)))
	default:
		set(next, v, v1.ConditionRunning, false, "NotScheduled", "")
	}
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

func restartingCondition(next *v1.PaddleJobStatus, v *view.View, running bool) {
	switch {
	case v.VolcanoJob == nil:
	case running && v.VolcanoJob.Status.State.Phase != vcbatch.Restarting:
		if meta.IsStatusConditionTrue(next.Conditions, v1.ConditionRestarting) {
			set(next, v, v1.ConditionRestarting, false, reasonRestarted, "")
		}
	default:
		count := v.VolcanoJob.Status.RetryCount
		if count == 0 || count > allowed(v.VolcanoJob) {
			return
		}
		before := meta.FindStatusCondition(next.Conditions, v1.ConditionRestarting)
		told := before != nil && before.Status == metav1.ConditionTrue && v.Job.Status.Restarts == next.Restarts
		reason, message := cause(v, count-1)
		if told && reason == ReasonUnknownFailure {
			return // it was known when it happened
		}
		set(next, v, v1.ConditionRestarting, true, reason,
			fmt.Sprintf("restart %d of %d: %s", count, allowed(v.VolcanoJob), message))
	}
}

// endedConditions tells how a job has ended, once; later only a changed spec has something to say.
func endedConditions(next *v1.PaddleJobStatus, v *view.View, plan *policy.Plan) {
	if plan.Unapplied != nil {
		set(next, v, v1.ConditionCreated, true, plan.Unapplied.Reason, plan.Unapplied.Message)
	} else if meta.FindStatusCondition(next.Conditions, v1.ConditionCreated) == nil && v.VolcanoJob == nil {
		set(next, v, v1.ConditionCreated, true, reasonByOperator, "paddle-operator started this job")
	}
	if meta.IsStatusConditionTrue(next.Conditions, v1.ConditionSucceeded) ||
		meta.IsStatusConditionTrue(next.Conditions, v1.ConditionFailed) {
		return
	}
	set(next, v, v1.ConditionStalled, false, reasonProceeding, "")
	if meta.IsStatusConditionTrue(next.Conditions, v1.ConditionRestarting) {
		set(next, v, v1.ConditionRestarting, false, reasonRestarted, "")
	}
	if next.Phase == v1.Completed {
		set(next, v, v1.ConditionRunning, false, reasonCompleted, "")
		set(next, v, v1.ConditionSucceeded, true, reasonWorkersSucceeded, "")
		return
	}
	reason, message := failure(v)
	set(next, v, v1.ConditionRunning, false, reasonFailed, "")
	set(next, v, v1.ConditionFailed, true, reason, message)
}
