// SPDX-License-Identifier: Apache-2.0

package observed

import (
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"
)

// AttemptState is how far Volcano has come with the present attempt to run the gang.
type AttemptState int

const (
	// AttemptNone is that of a job without a Volcano Job.
	AttemptNone AttemptState = iota
	// AttemptNew is that of a Volcano Job that Volcano has not given a phase yet.
	AttemptNew
	// AttemptPending is that of a gang that waits for its pods.
	AttemptPending
	// AttemptRunning is that of a gang of which enough pods run.
	AttemptRunning
	// AttemptRestarting is that of a gang whose pods are deleted, to be created again.
	AttemptRestarting
	// AttemptStopping is that of a gang whose pods are deleted, not to be created again before the Volcano Job is resumed.
	AttemptStopping
	// AttemptStopped is that of a gang without pods, which is created again when the Volcano Job is resumed.
	AttemptStopped
	// AttemptCompleting is that of a gang that has succeeded, and whose other pods are deleted.
	AttemptCompleting
	// AttemptTerminating is that of a gang that somebody, or Volcano, has given up, and whose pods are deleted.
	AttemptTerminating
	// AttemptCompleted is that of a gang that has succeeded.
	AttemptCompleted
	// AttemptTerminated is that of a gang that was given up.
	AttemptTerminated
	// AttemptFailed is that of a gang that Volcano has failed.
	AttemptFailed
)

// attempts are the states by Volcano's phases, which are read nowhere else.
var attempts = map[vcbatch.JobPhase]AttemptState{
	"": AttemptNew, vcbatch.Pending: AttemptPending, vcbatch.Running: AttemptRunning, vcbatch.Restarting: AttemptRestarting,
	vcbatch.Aborting: AttemptStopping, vcbatch.Aborted: AttemptStopped, vcbatch.Completing: AttemptCompleting,
	vcbatch.Terminating: AttemptTerminating, vcbatch.Completed: AttemptCompleted, vcbatch.Terminated: AttemptTerminated, vcbatch.Failed: AttemptFailed,
}

// AttemptOf returns the state of a Volcano Job, which may be nil.
func AttemptOf(job *vcbatch.Job) AttemptState {
	if job == nil {
		return AttemptNone
	}
	return attempts[job.Status.State.Phase]
}

// Attempt returns the state of the present attempt.
func (s *State) Attempt() AttemptState { return AttemptOf(s.VolcanoJob) }

// Active reports whether the gang is to be scheduled, or runs. Volcano deletes the PodGroup on every restart and at the end, and one
// that is created meanwhile would hold capacity of the queue for nothing.
func (a AttemptState) Active() bool { return a >= AttemptNew && a <= AttemptRunning }

// Stopped reports whether the gang runs again only when the Volcano Job is resumed.
func (a AttemptState) Stopped() bool { return a == AttemptStopping || a == AttemptStopped }

// Command returns the action of the command that brings a gang into the state, "" if none does.
func (a AttemptState) Command() vcbus.Action {
	switch a {
	case AttemptStopping, AttemptStopped:
		return vcbus.AbortJobAction
	case AttemptCompleting, AttemptCompleted:
		return vcbus.CompleteJobAction
	case AttemptTerminating, AttemptTerminated:
		return vcbus.TerminateJobAction
	}
	return ""
}

// Ended reports whether the gang does not run again.
func (a AttemptState) Ended() bool { return a >= AttemptCompleted }
