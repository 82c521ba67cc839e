// SPDX-License-Identifier: Apache-2.0

package story

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// placement is the condition of the PodGroup in which the scheduler's plugin says where the gang runs or why it waits, nil
// if there is none or it may not be read.
func (o *Objects) placement() *vcscheduling.PodGroupCondition {
	if o.PodGroup == nil {
		return nil
	}
	for i := range o.PodGroup.Status.Conditions {
		if c := &o.PodGroup.Status.Conditions[i]; c.Type == report.Condition {
			return c
		}
	}
	return nil
}

// report is what the plugin reports with that condition, nil if its status is another.
func (o *Objects) report(status corev1.ConditionStatus) *report.Report {
	c := o.placement()
	if c == nil || c.Status != status {
		return nil
	}
	if r := report.Decode(o.PodGroup.Annotations); r != nil && string(r.Reason) == c.Reason {
		return r
	}
	return &report.Report{Reason: report.Reason(c.Reason), Message: c.Message}
}

func (s *Story) pending(o *Objects) {
	job := o.Job
	s.head("%s waits, for %s by now: its pods have no nodes yet.", job.Name, o.since(o.waitsSince()))
	if c := o.condition(v1.ConditionCreated); c != nil && c.Status != "True" && c.Message != "" {
		s.say(AboutReason, c.Message)
		return
	}
	s.unplaced(o)
	if text := elasticWords(job); text != "" {
		s.say(AboutSpec, text)
	}
	s.queue(o)
	if s.Reason == string(report.WaitingForPods) {
		s.warnings(o, "Job")
	}
	s.restartsBefore(o)
}

// waitsSince is when the job came to wait for its nodes.
func (o *Objects) waitsSince() time.Time {
	if c := o.condition(v1.ConditionScheduled); c != nil && o.Job.Status.Restarts+o.Job.Status.Recreations > 0 {
		return c.LastTransitionTime.Time
	}
	return o.Job.CreationTimestamp.Time
}

// unplaced says why a gang has no nodes and what helps: by the plugin's report, or else by the controller's condition.
func (s *Story) unplaced(o *Objects) {
	c, r := o.condition(v1.ConditionScheduled), o.report(corev1.ConditionFalse)
	switch {
	case r != nil:
		s.Missing, s.Suggestions = r.Missing, r.Suggestions
		s.because(string(r.Reason), r.Sentence(), r.Details()...)
	case c != nil && c.Message == "":
		s.Reason = c.Reason
		s.say(AboutReason, quiet[c.Reason])
	case c != nil:
		s.because(c.Reason, c.Message)
	}
	var helps []string
	for _, suggestion := range s.Suggestions {
		helps = append(helps, suggestion.Text)
	}
	s.say(AboutHelp, strings.Join(helps, "; or "))
	s.say(AboutHelp, report.Help(report.Reason(s.Reason)))
}

// because is the sentence of a reason.
func (s *Story) because(reason, sentence string, details ...string) {
	s.Reason = reason
	s.say(AboutReason, sentence+" ("+reason+")", details...)
}

// quiet are sentences for reasons about which the controller says no more.
var quiet = map[string]string{
	"NotCreated": "its Volcano Job is not made yet",
	"Placing":    "the scheduler looks for room for all its pods at once",
	"Restarting": "the pods of the failed attempt are being deleted",
}
