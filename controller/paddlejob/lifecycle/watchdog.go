// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
	"github.com/paddle-volcano/paddle-volcano/controller/volcano"
)

// command gives Volcano a command about the job, and looks again whether it did what it was told.
func (p *Plan) command(obs *observed.State, action vcbus.Action, occasion, reason, message string) {
	state := volcano.JobState(obs.VolcanoJob)
	if action == vcbus.SyncJobAction && obs.Attempt().Active() {
		state = "" // pods that Volcano cannot make leave it as it is
	}
	owner := metav1.NewControllerRef(obs.VolcanoJob, vcbatch.SchemeGroupVersion.WithKind("Job"))
	p.do(IssueCommand{Command: &vcbus.Command{
		ObjectMeta: metav1.ObjectMeta{
			Name:            volcano.CommandName(action, obs.VolcanoJob.UID, occasion),
			Namespace:       obs.VolcanoJob.Namespace,
			Labels:          map[string]string{v1.JobNameLabel: obs.Job.Name},
			OwnerReferences: []metav1.OwnerReference{*owner},
		},
		Action:       string(action),
		TargetObject: owner,
		Reason:       reason,
		Message:      message,
	}, State: state})
	p.requeueAfter(volcano.CommandPeriod)
}

// Volcano ends a job when it sees the last of its workers succeed, and never again, so a Volcano that was restarted just then
// would let the servers run forever. One that only has much to do must not be given more.
const (
	// CompletionGracePeriod is how long Volcano may end no job at all, or by how much it may take jobs out of their turn, where it is
	// quick elsewhere; where it lately took longer to end a job, by so much more.
	CompletionGracePeriod = 30 * time.Second
	// completionGraceMax is how long a job may have to wait at most.
	completionGraceMax = 15 * time.Minute
)

// completionDueIn is how much longer Volcano may take to end a job whose workers have succeeded. It ends one after the other, about
// in the order in which their workers ended: it has forgotten a job if it ends none any more, or those that were to come later.
func completionDueIn(obs *observed.State) time.Duration {
	ended := obs.Now.Add(-obs.SucceededFor)
	gracePeriod := CompletionGracePeriod + obs.Completions.Slowest
	if obs.Completions.Newest.Sub(ended) >= gracePeriod {
		return 0
	}
	idle := min(obs.SucceededFor, obs.Now.Sub(obs.Completions.Last))
	return min(gracePeriod-idle, completionGraceMax-obs.SucceededFor)
}

// complete tells Volcano to end a job whose workers have succeeded. Of an elastic job of which fewer workers ran than it
// may have, Volcano would wait for the others forever, so there is nothing to wait for.
func (p *Plan) complete(obs *observed.State) {
	if !obs.Attempt().Active() || !obs.Succeeded() {
		return
	}
	if left := completionDueIn(obs); left > 0 && obs.AllSucceeded() {
		p.requeueAfter(left)
		return
	}
	p.command(obs, vcbus.CompleteJobAction, "", "WorkersSucceeded", "every worker has succeeded")
}

const (
	// lostGracePeriod is how long Volcano may leave a Volcano Job as it is that it was told to change, or was to give its first
	// phase. It does so forever where it has mixed it up with an earlier one of its name, whose leaving it notices late
	// (paddlejob/watchdog.go): it drops both, and reads commands about what it does not know without a word.
	lostGracePeriod = 5 * time.Minute
	// stuckGracePeriod is how long Volcano may take to end what it has begun once no pod is in the way; a completion by so much longer as
	// it lately took for those of others.
	stuckGracePeriod = 2 * time.Minute
)

const lostMessage = "Volcano has lost track of the Volcano Job, which is deleted and made anew"

// resyncStuckJob has Volcano look at a job that it does not bring to the phase that it is on its way to. An abortion that somebody
// else has asked for is theirs.
func (p *Plan) resyncStuckJob(obs *observed.State) {
	since := obs.VolcanoJob.Status.State.LastTransitionTime
	switch obs.Attempt() {
	case observed.AttemptStopping:
		if !stoppedForAPod(obs) {
			return
		}
	case observed.AttemptRestarting, observed.AttemptCompleting, observed.AttemptTerminating:
	default:
		return
	}
	if since.IsZero() || len(unfinishedPods(obs)) > 0 {
		return // Volcano waits for the pods too
	}
	gracePeriod := stuckGracePeriod
	if obs.Attempt() == observed.AttemptCompleting {
		gracePeriod = min(stuckGracePeriod+obs.Completions.Slowest, completionGraceMax)
	}
	if left := gracePeriod - obs.Now.Sub(since.Time); left > 0 {
		p.requeueAfter(left)
		return
	}
	p.command(obs, vcbus.SyncJobAction, "", "Stuck", "no pod runs any more, and it is on its way still")
}

