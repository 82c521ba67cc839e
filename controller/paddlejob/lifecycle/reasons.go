// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"slices"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

// Reasons of conditions and events. deploy/docs/reference/controller.md says what each means.
const (
	// Of Stalled: what the user has to change.
	ReasonInvalidSpec           = "InvalidSpec"
	ReasonNameTaken             = "NameTaken"
	ReasonQueueNotFound         = "QueueNotFound"
	ReasonQueueNotOpen          = "QueueNotOpen"
	ReasonPriorityClassNotFound = "PriorityClassNotFound"
	ReasonIPv6                  = "IPv6NotSupported"
	ReasonNoPorts               = "NoHostPortsLeft"
	ReasonAborted               = "Aborted"
	reasonProceeding            = "Proceeding"

	// Of Created: what the Volcano Job waits for, and why the spec is not what runs.
	ReasonPredecessor          = "WaitingForPredecessor"
	ReasonReplacing            = "Replacing"
	ReasonTakingOver           = "TakingOver"
	ReasonSpecChangeNotApplied = "SpecChangeNotApplied"
	ReasonSpecChangeRefused    = "SpecChangeRefused"
	reasonStalled              = "Stalled"
	reasonCreating             = "Creating"
	reasonVolcanoJobCreated    = "VolcanoJobCreated"
	reasonByOperator           = "StartedByPaddleOperator"

	// Of Suspended.
	ReasonSuspending = "Suspending"
	ReasonSuspended  = "Suspended"
	reasonResumed    = "Resumed"

	// Of Admitted, and of Scheduled unless the scheduler's plugin gives a reason in the PodGroup.
	ReasonWaitingForQueue = "WaitingForQueue"
	ReasonWaitingForPods  = "WaitingForPods"
	ReasonWaitingForGang  = "WaitingForGang"
	reasonAdmitted        = "Admitted"
	reasonQueueing        = "Queueing"
	reasonNotCreated      = "NotCreated"
	reasonRestarting      = observed.ReasonRestarting
	reasonPlacing         = "Placing"
	reasonPlaced          = "GangPlaced"

	// Of pods that the API server refuses.
	ReasonQuotaExceeded        = "QuotaExceeded"
	ReasonPodSecurityViolation = "PodSecurityViolation"
	ReasonPodsRefused          = "PodsRefused"

	// Of Running, LauncherUsable and Restarting.
	ReasonAddressPrefix       = "AddressPrefix"
	ReasonRetrying            = "Retrying"
	reasonTraining            = "Training"
	reasonNotScheduled        = "NotScheduled"
	reasonWaitingForAddresses = "WaitingForAddresses"
	reasonPodsStarting        = "PodsStarting"
	reasonRestarted           = "Restarted"

	// Of Succeeded and Failed.
	ReasonDeadlineExceeded     = "DeadlineExceeded"
	ReasonBackoffLimitExceeded = "BackoffLimitExceeded"
	ReasonPermanentExitCode    = "PermanentExitCode"
	ReasonTerminated           = "Terminated"
	ReasonUnknownFailure       = "PodFailedOrEvicted"
	ReasonRestored             = "Restored"
	reasonWorkersSucceeded     = "WorkersSucceeded"
	reasonVolcanoJobCompleted  = "VolcanoJobCompleted"
	reasonCompleted            = "Completed"
	reasonFailed               = "Failed"

	// Of events alone.
	ReasonPodGroupNotNeeded  = "PodGroupNotNeeded"
	ReasonPodGroupNotApplied = "PodGroupNotApplied"
	ReasonVolcanoJobCreated  = "Created"
)

// RefusalReason is the reason for which the API server refuses pods, by its message: Volcano passes nothing else on, and the
// controller has no permission to create pods itself. The words are those of the admission plugins ResourceQuota and PodSecurity;
// test/jobs compares them with a real API server.
func RefusalReason(message string) string {
	switch {
	case strings.Contains(message, " is forbidden: exceeded quota: "):
		return ReasonQuotaExceeded
	case strings.Contains(message, ` is forbidden: violates PodSecurity "`):
		return ReasonPodSecurityViolation
	}
	return ReasonPodsRefused
}

// IsRefusal reports whether the reason is that the API server refuses pods.
func IsRefusal(reason string) bool {
	return reason == ReasonQuotaExceeded || reason == ReasonPodSecurityViolation || reason == ReasonPodsRefused
}

// IsWaitingReason reports whether a reason of Scheduled or Running being False is one for which a job waits longer than every job does.
func IsWaitingReason(reason string) bool {
	return reason != "" && !slices.Contains([]string{
		reasonNotCreated, reasonRestarting, reasonPlacing, ReasonSuspended,
		reasonNotScheduled, reasonPodsStarting, reasonCompleted, reasonFailed,
	}, reason)
}

// isTransientReason reports whether nearly every gang has a reason for a moment. All but the first two are the plugin's.
func isTransientReason(reason string) bool {
	return slices.Contains([]string{
		ReasonWaitingForQueue, ReasonWaitingForGang,
		"WaitingToBeEnqueued", ReasonWaitingForPods, "AssignmentOutdated", "TerminatingPods",
	}, reason)
}
