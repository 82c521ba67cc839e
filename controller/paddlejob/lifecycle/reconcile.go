// SPDX-License-Identifier: Apache-2.0

// Package lifecycle decides what has to be done next for one PaddleJob, what its status says, and which events a change of
// the status is worth. It is pure: the observed state in; a plan, a status or events out. It makes no API call.
package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

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
	case timeToLive(obs) <= 0:
		remove(&plan, KindPaddleJob, obs.Job)
	case observed.Finished(obs.Job):
		plan.cleanUp(obs)
		plan.noteFinalStatus(obs)
		plan.requeueAfter(timeToLive(obs))
	case restoredPhase(obs) != "":
		plan.RestoredPhase = restoredPhase(obs)
	case suspended(obs):
		plan.suspend(obs)
	case obs.PodStatusLag() > 0:
		plan.requeueAfter(obs.PodStatusLag())
	case untilDeadline(obs) <= 0:
		plan.Failed = deadlineCause(obs)
	case obs.FailedByVolcano() && obs.LastFailure():
		plan.Failed = lastFailure(obs)
	default:
		plan.requeueAfter(untilDeadline(obs))
		plan.run(obs, cfg)
	}
	return plan
}

// run plans for a job that is to run.
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

// syncVolcanoJob plans for a job whose Volcano Job exists.
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
	p.restartPartlyRecreated(obs)
	p.resyncMissingPods(obs)
	p.events(obs)
	p.resyncStuckJob(obs)
}

// warningsReported reports whether the status has the warnings about this generation of the spec already. They are not computed
// again, because the PodGroup that the user created counts when the Volcano Job is created and never after.
func warningsReported(job *v1.PaddleJob) bool {
	c := meta.FindStatusCondition(job.Status.Conditions, v1.ConditionCreated)
	return c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration == job.Generation
}

// Plan is what has to be done for a PaddleJob and what its status has to say about it.
type Plan struct {
	// Actions are to be done in this order; none of those after a failed one may be done.
	Actions []Action
	// Stalled says what the user has to change before the job can continue, nil if nothing.
	Stalled *builder.Cause
	// Waiting says what the job waits for before its Volcano Job can be made, nil if nothing.
	Waiting *builder.Cause
	// Failed says why the job fails permanently although Volcano would continue it, nil if it does not.
	Failed *builder.Cause
	// Retrying says when a job that failed starts again, nil if it has not failed or starts at once.
	Retrying *builder.Cause
	// Succeeded says that the job has succeeded although Volcano does not end it.
	Succeeded bool
	// RestoredPhase is how the job had ended before it was restored without its status, "" for any other job.
	RestoredPhase v1.Phase
	// CountRestart is true when the gang is to be started again and the status has not counted that yet.
	CountRestart bool
	// Recreate is true when the Volcano Job is to be deleted and created again.
	Recreate bool
	// Failures is how many failures the status has to count that it has not counted yet.
	Failures int32
	// Suspended says how far the job's suspension has come, nil if it is not suspended.
	Suspended *builder.Cause
	// SpecNotSynced says why the spec is not what runs, nil if it is.
	SpecNotSynced *builder.Cause
	// LauncherUnusable says why paddle.distributed.launch cannot start the gang, nil if it can or the addresses are not known.
	LauncherUnusable *builder.Cause
	// Missing are the pods whose addresses are not known yet, where the others wait for them.
	Missing []string
	// Warnings are what the user should know about the spec; reported once per generation.
	Warnings []builder.Cause
	// RequeueAfter is when to reconcile the job again although nothing that is watched has changed, 0 if never.
	RequeueAfter time.Duration
}

// pollInterval is how soon to read again what is not watched.
const pollInterval = 10 * time.Second

// Action is one write to the API, of one of the types below.
type Action any

// Event is emitted once the action it belongs to is done.
type Event struct {
	// Type is Normal or Warning, as in the core API.
	Type    string
	Reason  string
	Message string
}

// ReleaseFinalizer removes paddle-operator's finalizer from the PaddleJob.
type ReleaseFinalizer struct{}

// CreateVolcanoJob creates the Volcano Job.
type CreateVolcanoJob struct {
	Job    *vcbatch.Job
	Events []Event
}

