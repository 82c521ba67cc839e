// SPDX-License-Identifier: Apache-2.0

// Package volcano holds what the controller knows of Volcano's Job controller: names, phases, commands, and the observations
// that its workarounds rest on. The workarounds were written for v1.14.1:
//
//   - Deletion: a Volcano Job that is created while Volcano still removes an earlier one of its name from its cache never
//     gets pods (volcano-sh/volcano#5973). Removable with the first release that has pull request 5773.
//   - The RestartPod action deletes the gang's PodGroup (volcano-sh/volcano#5385). The builder does not use it. Removable with
//     the first release after v1.14.1, which has pull request 5342.
//   - Volcano counts evictions as failures (volcano-sh/volcano#2560). The builder sets maxRetry so high that it never counts, and
//     paddlejob/lifecycle counts failures instead.
//   - The command SyncJob for an admitted gang without pods: the Job controller handles no addition of a PodGroup, and misses one that
//     it first sees admitted (volcano-sh/volcano#5325). Removable with the first release in which that issue is closed.
//   - Volcano fails a Job of which all pods have failed before it evaluates the policies for a failure (volcano-sh/volcano#3967).
//     observed.State.NeedsRecreation has the Volcano Job created again. Removable with the first release in which that issue is closed.
//   - The command SyncJob for a restarting Job without pods: the Job controller deletes the PodGroup after the pods. Where the events of
//     the pods are handled before its cache has seen that deletion, it creates no PodGroup, and no later event makes it try again
//     (killPods and syncJob in volcano/pkg/controllers/job/job_controller_actions.go). No upstream issue is known.
//   - The command CompleteJob: Volcano ends a job only when it sees the last worker succeed, and misses that
//     while it restarts. No upstream issue is known.
//   - The command RestartJob: Volcano restarts a gang when it sees the evicted pod go, and misses that while it restarts. Then it creates
//     that pod only. And it deletes the pods in its cache, which may lack one that it has just created (killPods). No upstream issue
//     is known.
//   - Commands: Volcano reads commands about a Job that it does not know, and does nothing. No upstream issue is known.
//   - StaleCommandPeriod and SentCommand: Volcano applies a command to the Job of the target's name, and ignores its uid (processNextCommand in
//     volcano/pkg/controllers/job/job_controller_handler.go). A command that waits in Volcano's queue until the Job is replaced ends
//     the new one, and one that waits until the Job has restarted stops the next attempt. No upstream issue is known.
//   - PodCreateError: why the API server refuses pods is only in an event, as the Go syntax of errors. No upstream issue is known.
package volcano

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"
)

// PodGroupName is the name of the PodGroup that Volcano writes into each pod of a Job.
func PodGroupName(job *vcbatch.Job) string { return job.Name + "-" + string(job.UID) }

// Deletion is when a Volcano Job and the last of its pods were deleted. Volcano must have forgotten the Job before the next of its
// name is created. Its Job controller drops the old one from its cache by name. It does so at once if the pods went first, else by a retry
// whose delay doubles while pods are left. So that comes at most as long after the last pod as that came after the Job. A
// new Job that is there by then is dropped instead, and Volcano never syncs it again (processCleanupJob in
// volcano/pkg/controllers/cache/cache.go, v1.14.1).
type Deletion struct{ Job, LastPod time.Time }

// watchMargin is for the time between Volcano's watches and the controller's.
const watchMargin = 3 * time.Second

// Remaining returns how much longer the next Volcano Job of the name has to wait.
func (d Deletion) Remaining(now time.Time) time.Duration {
	last := d.Job
	if d.LastPod.After(last) {
		last = d.LastPod.Add(d.LastPod.Sub(d.Job))
	}
	return max(last.Add(watchMargin).Sub(now), 0)
}

// statusMessage is the message of an API server's answer within the %#v of the error that it became.
var statusMessage = regexp.MustCompile(`Message:("(?:[^"\\]|\\.)*")`)

// PodCreateError returns the API server's sentence about the first pod from what Volcano's Job controller writes when pods are
// refused: the Go syntax of all errors (volcano pkg/controllers/job/job_controller_actions.go, "Error creating pods"). False
// for any other message.
func PodCreateError(message string) (string, bool) {
	found := statusMessage.FindStringSubmatch(message)
	if found == nil {
		return "", false
	}
	sentence, err := strconv.Unquote(found[1])
	return sentence, err == nil && sentence != ""
}

// CommandPeriod is how long Volcano may take to execute a command before it is sent again.
const CommandPeriod = 15 * time.Second

// StaleCommandPeriod bounds how much later Volcano executes a command, and thus ends a later Volcano Job of the target's name or a later attempt.
const StaleCommandPeriod = 5 * time.Minute

