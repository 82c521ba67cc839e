// SPDX-License-Identifier: Apache-2.0

package volcano

import "time"

// How long Volcano may make no progress before the controller acts. A Volcano that only has much to do must not be given more, so none
// of these is short.
const (
	// CompletionGracePeriod is how long Volcano may take to end a job whose workers have succeeded. It does so when it sees the last of
	// them succeed and never again, so a Volcano that was restarted just then would let the servers run forever.
	CompletionGracePeriod = time.Minute
	// EvictionGracePeriod is how long Volcano may take to start a gang again of which a pod was evicted. It acts when it sees the pod
	// go and never again, so a Volcano that was restarted just then would let the others wait.
	EvictionGracePeriod = 30 * time.Second
	// StuckGracePeriod is how long Volcano may take to end what it has begun once no pod is in the way.
	StuckGracePeriod = 2 * time.Minute
	// MissingPodsGracePeriod is how long Volcano may take to create the pods of a gang that was admitted, and MissingPodsResyncPeriod
	// how much later the command is given again. It creates them when it sees the PodGroup's phase change, and never again: where its
	// watch was broken just then, it sees a PodGroup that has always been admitted.
	MissingPodsGracePeriod  = 2 * time.Minute
	MissingPodsResyncPeriod = 10 * time.Minute
	// LostGracePeriod is how long Volcano may leave a Volcano Job as it is that it was commanded to change, or was to give its first
	// phase. It does so forever where it has mixed it up with an earlier one of its name (Deletion): it drops both, and reads
	// commands about what it does not know without a word.
	LostGracePeriod = 5 * time.Minute
)

// ResyncMissingPods reports whether Volcano is commanded to look at a gang without pods that was admitted a while ago, or how much later.
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
