// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/lifecycle"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

func (d *Description) restarting(o *Objects) {
	c := o.holds(v1.ConditionRestarting)
	d.Reason = c.Reason
	d.head("%s lost a pod %s ago, and starts again.", o.Job.Name, o.since(c.LastTransitionTime.Time))
	d.say(AboutReason, c.Message)
	if n := o.Job.Status.Restarts; n > 0 {
		d.say(AboutRestart, fmt.Sprintf("it has been restarted %s so far; of %d failures that backoffLimit allows it has had %d", times(n), o.allowed(), o.Job.Status.Failures))
	}
	d.ends(o)
	if o.holds(v1.ConditionScheduled) != nil {
		d.startFailures(o)
		return
	}
	if c := o.refused(); c != nil {
		d.say(AboutReason, c.Message)
		d.say(AboutHelp, refusalHelps[c.Reason])
		return
	}
	if o.VolcanoJob != nil && len(o.Pods) == 0 || o.condition(v1.ConditionScheduled) == nil {
		return
	}
	if c := o.placement(); c != nil && c.Status == corev1.ConditionFalse {
		d.unplaced(o)
	}
}

func (d *Description) failed(o *Objects) {
	d.head("%s has failed%s.", o.Job.Name, o.ended())
	c := o.holds(v1.ConditionFailed)
	if c == nil {
		return
	}
	d.Reason = c.Reason
	d.say(AboutReason, c.Message)
	d.ends(o)
	switch c.Reason {
	case lifecycle.ReasonDeadlineExceeded:
		d.say(AboutHelp, "raise spec.runPolicy.activeDeadlineSeconds, and submit the job again")
	case lifecycle.ReasonPermanentExitCode:
		d.say(AboutHelp, "fix what the program ends with; spec.runPolicy.permanentExitCodes excludes a restart after such an end")
	case observed.ReasonPodEvicted:
		d.say(AboutHelp, "its pods were evicted: a higher priorityClass helps")
	case lifecycle.ReasonQuotaExceeded, lifecycle.ReasonPodSecurityViolation, lifecycle.ReasonPodsRefused:
		d.suggest(refusalKind(c.Reason), "", refusalHelps[c.Reason]+"; then submit the job again")
	default:
		d.say(AboutHelp, d.logsHint(o))
	}
}

// logsHint returns how to see what a failed pod wrote.
func (d *Description) logsHint(o *Objects) string {
	for _, pod := range o.Pods {
		if m := observed.NewRolePod(pod); m.State == observed.Failed && m.Role != "" {
			return fmt.Sprintf("kubectl paddle logs %s --role %s --rank %d shows what it wrote last", o.Job.Name, m.Role, m.Index)
		}
	}
	return "its pods are gone, and their logs with them; spec.cleanPodPolicy Never keeps them the next time"
}

// restartsBefore adds the restarts that are over.
func (d *Description) restartsBefore(o *Objects) {
	n := o.Job.Status.Restarts
	if n == 0 {
		return
	}
	text := "it was restarted " + times(n)
	if !observed.Finished(o.Job) {
		text += fmt.Sprintf("; of %d failures that backoffLimit allows it has had %d", o.allowed(), o.Job.Status.Failures)
	}
	if c := o.condition(v1.ConditionRestarting); c != nil && c.Message != "" {
		text += "; the last time: " + c.Message
	}
	d.say(AboutRestart, text)
}

func times(n int32) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}
