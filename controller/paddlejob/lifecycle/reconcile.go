// SPDX-License-Identifier: Apache-2.0

// Package lifecycle decides what has to be done next for one PaddleJob, what its status says, and which events a change of
// the status is worth. It is pure: the observed state in; a plan, a status or events out. It makes no API call.
package lifecycle

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/legacy"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

// Decide plans what has to be done next for a PaddleJob.
func Decide(obs *observed.State, cfg builder.Config) Plan {
	var plan Plan
	if legacy.HasFinalizer(obs.Job) {
		plan.do(ReleaseFinalizer{})
	}
	switch {
	case obs.Job.DeletionTimestamp != nil:
		// The garbage collector does the rest.
	case expired(obs):
		plan.remove(KindPaddleJob, obs.Job)
	case observed.Finished(obs.Job):
		plan.cleanUp(obs)
		plan.noteFinalStatus(obs)
		if left, ok := timeToLive(obs); ok {
			plan.requeueAfter(left)
		}
	case restoredPhase(obs) != "":
		plan.RestoredPhase = restoredPhase(obs)
	case suspended(obs):
		plan.suspend(obs)
	case obs.PodStatusLag() > 0:
		plan.requeueAfter(obs.PodStatusLag())
	case deadlineExceeded(obs):
		plan.Failed = deadlineCause(obs)
	case obs.FailedByVolcano() && obs.LastFailure():
		plan.Failed = lastFailure(obs)
	default:
		if left, ok := deadline(obs); ok {
			plan.requeueAfter(left)
		}
		plan.run(obs, cfg)
	}
	return plan
}

// run brings a job forward that is to run.
func (p *Plan) run(obs *observed.State, cfg builder.Config) {
	switch {
	case obs.NeedsRecreation():
		p.recreateFailedJob(obs)
	case lost(obs):
		p.replaceLostVolcanoJob(obs)
	case obs.VolcanoJob != nil && obs.VolcanoJob.DeletionTimestamp != nil:
		p.Waiting = &builder.Cause{Reason: ReasonReplacing, Message: "the Volcano Job is being deleted; a new one is made once it is gone"}
	case obs.VolcanoJob != nil:
		p.syncVolcanoJob(obs, cfg)
	case legacy.PodsHealthy(obs):
		// It is left to finish as it was started.
	case !obs.Operator.Empty():
		p.replaceLegacyPods(obs)
	default:
		p.create(obs, cfg)
	}
}

// syncVolcanoJob looks after a job whose Volcano Job exists.
func (p *Plan) syncVolcanoJob(obs *observed.State, cfg builder.Config) {
	if p.applySpecChange(obs, cfg) || p.applyUserPodGroup(obs, cfg) {
		return
	}
	if p.SpecNotSynced == nil && !warningsReported(obs.Job) {
		_, p.Warnings = builder.Job(obs.Job, overridesOf(obs), cfg)
	}
	if p.retry(obs); p.Failed != nil {
		return
	}
	if p.restartWorkers(obs); p.Failed != nil {
		return
	}
	p.markDeletedPodsOutOfSync(obs)
	p.scale(obs, cfg)
	p.podGroup(obs)
	p.environment(obs, cfg)
	p.complete(obs)
	p.abort(obs)
	p.resyncMissingPods(obs)
	p.events(obs)
	p.resyncStuckJob(obs)
}

// warningsReported reports whether the status has the warnings about this generation of the spec already. They are not worked out
// again, because the PodGroup that the user made counts when the Volcano Job is created and never after.
func warningsReported(job *v1.PaddleJob) bool {
	c := meta.FindStatusCondition(job.Status.Conditions, v1.ConditionCreated)
	return c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration == job.Generation
}
