// SPDX-License-Identifier: Apache-2.0

package kubeflow

import (
	"cmp"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	batchv1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	kubeflowv1 "github.com/paddle-volcano/paddle-volcano/controller/api/kubeflow/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/lifecycle"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

// Reasons for which a job waits or cannot be run, in addition to those of package lifecycle that mean the same here.
const (
	ReasonTrainingOperator = "StartedByTrainingOperator"
	ReasonRefusedByServer  = "RefusedByServer"
)

// pollInterval is how soon to read again what is not watched.
const pollInterval = 10 * time.Second

// State is one job of Kubeflow's and what belongs to it, as seen at one moment. Objects are shared with the informers'
// caches and must not be changed.
type State struct {
	Now time.Time
	// Job is never nil.
	Job *kubeflowv1.PaddleJob
	// Named is the PaddleJob of the job's name, also if another object controls it; nil if there is none.
	Named *batchv1.PaddleJob
	// OperatorPods are the names of pods that Kubeflow's training operator created for the job.
	OperatorPods []string
	// Refusal is why the API server refused the PaddleJob, "" if it did not.
	Refusal string
}

// Made is the PaddleJob that was created for the job, nil if there is none.
func (v *State) Made() *batchv1.PaddleJob {
	if v.Named != nil && metav1.IsControlledBy(v.Named, v.Job) {
		return v.Named
	}
	return nil
}

// Plan is what has to be done for a job and what its status has to say about it.
type Plan struct {
	// Create is the PaddleJob to create, and Update the existing one as it has to be; nil for nothing to do.
	Create, Update *batchv1.PaddleJob
	// Delete is true if the job's time to live is over.
	Delete bool
	// RequeueAfter is when to reconcile the job again although nothing that is watched has changed, 0 if never.
	RequeueAfter time.Duration
	// Stalled says what the user has to change before there can be a PaddleJob, nil if nothing.
	Stalled *builder.Cause
	// Waiting says what the job waits for before its PaddleJob can be created, nil if nothing.
	Waiting *builder.Cause
	// SpecNotSynced says why the PaddleJob does not agree with the spec, nil if it does.
	SpecNotSynced *builder.Cause
	// Warnings is what has another effect than under Kubeflow.
	Warnings []builder.Cause
}

// Decide plans what has to be done next for a job. Etcd reports whether there is one for elastic workers.
func Decide(v *State, etcd bool) Plan {
	var p Plan
	if v.Job.DeletionTimestamp != nil || ManagedExternally(v.Job) {
		return p // the garbage collector does the rest, or another controller
	}
	ended := isTerminal(&v.Job.Status)
	if ttl, end := v.Job.Spec.RunPolicy.TTLSecondsAfterFinished, v.Job.Status.CompletionTime; ended && ptr.Deref(ttl, -1) >= 0 && !end.IsZero() {
		left := end.Add(time.Duration(*ttl) * time.Second).Sub(v.Now)
		if p.Delete, p.RequeueAfter = left <= 0, max(left, 0); p.Delete {
			return p
		}
	}
	made := v.Made()
	// What is elastic stays so under a controller with other flags.
	conversion := Convert(v.Job, etcd || made != nil && made.Spec.Elastic != nil)
	p.Warnings = conversion.Warnings
	switch {
	case made != nil:
		p.syncPaddleJob(v, made, &conversion)
	case !ended: // else it is never started again
		p.create(v, &conversion)
	}
	return p
}

// ManagedExternally reports whether another controller manages the job; then nothing of it is changed, nor its status.
func ManagedExternally(job *kubeflowv1.PaddleJob) bool {
	by := ptr.Deref(job.Spec.RunPolicy.ManagedBy, "")
	return by != "" && by != kubeflowv1.ManagedByTrainingOperator
}

// syncPaddleJob updates the PaddleJob to the spec. A suspension goes first where pods are placed: what else is changed with it can be
// refused as long as they are there, and the suspension with it.
func (p *Plan) syncPaddleJob(v *State, made *batchv1.PaddleJob, conversion *Conversion) {
	want := conversion.Job
	switch {
	case made.DeletionTimestamp != nil: // a new one is made once it is gone
	case want == nil:
		p.SpecNotSynced = specNotSynced(builder.Messages(conversion.Refused))
	case !isTerminal(&v.Job.Status) && observed.Placed(&made.Status) && observed.SuspendSet(want):
		if !observed.SuspendSet(made) {
			p.Update = made.DeepCopy()
			p.Update.Spec.RunPolicy = cmp.Or(p.Update.Spec.RunPolicy, &batchv1.RunPolicy{})
			p.Update.Spec.RunPolicy.Suspend = ptr.To(true)
		}
	case !equality.Semantic.DeepEqual(made.Spec, want.Spec) || !equality.Semantic.DeepEqual(made.Labels, want.Labels) ||
		!equality.Semantic.DeepEqual(made.Annotations, want.Annotations):
		p.Update = made.DeepCopy()
		p.Update.Labels, p.Update.Annotations, p.Update.Spec = want.Labels, want.Annotations, want.Spec
		if v.Refusal != "" {
			p.SpecNotSynced = specNotSynced(fieldPaths.Replace(v.Refusal))
		}
	}
}

func specNotSynced(why string) *builder.Cause {
	return &builder.Cause{Reason: lifecycle.ReasonSpecChangeRefused,
		Message: "the job continues with the spec it had, because the changed one cannot run: " + why}
}

// create creates the PaddleJob, or says why it cannot be created.
func (p *Plan) create(v *State, conversion *Conversion) {
	switch {
	case conversion.Job == nil:
		p.Stalled = &builder.Cause{Reason: conversion.Refused[0].Reason, Message: builder.Messages(conversion.Refused)}
	case v.Named != nil && terminating(v.Named, v.Job):
		p.RequeueAfter = pollInterval
		p.Waiting = &builder.Cause{Reason: lifecycle.ReasonPredecessor, Message: "the PaddleJob of " + batchv1.GroupName +
			" of an earlier job of this name is still being deleted"}
	case v.Named != nil:
		p.RequeueAfter = pollInterval
		p.Stalled = &builder.Cause{Reason: lifecycle.ReasonNameTaken, Message: fmt.Sprintf("a PaddleJob of %s named %s exists and does not belong "+
			"to this job: delete it, or give this job another name", batchv1.GroupName, v.Named.Name)}
	case len(v.OperatorPods) > 0:
		p.RequeueAfter = pollInterval
		p.Stalled = &builder.Cause{Reason: ReasonTrainingOperator, Message: fmt.Sprintf("Kubeflow's training operator has started this job: "+
			"%d pods of its are there, for example %s, and nothing is done while they are; once they are deleted the job starts again",
			len(v.OperatorPods), v.OperatorPods[0])}
	default:
		p.Create = conversion.Job
		if v.Refusal != "" { // it is tried again: a quota or a webhook can change
			p.Stalled = &builder.Cause{Reason: ReasonRefusedByServer, Message: fieldPaths.Replace(v.Refusal)}
		}
	}
}

// terminating reports whether a PaddleJob of the job's name is being deleted: the garbage collector deletes one that belonged to an
// earlier job of the name.
func terminating(named *batchv1.PaddleJob, job *kubeflowv1.PaddleJob) bool {
	owner := metav1.GetControllerOf(named)
	return named.DeletionTimestamp != nil || owner != nil && owner.Kind == kubeflowv1.Kind && owner.Name == job.Name && owner.UID != job.UID
}
