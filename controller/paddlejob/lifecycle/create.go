// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
	"github.com/paddle-volcano/paddle-volcano/controller/validation"
)

// create creates the Volcano Job, or sets the reason why it cannot be created.
func (p *Plan) create(obs *observed.State, cfg builder.Config) {
	overrides := overridesOf(obs)
	if refused := validation.Validate(obs.Job, overrides, cfg); len(refused) > 0 {
		p.Stalled = invalidSpec(ReasonInvalidSpec, refused)
		return
	}
	if p.nameTaken(obs) {
		return
	}
	var degrees *v1.Parallelism
	if spec := obs.Job.Spec.Parallelism; spec != nil && spec.ConfigMapKeyRef != nil {
		var refused field.ErrorList
		if degrees, refused = validation.TrainingDegrees(obs.Job, obs.TrainingConfig); len(refused) > 0 {
			p.Stalled = invalidSpec(ReasonInvalidSpec, refused)
			p.requeueAfter(pollInterval)
			return
		}
	}
	job, warnings := builder.Job(obs.Job, overrides, cfg)
	p.Warnings = warnings
	if degrees != nil {
		job.Annotations[v1.ParallelismAnnotation] = builder.Degrees(degrees)
	}
	if p.Stalled = cmp.Or(unknownQueue(obs, job.Spec.Queue), unknownPriority(obs, job)); p.Stalled != nil {
		return
	}
	// The garbage collector then lets the pods go first, also when the PaddleJob is deleted in the background: Volcano
	// confuses a Job whose pods are terminating with the next of its name. It is the collector's own finalizer, and no other
	// program has to remove it.
	job.Finalizers = []string{metav1.FinalizerDeleteDependents}
	markEnvironment(job, obs.Job, cfg)
	// No ports are reserved yet: a job may wait in its queue for days.
	if _, ok := p.choosePorts(obs, cfg); !ok {
		return
	}
	events := []Event{{
		Type:   corev1.EventTypeNormal,
		Reason: ReasonVolcanoJobCreated,
		Message: fmt.Sprintf("created the Volcano Job in queue %q; pods are placed once there is capacity for %d of them at the same time",
			job.Spec.Queue, job.Spec.MinAvailable),
	}}
	if obs.UserPodGroup != nil {
		job.Annotations[v1.UserPodGroupAnnotation] = string(obs.UserPodGroup.UID)
		events = append(events, podGroupTaken(obs.UserPodGroup))
	}
	if obs.Job.Status.Recreations > 0 {
		job.Annotations[v1.RecreationsAnnotation] = strconv.Itoa(int(obs.Job.Status.Recreations))
	}
	if obs.Job.Status.Restarts > 0 {
		job.Annotations[v1.EarlierRestartsAnnotation] = strconv.Itoa(int(obs.Job.Status.Restarts))
	}
	if known(builder.Intranet(obs.Job, cfg), builder.Elastic(obs.Job)) {
		p.knownEnvironment(obs, cfg)
	}
	p.do(CreateVolcanoJob{Job: job, Events: events})
}

// nameTaken reports whether objects are in the way of those that have to be made.
func (p *Plan) nameTaken(obs *observed.State) bool {
	for _, o := range obs.NameConflicts {
		if !o.Terminating {
			p.Stalled = &builder.Cause{Reason: ReasonNameTaken, Message: fmt.Sprintf(
				"a %s named %s exists and does not belong to this job: delete or rename it, or give this PaddleJob another name",
				o.Kind, o.Name)}
			p.requeueAfter(pollInterval)
			return true
		}
	}
	if len(obs.NameConflicts) > 0 {
		p.Waiting = &builder.Cause{Reason: ReasonPredecessor, Message: fmt.Sprintf(
			"the %s of an earlier job of this name is still being deleted", obs.NameConflicts[0].Kind)}
		p.requeueAfter(pollInterval)
		return true
	}
	if len(obs.Predecessors) > 0 {
		p.Waiting = &builder.Cause{Reason: ReasonPredecessor,
			Message: "the job starts when the pods of an earlier job of this name are deleted, for example " + obs.Predecessors[0].Name}
		return true
	}
	if obs.NameReservedFor > 0 {
		p.Waiting = &builder.Cause{Reason: ReasonPredecessor, Message: "Volcano has not yet removed an earlier job of this name from its cache: the job is created after that"}
		p.requeueAfter(obs.NameReservedFor)
		return true
	}
	return false
}