// ApplyPodGroup creates the PodGroup, or applies PodGroupOwned to the one that exists.
type ApplyPodGroup struct{ PodGroup *vcscheduling.PodGroup }

// WriteEnvironment creates the ConfigMap of the environment, or replaces the data of the one that exists.
type WriteEnvironment struct {
	ConfigMap *corev1.ConfigMap
	// Old is the ConfigMap that exists, nil if there is none.
	Old *corev1.ConfigMap
}

// IssueCommand creates a Command for Volcano.
type IssueCommand struct {
	Command *vcbus.Command
	// State is that of the Volcano Job (volcano.JobState), which changes once Volcano has executed the command; empty where it
	// may not change.
	State string
}

// ScaleVolcanoJob changes how many pods a Volcano Job has.
type ScaleVolcanoJob struct {
	// Job is the desired Volcano Job.
	Job *vcbatch.Job
	// WorkerCap is the number of workers that it is kept at from then on, nil if it has as many as the spec.
	WorkerCap *observed.WorkerCap
}

// NotePodGroup records that a PodGroup of the user's own was taken into account.
type NotePodGroup struct {
	PodGroup *vcscheduling.PodGroup
	Event    Event
}

// Kind is a kind of object that can be deleted.
type Kind string

// Kinds that can be deleted.
const (
	KindVolcanoJob Kind = "Volcano Job"
	KindPodGroup   Kind = "PodGroup"
	KindConfigMap  Kind = "ConfigMap"
	KindPod        Kind = "pod"
	KindService    Kind = "Service"
	KindPaddleJob  Kind = "PaddleJob"
)

// Delete deletes exactly the object that was seen, by its uid.
type Delete struct {
	Kind   Kind
	Object metav1.Object
}

func (p *Plan) do(actions ...Action) { p.Actions = append(p.Actions, actions...) }

// requeueAfter requests a sync after a time, unless that is never; the earliest one counts.
func (p *Plan) requeueAfter(wait time.Duration) {
	if wait != never && (p.RequeueAfter == 0 || wait < p.RequeueAfter) {
		p.RequeueAfter = max(wait, time.Nanosecond)
	}
}

// recreate deletes the Volcano Job and its environment: the Job once the status counts that, so that the count is not lost with a controller
// that ends in between.
func (p *Plan) recreate(obs *observed.State) {
	p.Recreate = true
	remove(p, KindConfigMap, obs.Environment)
	if counted(obs) {
		remove(p, KindVolcanoJob, obs.VolcanoJob)
	}
}

// counted reports whether the status counts that the Volcano Job is created again.
func counted(obs *observed.State) bool {
	return obs.Job.Status.Recreations > observed.Recreations(obs.VolcanoJob)
}

// remove deletes objects, but for those that are nil or are being deleted.
func remove[T interface {
	comparable
	metav1.Object
}](p *Plan, kind Kind, objects ...T) {
	var none T
	for _, object := range objects {
		if object != none && object.GetDeletionTimestamp() == nil {
			p.do(Delete{Kind: kind, Object: object})
		}
	}
}

// MovePorts writes on the Volcano Job where its pods' ports begin, and the label by which it is found. Ports are chosen once
// all pods of the gang are placed, so that a job that waits has none.
//
// Two controllers, or two syncs of one, may choose the same ports while neither sees the other's Job. So a choice counts
// only after all Jobs are listed once it was written (AnnouncePods): of two that choose the same, at least one
// sees the other then, and moves, because its pods have not started. One whose pods are annotated never moves.
type MovePorts struct {
	// First is 0 where the Job releases its ports.
	First int
}

// AnnouncePods annotates pods, with their addresses and ports for example, unless the ports are another Job's too.
type AnnouncePods struct {
	// Ports are the Job's; none if its pods have addresses of their own.
	Ports builder.Ports
	Pods  []Announcement
}

// Announcement is the annotations of one pod.
type Announcement struct {
	Pod         *corev1.Pod
	Annotations map[string]string
}

// NoteFinalStatus annotates a finished PaddleJob.
type NoteFinalStatus struct{ Value string }
