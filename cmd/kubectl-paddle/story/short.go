// SPDX-License-Identifier: Apache-2.0

package story

import (
	"time"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

// Short is why a job does not run, in a few words and by its status alone; empty if it does, or there is nothing to say.
func Short(job *v1.PaddleJob, now time.Time, most int) string {
	o := &Objects{Job: job, Now: now}
	said := func(kind string) string {
		if c := o.condition(kind); c != nil {
			return c.Message
		}
		return ""
	}
	text := ""
	switch {
	case job.DeletionTimestamp != nil || job.Status.Phase == v1.Completed:
	case job.Status.Phase == "":
		if now.Sub(job.CreationTimestamp.Time) > unseen {
			text = "the controller has not looked at it"
		}
	case job.Status.Phase == v1.Failed:
		text = said(v1.ConditionFailed)
	case o.holds(v1.ConditionStalled) != nil:
		c := o.holds(v1.ConditionStalled)
		text = c.Reason + ": " + c.Message
	case o.holds(v1.ConditionSuspended) != nil:
	case o.holds(v1.ConditionRestarting) != nil:
		text = said(v1.ConditionRestarting)
	case job.Status.Phase == v1.Running:
	case o.holds(v1.ConditionScheduled) != nil:
		text = said(v1.ConditionRunning)
	default:
		if text = said(v1.ConditionScheduled); text == "" {
			text = said(v1.ConditionCreated)
		}
	}
	return shortened(text, most)
}
