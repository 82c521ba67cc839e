// SPDX-License-Identifier: Apache-2.0

package describe

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/lifecycle"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

// Conditions returns the conditions of a job's status as sentences, in the order in which a job goes through them.
func Conditions(o *Objects) []string {
	var sentences []string
	order := []string{
		v1.ConditionStalled, v1.ConditionCreated, v1.ConditionAdmitted, v1.ConditionScheduled, v1.ConditionRunning,
		v1.ConditionLauncherUsable, v1.ConditionSuspended, v1.ConditionRestarting, v1.ConditionSucceeded, v1.ConditionFailed,
	}
	for _, kind := range order {
		c := o.condition(kind)
		if c == nil {
			continue
		}
		if text := o.conditionWords(c); text != "" {
			if c.Message != "" {
				text += ": " + c.Message
			}
			sentences = append(sentences, sentence(text))
		}
	}
	return sentences
}

// conditionWords returns what the status of a condition means, without its message.
func (o *Objects) conditionWords(c *metav1.Condition) string {
	ago := o.since(c.LastTransitionTime.Time)
	if c.Status == metav1.ConditionTrue {
		return map[string]string{
			v1.ConditionStalled:    "it has not been able to continue for " + ago + " (" + c.Reason + ")",
			v1.ConditionCreated:    "its Volcano Job was created " + ago + " ago",
			v1.ConditionAdmitted:   "its queue admitted it " + ago + " ago",
			v1.ConditionScheduled:  "its pods got their nodes " + ago + " ago",
			v1.ConditionRunning:    "all its pods have run for " + ago,
			v1.ConditionSuspended:  "it was suspended " + ago + " ago",
			v1.ConditionRestarting: "it began to start again " + ago + " ago",
			v1.ConditionSucceeded:  "it succeeded " + ago + " ago",
			v1.ConditionFailed:     "it failed " + ago + " ago (" + c.Reason + ")",
		}[c.Type]
	}
	if observed.Finished(o.Job) && c.Type != v1.ConditionRestarting && c.Type != v1.ConditionLauncherUsable {
		return ""
	}
	why := ""
	if lifecycle.IsWaitingReason(c.Reason) {
		why = " (" + c.Reason + ")"
	}
	return map[string]string{
		v1.ConditionCreated:        "its Volcano Job has not been created",
		v1.ConditionAdmitted:       "its queue has not admitted it",
		v1.ConditionScheduled:      "its pods have no nodes" + why,
		v1.ConditionRunning:        "not all its pods run" + why,
		v1.ConditionLauncherUsable: "the launcher cannot start it (" + c.Reason + ")",
		v1.ConditionSuspended:      "it was resumed " + ago + " ago",
		v1.ConditionRestarting:     "it last ran again " + ago + " ago after a restart",
	}[c.Type]
}
