// SPDX-License-Identifier: Apache-2.0

package story

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/lifecycle"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// refusalHelps are what helps a job whose pods the API server refuses.
var refusalHelps = map[string]string{
	lifecycle.ReasonQuotaExceeded:        "wait for other jobs of the namespace to end, ask for less, or have the ResourceQuota of the namespace raised (kubectl describe quota)",
	lifecycle.ReasonPodSecurityViolation: "change the pods of the job so that they meet the standard, or have the label pod-security.kubernetes.io/enforce of the namespace changed",
	lifecycle.ReasonPodsRefused:          "change the job or have the rule changed that the API server names",
}

// refusalKind is what the help changes.
func refusalKind(reason string) report.Kind {
	if reason == lifecycle.ReasonQuotaExceeded {
		return report.RaiseResourceQuota
	}
	return ChangePodTemplate
}

// refused is the condition that says that the API server refuses the pods of a job that waits, nil if it refuses none.
func (o *Objects) refused() *metav1.Condition {
	c := o.condition(v1.ConditionScheduled)
	if c == nil || c.Status == metav1.ConditionTrue || !lifecycle.IsRefusal(c.Reason) {
		return nil
	}
	return c
}

func (s *Story) refused(o *Objects) {
	c := o.refused()
	s.Reason = c.Reason
	s.head("%s waits, for %s by now: its pods cannot be created.", o.Job.Name, o.since(o.waitsSince()))
	s.say(AboutReason, c.Message+" ("+c.Reason+")")
	s.suggest(refusalKind(c.Reason), "", refusalHelps[c.Reason]+"; Volcano tries again by itself, and gives the job up after some minutes")
	s.queue(o)
	s.restartsBefore(o)
}
