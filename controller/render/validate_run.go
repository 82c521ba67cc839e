// SPDX-License-Identifier: Apache-2.0

package render

import (
	"k8s.io/apimachinery/pkg/util/sets"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

// checkRun checks what the user wants of the job as a whole. The CRD refuses most of it too; a job may be older than that.
func (n *notices) checkRun(job *v1.PaddleJob) {
	run := job.Spec.RunPolicy
	if run == nil {
		return
	}
	const field = "spec.runPolicy."
	if seconds := run.ActiveDeadlineSeconds; seconds != nil && *seconds < 1 {
		n.add(ReasonInvalidRunPolicy, field+"activeDeadlineSeconds is %d: set it to 1 or more, or leave it out", *seconds)
	}
	if seconds := run.TTLSecondsAfterFinished; seconds != nil && *seconds < 0 {
		n.add(ReasonInvalidRunPolicy, field+"ttlSecondsAfterFinished is %d: set it to 0 or more, or leave it out", *seconds)
	}
	if limit := run.BackoffLimit; limit != nil && *limit < 0 {
		n.add(ReasonInvalidRunPolicy, field+"backoffLimit is %d: set it to 0 for no restart, or more, or leave it out to mean 2", *limit)
	}
	switch run.RestartScope {
	case "", v1.RestartGang:
	case v1.RestartPod:
		if job.Spec.PS == nil {
			n.add(ReasonInvalidRunPolicy, field+"restartScope Pod is for workers of PS mode: others count each other once, at the "+
				"start, and cannot go on without one: use Gang, or leave it out (elastic workers always start again alone)")
		}
	default:
		n.add(ReasonInvalidRunPolicy, field+"restartScope %q does not exist: use Gang or Pod", string(run.RestartScope))
	}
	seen := sets.New[int32]()
	for _, code := range run.PermanentExitCodes {
		if code < 1 || code > 255 || seen.Has(code) {
			n.add(ReasonInvalidRunPolicy, field+"permanentExitCodes has %d: use codes from 1 to 255, each once", code)
		}
		seen.Insert(code)
	}
}