// invalidSpec returns what is wrong with a spec as one cause.
func invalidSpec(reason string, errs field.ErrorList) *builder.Cause {
	return &builder.Cause{Reason: reason, Message: validation.Messages(errs)}
}

// unknownQueue says what is wrong with the queue, nil if it takes jobs. Volcano gives a Job of a queue that does not
// exist up after some tries, so such a Job must not be made.
func unknownQueue(obs *observed.State, name string) *builder.Cause {
	queue := obs.Queue(name)
	if queue == nil {
		return &builder.Cause{Reason: ReasonQueueNotFound, Message: fmt.Sprintf(
			"queue %q does not exist: create it, or set spec.schedulingPolicy.queue to one that does (kubectl get queues)", name)}
	}
	if state := queue.Status.State; state != vcscheduling.QueueStateOpen {
		if state == "" {
			state = "not open yet"
		}
		return &builder.Cause{Reason: ReasonQueueNotOpen, Message: fmt.Sprintf(
			"queue %q takes no jobs, it is %s: open it, or set spec.schedulingPolicy.queue to one that is open", name, state)}
	}
	return nil
}

// unknownPriority says which priority class does not exist, nil if all do. Pods with one that does not are refused by
// the API server one by one, after the gang's Volcano Job was accepted.
func unknownPriority(obs *observed.State, job *vcbatch.Job) *builder.Cause {
	classes := []string{job.Spec.PriorityClassName}
	for i := range job.Spec.Tasks {
		classes = append(classes, job.Spec.Tasks[i].Template.Spec.PriorityClassName)
	}
	for _, class := range classes {
		if class == "" {
			continue
		}
		if !obs.PriorityClassExists(class) {
			return &builder.Cause{Reason: ReasonPriorityClassNotFound, Message: fmt.Sprintf(
				"priority class %q does not exist: create it, or name one that does (kubectl get priorityclasses)", class)}
		}
	}
	return nil
}

// overridesOf returns what the user's own PodGroup and the namespace request.
func overridesOf(obs *observed.State) builder.PodGroupOverrides {
	overrides := builder.PodGroupOverrides{NamespaceQueue: obs.NamespaceQueue}
	if obs.VolcanoJob != nil {
		overrides.NamespaceQueue = obs.VolcanoJob.Spec.Queue // the namespace's counts when the Volcano Job is created
	}
	if obs.UserPodGroup != nil {
		overrides.MinMember = obs.UserPodGroup.Spec.MinMember
		overrides.Queue = obs.UserPodGroup.Spec.Queue
		overrides.PriorityClassName = obs.UserPodGroup.Spec.PriorityClassName
	}
	return overrides
}

