// SPDX-License-Identifier: Apache-2.0

package lifecycle

import "strings"

// Reasons of conditions and events that this package gives.
const (
	// ReasonInvalidSpec stalls a job whose spec cannot run; the message names the fields.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonNameTaken stalls a job whose children's names belong to somebody else's objects.
	ReasonNameTaken = "NameTaken"
	// ReasonQueueNotFound stalls a job whose queue does not exist.
	ReasonQueueNotFound = "QueueNotFound"
	// ReasonQueueNotOpen stalls a job whose queue takes no jobs.
	ReasonQueueNotOpen = "QueueNotOpen"
	// ReasonPriorityClassNotFound stalls a job whose priority class does not exist.
	ReasonPriorityClassNotFound = "PriorityClassNotFound"
	// ReasonIPv6 stalls a job whose pods have addresses that Paddle cannot read.
	ReasonIPv6 = "IPv6NotSupported"
	// ReasonAddressPrefix says that the address of one pod is a prefix of another's, which paddle.distributed.launch mixes up.
	ReasonAddressPrefix = "AddressPrefix"
	// ReasonAborted stalls a job whose Volcano Job somebody aborted.
	ReasonAborted = "Aborted"
	// ReasonPredecessor makes a job wait for what is left of an earlier job of its name.
	ReasonPredecessor = "WaitingForPredecessor"
	// ReasonReplacing makes a job wait until its outdated Volcano Job is gone.
	ReasonReplacing = "Replacing"
	// ReasonTakingOver makes a job wait until what paddle-operator made for it is gone.
	ReasonTakingOver = "TakingOver"
	// ReasonSuspending says that a suspended job's pods are on their way out.
	ReasonSuspending = "Suspending"
	// ReasonSuspended says that nothing of a suspended job runs.
	ReasonSuspended = "Suspended"
	// ReasonDeadlineExceeded ends a job that takes longer than activeDeadlineSeconds.
	ReasonDeadlineExceeded = "DeadlineExceeded"
	// ReasonBackoffLimitExceeded ends a job that has failed more often than backoffLimit.
	ReasonBackoffLimitExceeded = "BackoffLimitExceeded"
	// ReasonPermanentExitCode ends a job of which a container exited with one of permanentExitCodes.
	ReasonPermanentExitCode = "PermanentExitCode"
	// ReasonTerminated ends a job whose Volcano Job was terminated, by somebody or by Volcano itself.
	ReasonTerminated = "Terminated"
	// ReasonRetrying is why a failed job does not run: its next start is delayed.
	ReasonRetrying = "Retrying"
	// ReasonSpecChangeNotApplied says that the spec was changed too late.
	ReasonSpecChangeNotApplied = "SpecChangeNotApplied"
	// ReasonSpecChangeRefused says that the spec was changed to something that cannot run.
	ReasonSpecChangeRefused = "SpecChangeRefused"
	// ReasonQuotaExceeded is of a gang whose pods the API server refuses because of a ResourceQuota, of a job that failed for it,
	// and of an elastic job that has fewer workers than the spec asks for.
	ReasonQuotaExceeded = "QuotaExceeded"
	// ReasonPodSecurityViolation is the same where Pod Security admission refuses the pods.
	ReasonPodSecurityViolation = "PodSecurityViolation"
	// ReasonPodsRefused is the same for any other refusal.
	ReasonPodsRefused = "PodsRefused"
	// ReasonPodGroupNotNeeded is the event about a PodGroup that the user made.
	ReasonPodGroupNotNeeded = "PodGroupNotNeeded"
	// ReasonPodGroupNotApplied is the event about one that came too late or asks for what cannot be.
	ReasonPodGroupNotApplied = "PodGroupNotApplied"
	// ReasonEnvironmentReady is the event of the pods' addresses being handed out.
	ReasonEnvironmentReady = "EnvironmentReady"
	// ReasonVolcanoJobCreated is the event of a new Volcano Job.
	ReasonVolcanoJobCreated = "Created"
)

// RefusalReason is the reason for which the API server refuses pods, by its message: Volcano passes nothing else on, and the
// controller has no right to create pods itself. The words are those of the admission plugins ResourceQuota and PodSecurity;
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
