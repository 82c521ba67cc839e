// SPDX-License-Identifier: Apache-2.0

package volcano

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"
)

// How long Volcano may take. A Volcano that only has much to do must not be given more, so none of these is short.
const (
	// CompletionGracePeriod is how long Volcano may end no job at all, or by how much it may take jobs out of their turn, where it is
	// quick elsewhere; where it lately took longer to end a job, by so much more. It ends a job when it sees the last of its workers
	// succeed, and never again, so a Volcano that was restarted just then would let the servers run forever.
	CompletionGracePeriod = 30 * time.Second
	// completionGraceMax is how long a job may have to wait at most.
	completionGraceMax = 15 * time.Minute
	// EvictionGracePeriod is how long Volcano may take to start a gang again of which a pod was evicted. It acts when it sees the pod
	// go and never again, so a Volcano that was restarted just then would let the others wait.
	EvictionGracePeriod = 30 * time.Second
	// LostGracePeriod is how long Volcano may leave a Volcano Job as it is that it was commanded to change, or was to give its first
	// phase. It does so forever where it has mixed it up with an earlier one of its name (DeletionTracker): it drops both, and reads
	// commands about what it does not know without a word.
	LostGracePeriod = 5 * time.Minute
	// stuckGracePeriod is how long Volcano may take to end what it has begun once no pod is in the way.
	stuckGracePeriod = 2 * time.Minute
	// MissingPodsGracePeriod is how long Volcano may take to create the pods of a gang that was admitted, and MissingPodsResyncPeriod
	// how much later the command is given again. It creates them when it sees the PodGroup's phase change, and never again: where its watch was
	// broken just then, it sees a PodGroup that has always been admitted.
	MissingPodsGracePeriod  = 2 * time.Minute
	MissingPodsResyncPeriod = 10 * time.Minute
)

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

// DueIn returns how much longer Volcano may take to end a job whose last worker has succeeded a while ago. It ends one job after the
// other, about in the order in which their workers ended: it has lost a job if it ends none any more, or those that were to come later.
func (c Completions) DueIn(succeededFor time.Duration, now time.Time) time.Duration {
	gracePeriod := CompletionGracePeriod + c.Slowest
	if c.Newest.Sub(now.Add(-succeededFor)) >= gracePeriod {
		return 0
	}
	return min(gracePeriod-min(succeededFor, now.Sub(c.Last)), completionGraceMax-succeededFor)
}

// StuckGracePeriod returns how long Volcano may take to end what it has begun once no pod is in the way; a completion by so much longer
// as it lately took for those of others.
func (c Completions) StuckGracePeriod(completing bool) time.Duration {
	if completing {
		return min(stuckGracePeriod+c.Slowest, completionGraceMax)
	}
	return stuckGracePeriod
}

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