// applyUserPodGroup honors a PodGroup of the user's own that the Volcano Job was created without, and reports whether it deletes the
// Volcano Job: in paddle-operator's documents the PodGroup follows the PaddleJob, so it is mostly created second.
func (p *Plan) applyUserPodGroup(obs *observed.State, cfg builder.Config) bool {
	if obs.UserPodGroup == nil || obs.Ended() || specChanged(obs) ||
		obs.VolcanoJob.Annotations[v1.UserPodGroupAnnotation] == string(obs.UserPodGroup.UID) {
		return false
	}
	overrides := overridesOf(obs)
	if refused := validation.Validate(obs.Job, overrides, cfg); len(refused) > 0 {
		p.do(NotePodGroup{PodGroup: obs.UserPodGroup, Event: podGroupIgnored(obs.UserPodGroup, validation.Messages(refused))})
		return false
	}
	want, _ := builder.Job(obs.Job, overrides, cfg)
	switch {
	case sameGang(want, obs.VolcanoJob):
		p.do(NotePodGroup{PodGroup: obs.UserPodGroup, Event: podGroupTaken(obs.UserPodGroup)})
		return false
	case podsStarted(obs):
		p.do(NotePodGroup{PodGroup: obs.UserPodGroup, Event: podGroupIgnored(obs.UserPodGroup, "it came after pods were placed; delete the "+
			"PaddleJob and create it again, with spec.schedulingPolicy instead of the PodGroup")})
		return false
	}
	p.replaceVolcanoJob(obs, fmt.Sprintf("the PodGroup %s that you made asks for another gang, so the Volcano Job is deleted and recreated", obs.UserPodGroup.Name))
	return true
}

// sameGang reports whether two Volcano Jobs agree in all that a PodGroup can request.
func sameGang(a, b *vcbatch.Job) bool {
	return a.Spec.Queue == b.Spec.Queue && a.Spec.PriorityClassName == b.Spec.PriorityClassName &&
		a.Spec.MinAvailable == b.Spec.MinAvailable &&
		slices.EqualFunc(a.Spec.Tasks, b.Spec.Tasks, func(a, b vcbatch.TaskSpec) bool {
			return ptr.Equal(a.MinAvailable, b.MinAvailable) &&
				a.Template.Spec.PriorityClassName == b.Template.Spec.PriorityClassName
		})
}

func podGroupTaken(group *vcscheduling.PodGroup) Event {
	return Event{
		Type:   corev1.EventTypeNormal,
		Reason: ReasonPodGroupNotNeeded,
		Message: fmt.Sprintf("took minMember, queue and priorityClassName from the PodGroup %s that you made; the object "+
			"itself is not needed: delete it, and set spec.schedulingPolicy instead", group.Name),
	}
}

func podGroupIgnored(group *vcscheduling.PodGroup, why string) Event {
	return Event{
		Type:    corev1.EventTypeWarning,
		Reason:  ReasonPodGroupNotApplied,
		Message: fmt.Sprintf("the PodGroup %s that you made has no effect: %s", group.Name, why),
	}
}

// specChanged reports whether the Volcano Job was made from another spec than the PaddleJob has now.
func specChanged(obs *observed.State) bool {
	return obs.VolcanoJob.Annotations[v1.SpecHashAnnotation] != builder.SpecHash(obs.Job)
}

// applySpecChange applies a changed spec, and reports whether it deletes the Volcano Job. Volcano refuses nearly every change of a Job, so
// the Job is replaced before its pods start, and kept after that.
func (p *Plan) applySpecChange(obs *observed.State, cfg builder.Config) bool {
	if obs.Ended() || !specChanged(obs) {
		return false
	}
	if refused := validation.Validate(obs.Job, overridesOf(obs), cfg); len(refused) > 0 {
		p.SpecNotSynced = invalidSpec(ReasonSpecChangeRefused, refused)
		p.SpecNotSynced.Message = "the job continues with the spec it was created with, because the changed one cannot run: " + p.SpecNotSynced.Message
		return false
	}
	if podsStarted(obs) {
		p.SpecNotSynced = &builder.Cause{Reason: ReasonSpecChangeNotApplied, Message: "the spec was changed after pods were " +
			"placed, so the job continues with the spec it was created with: delete the PaddleJob and create it again to use the new one"}
		return false
	}
	p.replaceVolcanoJob(obs, "the spec was changed before the job began, so its Volcano Job is deleted and recreated")
	return true
}