// unfinishedPods are the Volcano Job's pods that have not ended.
func unfinishedPods(obs *observed.State) (pods []*corev1.Pod) {
	for _, pod := range obs.Pods {
		if state := observed.NewRolePod(pod).State; state != observed.Succeeded && state != observed.Failed {
			pods = append(pods, pod)
		}
	}
	return pods
}

// lost reports whether Volcano does not know the Volcano Job.
func lost(obs *observed.State) bool {
	return obs.VolcanoJob != nil && obs.VolcanoJob.DeletionTimestamp == nil && obs.UnacknowledgedFor >= lostGracePeriod
}

// replaceLostVolcanoJob goes on without a Volcano Job that Volcano does not know: what was certain comes true, and another Volcano Job
// makes the next attempt.
func (p *Plan) replaceLostVolcanoJob(obs *observed.State) {
	attempt := obs.Attempt()
	switch {
	case obs.Succeeded() || attempt == observed.AttemptCompleting:
		p.Succeeded = true
	case attempt == observed.AttemptTerminating:
		p.Failed = &builder.Cause{Reason: ReasonTerminated, Message: "the Volcano Job was terminated"}
	case attempt == observed.AttemptRestarting && !obs.Ended() && len(obs.Pods) == 0:
		p.replaceVolcanoJob(obs, lostMessage)
	default:
		if p.recreateFailedJob(obs); p.Retrying != nil {
			p.Retrying.Message = lostMessage
		}
	}
}

// How long Volcano may take to make the pods of a gang that was admitted, and how much later it is told again. It makes them
// when it sees the PodGroup's phase change, and never again: where its watch was broken just then, it sees a PodGroup that
// has always been let in. Both are long, because a Volcano with much to do must not be given more.
const (
	missingPodsGracePeriod  = 2 * time.Minute
	missingPodsResyncPeriod = 10 * time.Minute
)

// resyncMissingPods has Volcano look at a job whose pods it has not made.
func (p *Plan) resyncMissingPods(obs *observed.State) {
	if obs.PodsMissingSince.IsZero() {
		return
	}
	waited := obs.Now.Sub(obs.PodsMissingSince)
	if obs.Attempt() == observed.AttemptNew {
		if waited < lostGracePeriod {
			p.requeueAfter(lostGracePeriod - waited)
			return
		}
		p.replaceVolcanoJob(obs, "Volcano has not looked at its Volcano Job, which is deleted and made anew")
		return
	}
	if waited < missingPodsGracePeriod {
		p.requeueAfter(missingPodsGracePeriod - waited)
		return
	}
	last := max(waited.Truncate(missingPodsResyncPeriod), missingPodsGracePeriod)
	if waited-last < volcano.CommandPeriod {
		p.command(obs, vcbus.SyncJobAction, "", "PodsMissing", "the queue has let the job in a while ago, and it has no pods yet")
		return
	}
	p.requeueAfter(waited.Truncate(missingPodsResyncPeriod) + missingPodsResyncPeriod - waited)
}

// stop sees to it that nothing of a finished job runs, and reports whether something may: the controller fails some jobs that
// Volcano would let go on, and somebody may resume the Volcano Job of one. Volcano takes the command in these phases only;
// in the others it is on its way to one of them, or to the end. One that Volcano has forgotten makes no pods again.
func (p *Plan) stop(obs *observed.State) bool {
	if obs.VolcanoJob == nil || obs.VolcanoJob.DeletionTimestamp != nil {
		return false
	}
	if obs.UnacknowledgedFor >= lostGracePeriod {
		for _, pod := range unfinishedPods(obs) {
			p.remove(KindPod, pod)
		}
		return false
	}
	switch attempt := obs.Attempt(); {
	case attempt.Ended(), attempt == observed.AttemptStopped:
		return false
	case attempt.Active():
		p.command(obs, vcbus.TerminateJobAction, "", "JobEnded", "the PaddleJob has ended")
	default:
		p.resyncStuckJob(obs)
	}
	return true
}

// Some reasons stand in events only: why the API server refuses pods, and why the kubelet cannot mount a volume. Events are too
// many to watch, so they are listed for one job whose pods are late.
const (
	// EventsAfter is how late pods are before the events are listed: nearly all pods are in time.
	EventsAfter = 5 * time.Second
	// EventsPeriod is how often the events are listed again.
	EventsPeriod = 30 * time.Second
)

// events looks again when the events are listed next, of pods that Volcano does not create or the kubelet does not start.
func (p *Plan) events(obs *observed.State) {
	late := obs.PlacedFor()
	switch {
	case !obs.PodsMissingSince.IsZero():
		late = obs.Now.Sub(obs.PodsMissingSince)
	case obs.Mounting() == nil:
		return
	}
	if late < EventsAfter {
		p.requeueAfter(EventsAfter - late)
		return
	}
	p.requeueAfter(EventsPeriod)
}