// SentCommand is a command that was given about an attempt of a Volcano Job.
type SentCommand struct {
	Job     types.UID
	Attempt int32 // the RetryCount
	At      time.Time
}

// Ended reports whether the command, which was about an earlier Volcano Job or which stops an earlier attempt, can be why a Volcano Job is in its state.
func (c SentCommand) Ended(job *vcbatch.Job) bool {
	state := job.Status.State
	stopped := state.Phase == vcbatch.Aborting || state.Phase == vcbatch.Aborted
	earlier := c.Job != job.UID || stopped && c.Attempt < job.Status.RetryCount
	return earlier && state.LastTransitionTime.Sub(c.At) < StaleCommandPeriod
}

// CommandName is the name of a command to a Volcano Job: always the same for the same occasion, so that one which Volcano
// has not read yet is not given twice.
func CommandName(action vcbus.Action, volcanoJob types.UID, occasion string) string {
	name := strings.ToLower(strings.TrimSuffix(string(action), "Job")) + "-" + string(volcanoJob)
	if occasion != "" {
		name += "-" + occasion
	}
	return name
}

// NewCommand returns a command about a Volcano Job, without the labels of the job that it is for.
func NewCommand(job *vcbatch.Job, action vcbus.Action, occasion, reason, message string) *vcbus.Command {
	owner := metav1.NewControllerRef(job, vcbatch.SchemeGroupVersion.WithKind("Job"))
	return &vcbus.Command{
		ObjectMeta: metav1.ObjectMeta{
			Name: CommandName(action, job.UID, occasion), Namespace: job.Namespace, OwnerReferences: []metav1.OwnerReference{*owner},
		},
		Action: string(action), TargetObject: owner, Reason: reason, Message: message,
	}
}

// JobState is what changes when Volcano does anything with a Volcano Job as a whole, in a text that names the Job by its uid.
func JobState(job *vcbatch.Job) string {
	return fmt.Sprintf("%s %s %d", job.UID, job.Status.State.Phase, job.Status.RetryCount)
}

// commandGap is the time after which a command that is not sent again counts from the beginning: several command periods, because a
// controller with much to do comes late.
const commandGap = 2 * time.Minute

// Commands is when commands about a Volcano Job in one state were sent without an effect. The zero value is that of none.
type Commands struct{ first, last time.Time }

// Sent returns the commands with one that is sent now.
func (c Commands) Sent(now time.Time) Commands {
	if now.Sub(c.last) > commandGap {
		c.first = now
	}
	return Commands{first: c.first, last: now}
}

// UnacknowledgedFor returns for how long commands have been sent without an effect, 0 if none is being sent.
func (c Commands) UnacknowledgedFor(now time.Time) time.Duration {
	if now.Sub(c.last) > commandGap {
		return 0
	}
	return now.Sub(c.first)
}

// How long Volcano may make no progress before the controller acts. A busy Volcano must not get more work, so none
// of these is short.
const (
	// CompletionGracePeriod is how long Volcano may take to begin to end a job whose workers have succeeded, and then to end it. It begins
	// when it sees the last of them succeed and never again, so a Volcano that was restarted just then would let the servers run forever.
	CompletionGracePeriod = time.Minute
	// EvictionGracePeriod is how long Volcano may take to start a gang again of which a pod was evicted. It acts when it sees the pod
	// go and never again, so a Volcano that was restarted just then would let the others wait.
	EvictionGracePeriod = 30 * time.Second
	// StuckGracePeriod is how long Volcano may take to end what it has begun once no pod is in the way.
	StuckGracePeriod = 30 * time.Second
	// MissingPodsGracePeriod is how long Volcano may take to create the pods of a gang that was admitted, and MissingPodsResyncPeriod
	// how much later the command is given again. It creates them when it sees the PodGroup's phase change, and never again: where its
	// watch was broken just then, it sees a PodGroup that has always been admitted.
	MissingPodsGracePeriod  = 2 * time.Minute
	MissingPodsResyncPeriod = 10 * time.Minute
	// LostGracePeriod is how long Volcano may not change a Volcano Job that has a command, or no phase yet. It never changes one that
	// it has confused with an earlier one of its name (Deletion): it drops both, and consumes commands about unknown Jobs without
	// an error.
	LostGracePeriod = 5 * time.Minute
)

// ResyncMissingPods reports whether a command has Volcano sync a gang without pods that was admitted a while ago, or how much later.
func ResyncMissingPods(waited time.Duration) (due bool, left time.Duration) {
	if waited < MissingPodsGracePeriod {
		return false, MissingPodsGracePeriod - waited
	}
	period := waited.Truncate(MissingPodsResyncPeriod)
	if waited-max(period, MissingPodsGracePeriod) < CommandPeriod {
		return true, 0
	}
	return false, period + MissingPodsResyncPeriod - waited
}
