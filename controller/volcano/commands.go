// SPDX-License-Identifier: Apache-2.0

package volcano

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"
)

// CommandPeriod is how long Volcano may take to obey a command before it is given again.
const CommandPeriod = 15 * time.Second

// StaleCommandPeriod bounds how much later Volcano obeys a command, and thus ends a later Volcano Job of the target's name.
const StaleCommandPeriod = 5 * time.Minute

// SentCommand is a command that was given about a Volcano Job.
type SentCommand struct {
	Job types.UID
	At  time.Time
}

// Ended reports whether the command, which was about an earlier Volcano Job, can be why a Volcano Job is in its state.
func (c SentCommand) Ended(job *vcbatch.Job) bool {
	return c.Job != job.UID && job.Status.State.LastTransitionTime.Sub(c.At) < StaleCommandPeriod
}

// commandVerbs begin the names of commands.
var commandVerbs = map[vcbus.Action]string{
	vcbus.AbortJobAction:     "abort",
	vcbus.CompleteJobAction:  "complete",
	vcbus.RestartJobAction:   "restart",
	vcbus.ResumeJobAction:    "resume",
	vcbus.TerminateJobAction: "terminate",
}

// CommandName is the name of a command to a Volcano Job: always the same for the same occasion, so that one which Volcano
// has not read yet is not given twice.
func CommandName(action vcbus.Action, volcanoJob types.UID, occasion string) string {
	name := cmp.Or(commandVerbs[action], strings.ToLower(string(action))) + "-" + string(volcanoJob)
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
