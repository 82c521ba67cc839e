// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
	"github.com/paddle-volcano/paddle-volcano/controller/volcano"
)

// command issues a command to Volcano, and requeues the job to check whether Volcano has executed it.
func (p *Plan) command(obs *observed.State, action vcbus.Action, occasion, reason, message string) {
	state := volcano.JobState(obs.VolcanoJob)
	if action == vcbus.SyncJobAction && observed.IsActive(obs.Phase()) {
		state = "" // pods that Volcano cannot make leave it as it is
	}
	command := volcano.NewCommand(obs.VolcanoJob, action, occasion, reason, message)
	command.Labels = map[string]string{v1.JobNameLabel: obs.Job.Name}
	p.do(IssueCommand{Command: command, State: state})
	p.requeueAfter(volcano.CommandPeriod)
}

// complete has Volcano complete a job whose workers have succeeded. Of an elastic job of which fewer workers ran than it
// may have, Volcano would wait for the others forever, so there is nothing to wait for.
func (p *Plan) complete(obs *observed.State) {
	if !observed.IsActive(obs.Phase()) || !obs.Succeeded() {
		return
	}
	if left := volcano.CompletionGracePeriod - obs.Now.Sub(obs.LastEnd()); left > 0 && obs.AllSucceeded() {
		p.requeueAfter(left)
		return
	}
	p.command(obs, vcbus.CompleteJobAction, "", "WorkersSucceeded", "every worker has succeeded")
}

// restartPartlyRecreated starts a gang again of which Volcano has recreated a part only: the other pods have the addresses of pods that
// are gone, and would wait for them forever.
func (p *Plan) restartPartlyRecreated(obs *observed.State) {
	since, ok := obs.PartlyRecreated()
	if !ok || !observed.IsActive(obs.Phase()) || obs.Succeeded() || obs.Resumed() || p.Retrying != nil {
		return
	}
	if left := volcano.EvictionGracePeriod - obs.Now.Sub(since); left > 0 {
		p.requeueAfter(left)
		return
	}
	p.command(obs, vcbus.RestartJobAction, strconv.Itoa(int(obs.VolcanoJob.Status.RetryCount)), "PodRecreated",
		"some pods of the gang were recreated without the others")
}

const lostMessage = "Volcano has lost track of the Volcano Job, which is deleted and recreated"

// resyncStuckJob has Volcano sync a job that does not reach its next phase in time. An abortion that a user or
// another program has requested is not changed.
func (p *Plan) resyncStuckJob(obs *observed.State) {
	since, grace := obs.VolcanoJob.Status.State.LastTransitionTime, volcano.StuckGracePeriod
	switch obs.Phase() {
	case vcbatch.Aborting:
		if !obs.StoppedForAPod() {
			return
		}
	case vcbatch.Completing:
		grace = volcano.CompletionGracePeriod // a thousand jobs may end at the same time
	case vcbatch.Restarting, vcbatch.Terminating:
	default:
		return
	}
	if since.IsZero() || len(unfinishedPods(obs.Pods)) > 0 {
		return // Volcano waits for the pods too
	}
	if left := grace - obs.Now.Sub(since.Time); left > 0 {
		p.requeueAfter(left)
		return
	}
	p.command(obs, vcbus.SyncJobAction, "", "Stuck", "no pod runs any more, and it is on its way still")
}

// unfinishedPods are those of the pods that have not ended.
func unfinishedPods(pods []*corev1.Pod) []*corev1.Pod {
	return slices.DeleteFunc(slices.Clone(pods), func(pod *corev1.Pod) bool {
		return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	})
}

// lost reports whether Volcano does not know the Volcano Job.
func lost(obs *observed.State) bool {
	return obs.VolcanoJob != nil && obs.VolcanoJob.DeletionTimestamp == nil && obs.UnacknowledgedFor >= volcano.LostGracePeriod
}

// replaceLostVolcanoJob continues without a Volcano Job that Volcano does not know: the job ends if its end was certain, else another
// Volcano Job makes the next attempt.
func (p *Plan) replaceLostVolcanoJob(obs *observed.State) {
	phase := obs.Phase()
	switch {
	case obs.Succeeded() || phase == vcbatch.Completing:
		p.Succeeded = true
	case phase == vcbatch.Terminating:
		p.Failed = &builder.Cause{Reason: ReasonTerminated, Message: "the Volcano Job was terminated: submit the job again"}
	case phase == vcbatch.Restarting && len(obs.Pods) == 0:
		p.replaceVolcanoJob(obs, lostMessage)
	default:
		if p.recreateFailedJob(obs); p.Retrying != nil {
			p.Retrying.Message = lostMessage
		}
	}
}

// resyncMissingPods has Volcano sync a job whose pods it has not created.
func (p *Plan) resyncMissingPods(obs *observed.State) {
	if obs.PodsMissingSince.IsZero() {
		return
	}
	waited := obs.Now.Sub(obs.PodsMissingSince)
	if obs.Phase() == "" {
		if waited < volcano.LostGracePeriod {
			p.requeueAfter(volcano.LostGracePeriod - waited)
			return
		}
		p.replaceVolcanoJob(obs, "Volcano has not looked at its Volcano Job, which is deleted and recreated")
		return
	}
	if due, left := volcano.ResyncMissingPods(waited); !due {
		p.requeueAfter(left)
		return
	}
	p.command(obs, vcbus.SyncJobAction, "", "PodsMissing", "the queue admitted the job a while ago, and it has no pods yet")
}

// stop stops what runs of a finished job, and reports whether something may: the controller fails some jobs that
// Volcano would continue, and a user may resume the Volcano Job of one. Volcano accepts the command in these phases only;
// the others lead to one of them, or to the end. One that Volcano has forgotten gets no pods again.
func (p *Plan) stop(obs *observed.State) bool {
	if obs.VolcanoJob == nil || obs.VolcanoJob.DeletionTimestamp != nil {
		return false
	}
	if obs.UnacknowledgedFor >= volcano.LostGracePeriod {
		remove(p, KindPod, unfinishedPods(obs.Pods)...)
		return false
	}
	switch phase := obs.Phase(); {
	case observed.IsEnded(phase), phase == vcbatch.Aborted:
		return false
	case observed.IsActive(phase):
		p.command(obs, vcbus.TerminateJobAction, "", "JobEnded", "the PaddleJob has finished")
	default:
		p.resyncStuckJob(obs)
	}
	return true
}

// Some reasons stand in events only: why the API server refuses pods, and why the kubelet cannot mount a volume. Events are too
// many to watch, so they are listed for one job whose pods are late.
const (
	// EventsAfter is how late pods are before the events are listed: nearly all pods are in time. For those that Volcano does not
	// create they are listed earlier too, because the API server refuses pods at once.
	EventsAfter    = 5 * time.Second
	PodEventsAfter = 2 * time.Second
	// EventsPeriod is how often the events are listed again.
	EventsPeriod = 30 * time.Second
)

// events requeues the job for the next list of events, about pods that Volcano does not create or the kubelet does not start.
func (p *Plan) events(obs *observed.State) {
	late := obs.PlacedFor()
	switch {
	case !obs.PodsMissingSince.IsZero():
		if late = obs.Now.Sub(obs.PodsMissingSince); late < PodEventsAfter {
			p.requeueAfter(PodEventsAfter - late)
			return
		}
	case obs.Mounting() == nil:
		return
	}
	if late < EventsAfter && obs.PodCreateError == "" {
		p.requeueAfter(EventsAfter - late)
		return
	}
	p.requeueAfter(EventsPeriod)
}
