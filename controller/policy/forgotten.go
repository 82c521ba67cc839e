// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

const (
	// forgottenGrace is how long Volcano may leave a Volcano Job as it is that it was told to change, or was to give its first
	// phase. It does so for ever where it has mixed it up with an earlier one of its name, whose leaving it notices late
	// (reconcile/departures.go): it drops both, and reads commands about what it does not know without a word.
	forgottenGrace = 5 * time.Minute
	// stuckGrace is how long Volcano may take to end what it has begun once no pod is in the way; a completion by so much longer as
	// it lately took for those of others.
	stuckGrace = 2 * time.Minute
)

const forgottenText = "Volcano has lost track of the Volcano Job, which is deleted and made anew"

// StateOf is what changes when Volcano does anything with a Volcano Job as a whole, in a text that names the Job by its uid.
func StateOf(job *vcbatch.Job) string {
	return fmt.Sprintf("%s %s %d", job.UID, job.Status.State.Phase, job.Status.RetryCount)
}

// stuck has Volcano look at a job that it does not bring to the phase that it is on its way to. An abortion that somebody
// else has asked for is theirs.
func (p *Plan) stuck(v *view.View) {
	state := v.VolcanoJob.Status.State
	switch state.Phase {
	case vcbatch.Aborting:
		if !stoppedForAPod(v) {
			return
		}
	case vcbatch.Restarting, vcbatch.Completing, vcbatch.Terminating:
	default:
		return
	}
	if state.LastTransitionTime.IsZero() || len(unended(v)) > 0 {
		return // Volcano waits for the pods too
	}
	patience := stuckGrace
	if state.Phase == vcbatch.Completing {
		patience = min(stuckGrace+v.Ends.Slowest, completeMost)
	}
	if left := patience - v.Now.Sub(state.LastTransitionTime.Time); left > 0 {
		p.lookAgainIn(left)
		return
	}
	p.command(v, vcbus.SyncJobAction, "", "Stuck", "no pod runs any more, and it is on its way still")
}

// unended are the Volcano Job's pods that have not ended.
func unended(v *view.View) (pods []*corev1.Pod) {
	for _, pod := range v.Pods {
		if state := view.NewMember(pod).State; state != view.Succeeded && state != view.Failed {
			pods = append(pods, pod)
		}
	}
	return pods
}

// forgotten reports whether Volcano does not know the Volcano Job, and goes on without it: what was certain comes true, and
// another Volcano Job makes the next attempt.
func (p *Plan) forgotten(v *view.View) bool {
	if v.VolcanoJob == nil || v.VolcanoJob.DeletionTimestamp != nil || v.Unheeded < forgottenGrace {
		return false
	}
	phase := v.VolcanoJob.Status.State.Phase
	switch {
	case v.Succeeded() || phase == vcbatch.Completing:
		p.Succeeded = true
	case phase == vcbatch.Terminating:
		p.Failed = &render.Notice{Reason: ReasonTerminated, Message: "the Volcano Job was terminated"}
	case phase == vcbatch.Restarting && !v.Ended() && len(v.Pods) == 0:
		p.startOver(v, forgottenText)
	default:
		if p.again(v); p.Retrying != nil {
			p.Retrying.Message = forgottenText
		}
	}
	return true
}
