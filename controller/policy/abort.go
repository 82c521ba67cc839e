// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"slices"
	"strconv"
	"time"

	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// evictionGrace is how long Volcano may take to start a gang again of which a pod was evicted. It acts when it sees the pod
// go and never again, so a Volcano that was restarted just then would let the others wait.
const evictionGrace = 30 * time.Second

// abort stops a gang of which a pod has failed. No policy of the Volcano Job aborts it: an abortion is either the controller's,
// and then the status has the phase Restarting before, or somebody's own. Where the pod failed because another was evicted,
// Volcano starts the gang again by itself once that one is gone.
func (p *Plan) abort(v *view.View) {
	if !WantsPodGroup(v.VolcanoJob.Status.State.Phase) || v.Succeeded() || v.Resumed() || !slices.ContainsFunc(together(v), (*view.Member).FailedItself) {
		return
	}
	if left := evicting(v); left > 0 {
		p.lookAgainIn(left)
		return
	}
	p.retrying()
	if v.Job.Status.Phase != v1.Restarting {
		return
	}
	p.command(v, vcbus.AbortJobAction, strconv.Itoa(int(v.VolcanoJob.Status.RetryCount)), "PodFailed", "a pod of the gang failed")
}

// together are the pods of the present attempt that are not started again alone.
func together(v *view.View) []*view.Member {
	alone := view.RestartsPods(v.VolcanoJob)
	return slices.DeleteFunc(v.Members(), func(m *view.Member) bool {
		attempt, ok := view.Attempt(m.Pod)
		return ok && attempt != v.VolcanoJob.Status.RetryCount || alone && m.Role == render.RoleWorker
	})
}

// evicting is how much longer to wait for Volcano, where it starts the gang again because a pod is being evicted or was; 0 if
// it does not.
func evicting(v *view.View) time.Duration {
	if !render.LeavesFailures(v.VolcanoJob) {
		failed, _ := v.FirstFailure()
		return max(evictionGrace-v.Now.Sub(failed), 0)
	}
	if !v.Disrupted() {
		return 0
	}
	missing := v.Total()
	if view.RestartsPods(v.VolcanoJob) {
		workers, _ := v.Size(render.RoleWorker)
		missing -= workers
	}
	var last time.Time
	for _, m := range together(v) {
		if m.Pod.DeletionTimestamp == nil {
			missing--
		} else if m.Pod.DeletionTimestamp.After(last) {
			last = m.Pod.DeletionTimestamp.Time
		}
	}
	if missing <= 0 {
		return 0
	}
	if failed, ok := v.FirstFailure(); ok && failed.After(last) {
		last = failed
	}
	return max(evictionGrace-v.Now.Sub(last), 0)
}
