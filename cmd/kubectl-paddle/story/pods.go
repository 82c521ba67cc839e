// SPDX-License-Identifier: Apache-2.0

package story

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

func (s *Story) starting(o *Objects) {
	placed := o.holds(v1.ConditionScheduled)
	s.head("%s has had its nodes for %s, and its pods are starting.", o.Job.Name, o.since(placed.LastTransitionTime.Time))
	if c := o.condition(v1.ConditionRunning); c != nil && c.Message != "" {
		s.say(AboutReason, c.Message)
	}
	s.held(o)
	s.warnings(o, "Pod")
	s.restartsBefore(o)
	s.place(o)
}

func (s *Story) running(o *Objects) {
	since := o.Job.CreationTimestamp.Time
	if c := o.holds(v1.ConditionRunning); c != nil {
		since = c.LastTransitionTime.Time
	}
	s.head("%s has been running for %s.", o.Job.Name, o.since(since))
	before := len(s.Sentences)
	s.held(o)
	s.leftWaiting(o)
	s.spread(o)
	s.restartsBefore(o)
	if len(s.Sentences) == before {
		s.Headline = strings.TrimSuffix(s.Headline, ".") + "; nothing is wrong."
	}
	if text := elasticWords(o.Job); text != "" {
		s.say(AboutSpec, text)
	}
	s.place(o)
}

// held tells of pods that have a node and do not run, by what holds them up.
func (s *Story) held(o *Objects) {
	byReason := map[string][]string{}
	for _, pod := range o.Pods {
		if view.NewMember(pod).State != view.Starting {
			continue
		}
		if c := holdup(pod); c != nil {
			text := c.State.Waiting.Reason
			if message := strings.TrimSpace(c.State.Waiting.Message); message != "" {
				text += " (" + shortened(message, 200) + ")"
			}
			byReason[text] = append(byReason[text], pod.Name)
		}
	}
	var reasons []string
	for reason := range byReason {
		reasons = append(reasons, reason)
	}
	slices.Sort(reasons)
	for _, reason := range reasons {
		pods := byReason[reason]
		verb := " are"
		if len(pods) == 1 {
			verb = " is"
		}
		s.say(AboutPods, fmt.Sprintf("%s%s held up by %s: %s", number(len(pods), "pod"), verb, reason, some(pods)))
	}
}

// holdup is the container that waits for more than its turn, nil if there is none.
func holdup(pod *corev1.Pod) *corev1.ContainerStatus {
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range statuses {
			if w := statuses[i].State.Waiting; w != nil && w.Reason != "" && w.Reason != "PodInitializing" && w.Reason != "ContainerCreating" {
				return &statuses[i]
			}
		}
	}
	return nil
}

// ends tells how each of a few pods that failed ended.
func (s *Story) ends(o *Objects) {
	const few = 5
	told := 0
	for _, pod := range o.Pods {
		if pod.Status.Phase != corev1.PodFailed {
			continue
		}
		if told++; told <= few {
			text := view.Ending(pod)
			if pod.Spec.NodeName != "" {
				text += ", on node " + pod.Spec.NodeName
			}
			s.say(AboutPods, text, lastWords(pod)...)
		}
	}
	if told > few {
		s.say(AboutPods, number(told-few, "more pod")+" failed")
	}
}

// lastWords are what a container left in its termination message.
func lastWords(pod *corev1.Pod) []string {
	for i := range pod.Status.ContainerStatuses {
		if end := pod.Status.ContainerStatuses[i].State.Terminated; end != nil && end.ExitCode != 0 && end.Message != "" {
			lines := strings.Split(strings.TrimSpace(end.Message), "\n")
			return lines[max(0, len(lines)-5):]
		}
	}
	return nil
}

// warnings tells the last few warnings of Kubernetes about objects of a kind, each reason once.
func (s *Story) warnings(o *Objects, kind string) {
	const few = 3
	events := slices.Clone(o.Events)
	slices.SortStableFunc(events, func(a, b corev1.Event) int { return b.LastTimestamp.Compare(a.LastTimestamp.Time) })
	told := map[string]bool{}
	for i := range events {
		e := &events[i]
		if e.Type != corev1.EventTypeWarning || e.InvolvedObject.Kind != kind || told[e.Reason] || len(told) == few {
			continue
		}
		told[e.Reason] = true
		text, ok := view.RefusalOfPods(e.Message)
		if !ok {
			text = e.Message
		}
		s.say(AboutPods, fmt.Sprintf("%s %s: %s (%s)", strings.Replace(kind, "Job", "Volcano Job", 1), e.InvolvedObject.Name, shortened(text, 300), e.Reason))
	}
}
