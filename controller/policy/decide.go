// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// Decide plans what has to be done next for a PaddleJob.
func Decide(v *view.View, cfg render.Config) Plan {
	var plan Plan
	if slices.Contains(v.Job.Finalizers, keys.OperatorFinalizer) {
		plan.do(ReleaseFinalizer{})
	}
	switch {
	case v.Job.DeletionTimestamp != nil:
		// The garbage collector does the rest.
	case view.Finished(v.Job):
		if !plan.expire(v) {
			plan.cleanUp(v)
			plan.noteFinalStatus(v)
		}
	case plan.restored(v):
		// Its status is written first.
	case suspended(v):
		plan.suspend(v)
	case v.Lag() > 0:
		plan.lookAgainIn(v.Lag())
	case plan.overdue(v) || plan.exhausted(v):
		// It is written down first; a job that has ended is then stopped.
	case v.Unretried():
		plan.again(v)
	case plan.forgotten(v):
		// It goes on without Volcano.
	case v.VolcanoJob != nil && v.VolcanoJob.DeletionTimestamp != nil:
		plan.Waiting = &render.Notice{Reason: ReasonReplacing,
			Message: "the Volcano Job is being deleted; a new one is made once it is gone"}
	case v.VolcanoJob != nil:
		plan.keep(v, cfg)
	case operatorGangStands(v):
		// It is left to finish as it was started.
	case !v.Operator.Empty():
		plan.clearOperator(v)
	default:
		plan.create(v, cfg)
	}
	return plan
}

// keep looks after a job whose Volcano Job exists.
func (p *Plan) keep(v *view.View, cfg render.Config) {
	if p.replace(v, cfg) || p.lateWish(v, cfg) {
		return
	}
	if p.Unapplied == nil && !told(v.Job) {
		_, p.Warnings = render.Job(v.Job, wishOf(v), cfg)
	}
	if p.retry(v); p.Failed != nil {
		return
	}
	if p.restartWorkers(v); p.Failed != nil {
		return
	}
	p.excuse(v)
	p.scale(v, cfg)
	p.podGroup(v)
	p.environment(v, cfg)
	p.complete(v)
	p.abort(v)
	p.unmade(v)
	p.events(v)
	p.stuck(v)
}

// told says whether the status has the warnings about this generation of the spec already. They are not worked out
// anew, because the PodGroup that the user made counts when the Volcano Job is created and never after.
func told(job *v1.PaddleJob) bool {
	c := meta.FindStatusCondition(job.Status.Conditions, v1.ConditionCreated)
	return c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration == job.Generation
}
