// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
	"github.com/paddle-volcano/paddle-volcano/controller/volcano"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// Kinds of suggestions beyond the scheduler's. They have no values.
const (
	MakeImageAvailable report.Kind = "MakeImageAvailable"
	ChangePodTemplate  report.Kind = "ChangePodTemplate"
)

func (d *Description) starting(o *Objects) {
	placed := o.holds(v1.ConditionScheduled)
	d.head("%s has had its nodes for %s, and its pods are starting.", o.Job.Name, o.since(placed.LastTransitionTime.Time))
	c := o.condition(v1.ConditionRunning)
	switch d.Reason = d.startFailures(o); {
	case d.Reason != "":
		d.head("%s has had its nodes for %s, and its pods cannot start: %s.", o.Job.Name, o.since(placed.LastTransitionTime.Time), d.Reason)
	case c != nil:
		d.Reason = c.Reason
		d.say(AboutReason, c.Message)
	}
	d.warnings(o, "Pod")
	d.restartsBefore(o)
	d.place(o)
}

func (d *Description) running(o *Objects) {
	since := o.Job.CreationTimestamp.Time
	if c := o.holds(v1.ConditionRunning); c != nil {
		since = c.LastTransitionTime.Time
	}
	d.head("%s has been running for %s.", o.Job.Name, o.since(since))
	before := len(d.Sentences)
	d.startFailures(o)
	if r := o.report(corev1.ConditionTrue); r != nil {
		d.say(AboutPods, r.Surplus) // pods beyond the minimum that have no nodes
	}
	d.spread(o)
	d.restartsBefore(o)
	if len(d.Sentences) == before {
		d.Headline = strings.TrimSuffix(d.Headline, ".") + "; nothing is wrong."
	}
	d.place(o)
}

// startFailures adds why the kubelet does not start pods and what helps, and returns the first reason, "" if there is none.
func (d *Description) startFailures(o *Objects) (reason string) {
	state := observed.State{VolcanoJob: o.VolcanoJob, Pods: o.Pods}
	if pod := o.Mounting(); pod != nil {
		state.FailedMount = o.failedMount(pod)
	}
	failures := state.StartFailures()
	for i := range failures {
		f := &failures[i]
		text := fmt.Sprintf("%s cannot start (%s): %s", Count(len(f.Pods), "pod"), f.Reason, Some(f.Pods))
		if f.Missing != nil {
			text += fmt.Sprintf("; %s %s does not exist in namespace %s", f.Missing.Kind, f.Missing.Name, o.Job.Namespace)
		} else if f.Message != "" {
			text += "; " + shortened(f.Message, 300)
		}
		d.say(AboutReason, text)
		kind, value := ChangePodTemplate, ""
		switch {
		case f.Missing != nil:
			d.lacks(report.Object(*f.Missing))
			kind, value = report.CreateObject, report.Object(*f.Missing).String()
		case f.Reason == observed.ReasonImagePullFailed:
			kind = MakeImageAvailable
		}
		d.suggest(kind, value, startHelp(o, f))
	}
	if len(failures) == 0 {
		return ""
	}
	return failures[0].Reason
}

// failedMount returns the kubelet's last message about the volumes of a pod, whose status has none.
func (o *Objects) failedMount(pod *corev1.Pod) (message string) {
	var last metav1.Time
	for i := range o.Events {
		e := &o.Events[i]
		if e.InvolvedObject.UID == pod.UID && e.Reason == "FailedMount" && !e.LastTimestamp.Before(&last) {
			last, message = e.LastTimestamp, e.Message
		}
	}
	return message
}

// startHelp returns what helps pods that the kubelet does not start.
func startHelp(o *Objects, f *observed.StartFailure) string {
	another := fmt.Sprintf("kubectl paddle suspend %[1]s, kubectl edit pdj %[1]s, kubectl paddle resume %[1]s", o.Job.Name)
	switch {
	case f.Missing != nil:
		return fmt.Sprintf("create %s %s in namespace %s: the pods then start within some minutes", f.Missing.Kind, f.Missing.Name, o.Job.Namespace)
	case f.Reason == observed.ReasonImagePullFailed:
		return "make the image available to the nodes, which retry at least every 5 minutes, or name imagePullSecrets for its registry; for another image: " + another
	}
	return fmt.Sprintf("correct the template of the pods: %s; kubectl describe pod -n %s %s has all that the kubelet says", another, o.Job.Namespace, f.Pods[0])
}

// ends adds how each of the first pods that failed ended.
func (d *Description) ends(o *Objects) {
	const maxPods = 5
	failed := 0
	for _, pod := range o.Pods {
		if pod.Status.Phase != corev1.PodFailed {
			continue
		}
		if failed++; failed <= maxPods {
			text := observed.TerminationMessage(pod)
			if pod.Spec.NodeName != "" {
				text += ", on node " + pod.Spec.NodeName
			}
			d.say(AboutPods, text, lastLines(pod)...)
		}
	}
	if failed > maxPods {
		d.say(AboutPods, Count(failed-maxPods, "more pod")+" failed")
	}
}

// lastLines returns the end of a termination message.
func lastLines(pod *corev1.Pod) []string {
	for i := range pod.Status.ContainerStatuses {
		if end := pod.Status.ContainerStatuses[i].State.Terminated; end != nil && end.ExitCode != 0 && end.Message != "" {
			lines := strings.Split(strings.TrimSpace(end.Message), "\n")
			return lines[max(0, len(lines)-5):]
		}
	}
	return nil
}

// warnings adds the last warnings of Kubernetes about objects of a kind, each reason once.
func (d *Description) warnings(o *Objects, kind string) {
	const maxWarnings = 3
	events := slices.Clone(o.Events)
	slices.SortStableFunc(events, func(a, b corev1.Event) int { return b.LastTimestamp.Compare(a.LastTimestamp.Time) })
	seen := map[string]bool{}
	for i := range events {
		e := &events[i]
		if e.Type != corev1.EventTypeWarning || e.InvolvedObject.Kind != kind || seen[e.Reason] || len(seen) == maxWarnings {
			continue
		}
		seen[e.Reason] = true
		text, ok := volcano.PodCreateError(e.Message)
		if !ok {
			text = e.Message
		}
		d.say(AboutPods, fmt.Sprintf("%s %s: %s (%s)", strings.Replace(kind, "Job", "Volcano Job", 1), e.InvolvedObject.Name, shortened(text, 300), e.Reason))
	}
}