// replaceVolcanoJob deletes a Volcano Job whose pods have not started.
func (p *Plan) replaceVolcanoJob(obs *observed.State, why string) {
	p.Waiting = &builder.Cause{Reason: ReasonReplacing, Message: why}
	p.recreate(obs)
}

// podsStarted reports whether something would be lost if the gang were created again: a placed pod may run as soon as it has the
// addresses of the others.
func podsStarted(obs *observed.State) bool {
	if obs.Phase() == vcbatch.Restarting && !observed.RestartsPods(obs.VolcanoJob) {
		return false
	}
	for _, m := range obs.RolePods() {
		if m.Started() || (m.State == observed.Starting && obs.Environment != nil) {
			return true
		}
	}
	return false
}

// podGroup creates the PodGroup that the pods' annotation names, and repairs it where it differs. One that is left over is deleted
// when the job has finished (cleanUp): until then Volcano is about to delete it.
func (p *Plan) podGroup(obs *observed.State) {
	if !observed.IsActive(obs.Phase()) || obs.Succeeded() {
		return
	}
	want := builder.PodGroup(obs.VolcanoJob)
	if obs.PodGroup == nil || (obs.PodGroup.DeletionTimestamp == nil && podGroupDiffers(obs.PodGroup, want)) {
		p.do(ApplyPodGroup{PodGroup: want})
	}
}

// podGroupDiffers reports whether the PodGroup lacks something of what the controller owns (PodGroupOwned). Others may add
// to it, and Volcano's Job controller owns the rest of the spec.
func podGroupDiffers(have, want *vcscheduling.PodGroup) bool {
	return have.Spec.Queue != want.Spec.Queue || have.Spec.MinMember != want.Spec.MinMember ||
		!maps.Equal(have.Spec.MinTaskMember, want.Spec.MinTaskMember) || topologyDiffers(have.Spec.NetworkTopology, want.Spec.NetworkTopology) ||
		lacks(have.Labels, want.Labels) || lacks(have.Annotations, want.Annotations) ||
		slices.ContainsFunc(want.OwnerReferences, func(owner metav1.OwnerReference) bool {
			return !slices.ContainsFunc(have.OwnerReferences, func(o metav1.OwnerReference) bool { return equality.Semantic.DeepEqual(o, owner) })
		})
}

func topologyDiffers(have, want *vcscheduling.NetworkTopologySpec) bool {
	if want == nil {
		return false
	}
	return have == nil || have.Mode != want.Mode ||
		(want.HighestTierAllowed != nil && !ptr.Equal(have.HighestTierAllowed, want.HighestTierAllowed)) ||
		(want.HighestTierName != "" && have.HighestTierName != want.HighestTierName)
}

// PodGroupOwned is what the controller owns of a PodGroup that exists, for server-side apply: the gang's size, without which
// a part of it could start, its queue, its topology and metadata. Volcano's Job controller updates minResources,
// priorityClassName and subGroupPolicy, and a second owner would revert what another release of Volcano writes there.
// Without the uid an apply could create a PodGroup of these fields alone.
func PodGroupOwned(whole *vcscheduling.PodGroup, uid types.UID) map[string]any {
	metadata := map[string]any{
		"name": whole.Name, "namespace": whole.Namespace, "uid": uid, "labels": whole.Labels, "annotations": whole.Annotations,
		"ownerReferences": whole.OwnerReferences,
	}
	spec := map[string]any{"queue": whole.Spec.Queue, "minMember": whole.Spec.MinMember, "minTaskMember": whole.Spec.MinTaskMember}
	if topology := whole.Spec.NetworkTopology; topology != nil {
		spec["networkTopology"] = topology
	}
	return map[string]any{
		"apiVersion": vcscheduling.SchemeGroupVersion.String(), "kind": "PodGroup", "metadata": metadata, "spec": spec,
	}
}

func lacks(have, want map[string]string) bool {
	for key := range maps.Keys(want) {
		if value, ok := have[key]; !ok || value != want[key] {
			return true
		}
	}
	return false
}
