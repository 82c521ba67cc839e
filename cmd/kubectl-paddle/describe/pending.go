// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/lifecycle"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// placement returns the condition in which the scheduler's plugin reports where the gang runs or why it waits, nil if there is none.
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

// report returns what the plugin reports with that condition, nil if its status is another.
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

func (d *Description) pending(o *Objects) {
	job := o.Job
	d.head("%s has been Pending for %s: its pods have no nodes yet.", job.Name, o.since(o.waitsSince()))
	if c := o.condition(v1.ConditionCreated); c != nil && c.Status != "True" && c.Message != "" {
		d.say(AboutReason, c.Message)
		return
	}
	d.unplaced(o)
	if text := elasticWords(job); text != "" {
		d.say(AboutSpec, text)
	}
	d.queue(o)
	if d.Reason == string(report.WaitingForPods) {
		d.warnings(o, "Job")
	}
	d.restartsBefore(o)
}

// waitsSince returns when the job began to wait for its nodes.
func (o *Objects) waitsSince() time.Time {
	if c := o.condition(v1.ConditionScheduled); c != nil && o.Job.Status.Restarts+o.Job.Status.Recreations > 0 {
		return c.LastTransitionTime.Time
	}
	return o.Job.CreationTimestamp.Time
}

// unplaced adds why a gang has no nodes and what helps: by the plugin's report, or else by the controller's condition.
func (d *Description) unplaced(o *Objects) {
	c, r := o.condition(v1.ConditionScheduled), o.report(corev1.ConditionFalse)
	switch {
	case r != nil:
		d.Missing, d.Suggestions = r.Missing, r.Suggestions
		d.because(string(r.Reason), r.Sentence(), r.Details()...)
	case c != nil && c.Message == "":
		d.Reason = c.Reason
		d.say(AboutReason, quiet[c.Reason])
	case c != nil:
		d.because(c.Reason, c.Message)
	}
	for _, suggestion := range d.Suggestions {
		d.say(AboutHelp, suggestion.Text)
	}
	d.say(AboutHelp, report.Help(report.Reason(d.Reason)))
}

// because adds the sentence of a reason.
func (d *Description) because(reason, sentence string, details ...string) {
	d.Reason = reason
	d.say(AboutReason, sentence+" ("+reason+")", details...)
}

// quiet are the sentences of reasons that the controller gives without a message.
var quiet = map[string]string{
	"NotCreated": "its Volcano Job has not been created yet",
	"Placing":    "the scheduler is looking for free resources for all its pods",
	"Restarting": "the pods of the failed attempt are being deleted",
}

// Unplaced returns why a gang has no nodes and what helps, by the report of the scheduler's plugin.
func Unplaced(group *vcscheduling.PodGroup) []Sentence {
	d := &Description{}
	d.unplaced(&Objects{Job: &v1.PaddleJob{}, PodGroup: group})
	return d.Sentences
}

// refusalHelps is what helps a job whose pods the API server refuses.
var refusalHelps = map[string]string{
	lifecycle.ReasonQuotaExceeded:        "wait for other jobs of the namespace to end, ask for less, or have the ResourceQuota of the namespace raised (kubectl describe quota)",
	lifecycle.ReasonPodSecurityViolation: "change the pods of the job so that they meet the standard, or have the label pod-security.kubernetes.io/enforce of the namespace changed",
	lifecycle.ReasonPodsRefused:          "change the job or have the rule changed that the API server names",
}

// refusalKind returns the kind of that suggestion.
func refusalKind(reason string) report.Kind {
	if reason == lifecycle.ReasonQuotaExceeded {
		return report.RaiseResourceQuota
	}
	return ChangePodTemplate
}

// refused returns the condition that says that the API server refuses the pods of a job that waits, nil if it refuses none.
func (o *Objects) refused() *metav1.Condition {
	c := o.condition(v1.ConditionScheduled)
	if c == nil || c.Status == metav1.ConditionTrue || !lifecycle.IsRefusal(c.Reason) {
		return nil
	}
	return c
}

func (d *Description) refused(o *Objects) {
	c := o.refused()
	d.Reason = c.Reason
	d.head("%s has been Pending for %s: its pods cannot be created.", o.Job.Name, o.since(o.waitsSince()))
	d.say(AboutReason, c.Message+" ("+c.Reason+")")
	d.suggest(refusalKind(c.Reason), "", refusalHelps[c.Reason]+"; Volcano retries, and the job fails after some minutes")
	d.queue(o)
	d.restartsBefore(o)
}
