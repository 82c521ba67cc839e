// SPDX-License-Identifier: Apache-2.0

package story

import (
	"cmp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/status"
)

// conditionPlaced is the condition of PodGroups in which the scheduler's plugin says where a gang runs or why it does
// not. It is the plugin's; test/kubectl reads what the plugin really writes.
const conditionPlaced vcscheduling.PodGroupConditionType = "PaddlePlaced"

// placement is what the plugin says of the gang, nil if it says nothing or may not be read.
func (o *Objects) placement() *vcscheduling.PodGroupCondition {
	if o.PodGroup == nil {
		return nil
	}
	for i := range o.PodGroup.Status.Conditions {
		if c := &o.PodGroup.Status.Conditions[i]; c.Type == conditionPlaced {
			return c
		}
	}
	return nil
}

// helps is what helps a gang that waits for a class of reasons, beyond what the scheduler proposes itself.
var helps = map[string]string{
	"QueueClosed":         "have the queue opened, or use another one (spec.schedulingPolicy.queue)",
	"QueueQuota":          "wait for other jobs of the queue to end, ask for less, use another queue, or have the queue's capability raised",
	"NamespaceQuota":      "wait for other jobs of the namespace to end, ask for less, or have the namespace's ResourceQuota raised",
	"Overcommit":          "wait: the cluster lets in others as jobs end; one that asks for more than the whole cluster has to ask for less",
	"Refused":             "ask whoever runs the cluster about that rule; a queue that is divided into others takes jobs in those only",
	"WaitingToBeEnqueued": "wait a moment; if it stays so, ask whoever runs the cluster whether the scheduler's action enqueue is on",
	"WaitingForPods":      "wait a moment; if it stays so, quotas or rules of the namespace may forbid pods: see the events of the Volcano Job",
	"NotEnoughPods":       "wait a moment; if it stays so, quotas or rules of the namespace may forbid pods: see the events of the Volcano Job",
	"PodsRefused":         "mend what they are refused for, in the job or in the namespace: Volcano tries again, and gives the job up after some minutes",
	"SchedulingGates":     "whoever put the scheduling gates on the pods has to remove them",
	"QueueShare":          "wait for other jobs to end, or have the queue's weight raised",
	"NoRoom":              "wait for other jobs to end, or ask for less",
	"TopologyLimit":       "wait for other jobs to end, or allow a wider spec.schedulingPolicy.networkTopology",
	"ColocationLimit":     "wait for other jobs to end, or set spec.schedulingPolicy.colocation to Preferred",
	"Eligibility":         "look at the nodeSelector, affinity and tolerations of the job's pods: too few nodes satisfy them",
	"UnknownTier":         "correct spec.schedulingPolicy.networkTopology: the cluster has no such tier",
	"TopologyNotReady":    "wait: the scheduler is still reading the cluster's topology",
	"EndingPods":          "wait: pods that are ending hold the room, and the job starts by itself when they are gone",
	"NoPlan":              "wait: it is tried again each second",
	"PlanStale":           "wait: it is tried again each second",
}

func (s *Story) pending(o *Objects) {
	job := o.Job
	s.head("%s waits, for %s by now: its pods have no nodes yet.", job.Name, o.since(o.waitsSince()))
	if c := o.condition(v1.ConditionCreated); c != nil && c.Status != "True" && c.Message != "" {
		s.say(AboutReason, c.Message)
		return
	}
	class := s.unplaced(o)
	if help := helps[class]; help != "" {
		s.say(AboutHelp, help)
	}
	if text := elasticWords(job); text != "" {
		s.say(AboutSpec, text)
	}
	s.queue(o)
	if class == "WaitingForPods" || class == "NotEnoughPods" {
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

// unplaced says why a gang has no nodes, and of which class that is: the plugin's words, or else the controller's.
func (s *Story) unplaced(o *Objects) (class string) {
	if c := o.condition(v1.ConditionScheduled); c != nil && c.Reason == status.ReasonPodsRefused {
		s.say(AboutReason, c.Message+" ("+c.Reason+")")
		return c.Reason
	}
	if c := o.placement(); c != nil && c.Status == corev1.ConditionFalse && c.Message != "" {
		text, details, relaxations := readPlacement(c.Message)
		if len(relaxations) > 0 {
			text, _, _ = strings.Cut(text, "; fits ")
		}
		s.say(AboutReason, text+" ("+c.Reason+")", details...)
		if len(relaxations) > 0 {
			s.say(AboutHelp, "now it would fit "+strings.Join(relaxations, "; or "))
		}
		return c.Reason
	}
	c := o.condition(v1.ConditionScheduled)
	if c == nil {
		return ""
	}
	class, text := classed(c.Message)
	if text == "" {
		s.say(AboutReason, quiet[c.Reason])
		return c.Reason
	}
	s.say(AboutReason, text)
	return cmp.Or(class, c.Reason)
}

// quiet are sentences for reasons about which the controller says no more.
var quiet = map[string]string{
	"NotCreated": "its Volcano Job is not made yet",
	"Placing":    "the scheduler looks for room for all its pods at once",
	"Restarting": "the pods of the failed attempt are being deleted",
}

// classed takes the class off what the controller says in the plugin's words.
func classed(message string) (class, text string) {
	for _, part := range []string{message, message[strings.LastIndex(message, "asks for: ")+1:]} {
		part = strings.TrimPrefix(part, "sks for: ")
		if class, text, ok := strings.Cut(part, ": "); ok && helps[class] != "" {
			return class, text
		}
	}
	return "", message
}

// readPlacement takes the plugin's message apart: its sentence, lines with figures, and what would make the gang fit.
func readPlacement(message string) (text string, details, relaxations []string) {
	const fits = "it fits, nearest first:"
	lines := strings.Split(message, "\n")
	into := &details
	for _, line := range lines[1:] {
		switch {
		case line == fits:
			into = &relaxations
		case into == &relaxations && !strings.HasPrefix(line, "  "):
			into = &details
			fallthrough
		default:
			if line = strings.TrimRight(line, " "); line != "" {
				if into == &relaxations {
					line = strings.TrimSpace(line)
				}
				*into = append(*into, line)
			}
		}
	}
	return lines[0], details, relaxations
}
