// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

// suspended reports whether the user has suspended the job. A job that is about to end is not suspended any more.
func suspended(obs *observed.State) bool { return observed.SuspendSet(obs.Job) && !endsByItself(obs) }

// suspend deletes everything that runs or holds capacity of a queue. The Volcano Job is deleted too: an aborted one would keep the
// old spec, and Volcano counts its resumption as a failure.
func (p *Plan) suspend(obs *observed.State) {
	if obs.VolcanoJob != nil && !counted(obs) {
		p.Recreate = true // and nothing else: a user who reads Suspended may resume the job with another spec
		if obs.NeedsRecreation() || observed.Restarting(&obs.Job.Status) {
			p.retrying() // the phase of the Volcano Job, Failed or Aborted, is not the job's
		}
		return
	}
	p.Suspended = &builder.Cause{Reason: ReasonSuspended,
		Message: "nothing of the job runs; it starts when spec.runPolicy.suspend is false"}
	if obs.VolcanoJob != nil || !obs.Operator.Empty() || len(obs.Predecessors) > 0 {
		p.Suspended = &builder.Cause{Reason: ReasonSuspending, Message: "the pods are being deleted"}
	}
	if !obs.Operator.Empty() {
		p.deleteLegacyResources(obs)
	}
	if obs.VolcanoJob != nil {
		p.recreate(obs)
	} else {
		remove(p, KindConfigMap, obs.Environment)
	}
}

// never is how much longer something may take that has no limit.
const never time.Duration = math.MaxInt64

// untilDeadline returns how much longer the job may take, never if it has no deadline or is about to end by itself.
func untilDeadline(obs *observed.State) time.Duration {
	run := obs.Job.Spec.RunPolicy
	if run == nil || run.ActiveDeadlineSeconds == nil || endsByItself(obs) {
		return never
	}
	return time.Duration(*run.ActiveDeadlineSeconds)*time.Second - obs.Active()
}

func deadlineCause(obs *observed.State) *builder.Cause {
	return &builder.Cause{Reason: ReasonDeadlineExceeded, Message: fmt.Sprintf(
		"the job took longer than spec.runPolicy.activeDeadlineSeconds, %d s", *obs.Job.Spec.RunPolicy.ActiveDeadlineSeconds)}
}

// endsByItself reports whether the job is about to end by itself.
func endsByItself(obs *observed.State) bool {
	return obs.Succeeded() || obs.Ended()
}

// timeToLive returns how much longer a PaddleJob is kept, never if it has not finished or has no limit.
func timeToLive(obs *observed.State) time.Duration {
	run, end := obs.Job.Spec.RunPolicy, obs.Job.Status.CompletionTime
	if !observed.Finished(obs.Job) || run == nil || run.TTLSecondsAfterFinished == nil || end == nil {
		return never
	}
	return end.Add(time.Duration(*run.TTLSecondsAfterFinished) * time.Second).Sub(obs.Now)
}

// noteFinalStatus records the end of a job where backups keep it: they leave the status out. A PaddleJob that another object
// controls is created by that object's controller, without the annotation.
func (p *Plan) noteFinalStatus(obs *observed.State) {
	value := string(observed.Outcome(&obs.Job.Status)) + " " + builder.SpecHash(obs.Job)
	if metav1.GetControllerOf(obs.Job) == nil && obs.Job.Annotations[v1.FinalStatusAnnotation] != value {
		p.do(NoteFinalStatus{Value: value})
	}
}

// restoredPhase returns how a job without a status had finished with this spec before, "" if it had not. A user who forges the annotation
// only stops that job.
func restoredPhase(obs *observed.State) v1.Phase {
	phase, hash, _ := strings.Cut(obs.Job.Annotations[v1.FinalStatusAnnotation], " ")
	if len(obs.Job.Status.Conditions) > 0 || hash != builder.SpecHash(obs.Job) || (phase != string(v1.Completed) && phase != string(v1.Failed)) {
		return ""
	}
	return v1.Phase(phase)
}

// cleanUp deletes what a finished job must not keep; nothing is created for it again.
func (p *Plan) cleanUp(obs *observed.State) {
	if p.stop(obs) {
		return
	}
	remove(p, KindPodGroup, obs.PodGroup, obs.Operator.PodGroup)
	// Volcano stops the servers of its own Jobs; those that paddle-operator made would run forever.
	if cleansPods(obs.Job.Spec.CleanPodPolicy, observed.Outcome(&obs.Job.Status)) {
		remove(p, KindPod, slices.Concat(obs.Pods, obs.Operator.Pods)...)
	} else {
		remove(p, KindPod, unfinishedPods(obs.Operator.Pods)...)
	}
	remove(p, KindService, obs.Operator.Services...)
	if obs.VolcanoJob != nil && specChanged(obs) {
		p.SpecNotSynced = &builder.Cause{Reason: ReasonSpecChangeNotApplied,
			Message: "the job has finished, and a changed spec does not start it again: create a new PaddleJob"}
	}
}

// cleansPods is paddle-operator's table: after success on Always, OnCompletion and nothing, after failure on Always and
// OnFailure, and never on anything else.
func cleansPods(policy v1.CleanPodPolicy, outcome v1.Phase) bool {
	switch policy {
	case v1.CleanAlways:
		return true
	case v1.CleanOnFailure:
		return outcome == v1.Failed
	case v1.CleanOnCompletion, "":
		return outcome == v1.Completed
	}
	return false
}

// replaceLegacyPods deletes what paddle-operator made for a gang that cannot finish, so that it starts again under Volcano.
func (p *Plan) replaceLegacyPods(obs *observed.State) {
	p.Waiting = &builder.Cause{Reason: ReasonTakingOver,
		Message: "the pods and Services that paddle-operator created cannot finish and are being deleted; the job then starts again under Volcano"}
	p.deleteLegacyResources(obs)
}

// deleteLegacyResources deletes all that paddle-operator made for the job.
func (p *Plan) deleteLegacyResources(obs *observed.State) {
	remove(p, KindPod, obs.Operator.Pods...)
	remove(p, KindService, obs.Operator.Services...)
	remove(p, KindConfigMap, obs.Operator.Environment)
	remove(p, KindPodGroup, obs.Operator.PodGroup)
	// Services and ConfigMaps of paddle-operator's are not watched.
	p.requeueAfter(pollInterval)
}
