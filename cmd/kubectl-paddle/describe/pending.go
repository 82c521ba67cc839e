// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/lifecycle"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
	"github.com/paddle-volcano/paddle-volcano/controller/volcano"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

func (d *Description) pending(o *Objects) {
	job, headline, refused, since := o.Job, "why.pending", o.refused(), o.Job.CreationTimestamp.Time
	if refused != nil {
		headline = "why.refused"
	}
	if c := o.condition(v1.ConditionScheduled); c != nil && job.Status.Restarts+job.Status.Recreations > 0 {
		since = c.LastTransitionTime.Time
	}
	d.head(headline, "job", job.Name, "age", o.since(since))
	switch c := o.condition(v1.ConditionCreated); {
	case refused != nil:
		d.Reason = refused.Reason
		d.addText(AboutReason, "why.reason", "message", refused.Message, "reason", refused.Reason)
		d.help(refused.Reason, "", "why.help.retries")
	case c != nil && c.Status != metav1.ConditionTrue && c.Message != "":
		d.add(AboutReason, c.Message)
		return
	default:
		d.unplaced(o)
	}
	if least, _ := builder.Bounds(job); d.Missing != nil && len(d.Missing.Roles) > 0 && builder.Elastic(job) && least < job.Spec.Worker.Replicas {
		d.addText(AboutSpec, "why.minimum", "minimum", strconv.Itoa(int(least)), "workers", strconv.Itoa(int(job.Spec.Worker.Replicas)))
	}
	d.queue(o)
	if d.Reason == string(report.WaitingForPods) {
		d.warnings(o, "Job")
	}
	d.restartsBefore(o)
}

// unplaced adds why a gang has no nodes and what helps: by the plugin's report, or else by the controller's condition.
func (d *Description) unplaced(o *Objects) {
	c, r := o.condition(v1.ConditionScheduled), reportOf(o.PodGroup, corev1.ConditionFalse)
	if r == nil && c != nil {
		r = &report.Report{Reason: report.Reason(c.Reason), Message: c.Message}
	}
	if r == nil {
		return
	}
	d.Reason, d.Missing, d.Suggestions = string(r.Reason), r.Missing, r.Suggestions
	text, original := r.Translate(d.catalog), r.Message
	if text == "" {
		text, original = r.Message, ""
		if own := d.catalog["why."+d.Reason]; own != "" && !d.catalog.English() {
			text = own
		}
	}
	if text != "" {
		text = d.catalog.Text("why.reason", "message", text, "reason", d.Reason)
	} else {
		text = d.catalog["why."+d.Reason]
	}
	d.add(AboutReason, text, r.Details(d.catalog)...)
	if original != "" {
		d.addText(AboutReason, "why.original", "message", original)
	}
	for _, help := range r.Help(d.catalog) {
		d.add(AboutHelp, help)
	}
}

// Unplaced returns why a gang has no nodes and what helps, by the report of the scheduler's plugin.
func Unplaced(group *vcscheduling.PodGroup) []Sentence {
	d := &Description{catalog: report.English}
	d.unplaced(&Objects{State: observed.State{Job: &v1.PaddleJob{}, PodGroup: group}})
	return d.Sentences
}

// refused returns the condition that says that the API server refuses the pods of a job that waits, nil if it refuses none.
func (o *Objects) refused() *metav1.Condition {
	c := o.condition(v1.ConditionScheduled)
	if c == nil || c.Status == metav1.ConditionTrue || !lifecycle.IsRefusal(c.Reason) {
		return nil
	}
	return c
}

// queue adds the state and the use of the queue that a job waits in.
func (d *Description) queue(o *Objects) {
	q := o.Queue
	if q == nil {
		return
	}
	var used []string
	for _, name := range slices.Sorted(maps.Keys(q.Spec.Capability)) {
		most, now := q.Spec.Capability[name], q.Status.Allocated[name]
		used = append(used, d.catalog.Text("why.queue-amount", "used", now.String(), "capability", most.String(), "resource", string(name)))
	}
	key := "why.queue"
	if len(used) > 0 {
		key = "why.queue-use"
	}
	state := cmp.Or(strings.ToLower(string(q.Status.State)), d.catalog["why.unknown-state"])
	d.addText(AboutQueue, key, "queue", q.Name, "state", state, "used", strings.Join(used, d.catalog["comma"]))
}

// Queues holds the jobs that may wait in queues.
type Queues struct {
	// Groups are PodGroups of all kinds of jobs.
	Groups  []*vcscheduling.PodGroup
	Classes []*schedulingv1.PriorityClass
	// Partial reports that the user could not read the PodGroups of all namespaces. Unread names all that could not be read.
	Partial bool
	Unread  []string
}

// Positions returns how many pending jobs of the same queue precede a job, by the jobs' namespaces and names: those of a higher priority,
// and the older ones of the same priority. It is "2+" if there may be more. Jobs that do not wait in a queue have none.
func (q *Queues) Positions() map[string]string {
	waiting := slices.DeleteFunc(slices.Clone(q.Groups), func(group *vcscheduling.PodGroup) bool { return !Waits(group) })
	slices.SortFunc(waiting, q.compare)
	ahead, positions := map[string]int{}, map[string]string{}
	for _, group := range waiting {
		position := strconv.Itoa(ahead[group.Spec.Queue])
		if q.Partial {
			position += "+"
		}
		positions[group.Namespace+"/"+group.Labels[v1.JobNameLabel]] = position
		ahead[group.Spec.Queue]++
	}
	return positions
}

// Waits reports whether a gang has no nodes yet.
func Waits(group *vcscheduling.PodGroup) bool {
	waits := []vcscheduling.PodGroupPhase{"", vcscheduling.PodGroupPending, vcscheduling.PodGroupInqueue}
	return group.DeletionTimestamp == nil && slices.Contains(waits, group.Status.Phase)
}

// compare orders PodGroups of one queue as Volcano takes them, if they have no resources yet.
func (q *Queues) compare(a, b *vcscheduling.PodGroup) int {
	return cmp.Or(
		cmp.Compare(Priority(q.Classes, b.Spec.PriorityClassName), Priority(q.Classes, a.Spec.PriorityClassName)),
		a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
		cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name),
	)
}

// Priority returns the value of a priority class, and of the default one if the name is empty.
func Priority(classes []*schedulingv1.PriorityClass, name string) int32 {
	for _, class := range classes {
		if class.Name == name || name == "" && class.GlobalDefault {
			return class.Value
		}
	}
	return 0
}

// Kinds of suggestions beyond the scheduler's. They have no values.
const (
	MakeImageAvailable report.Kind = "MakeImageAvailable"
	ChangePodTemplate  report.Kind = "ChangePodTemplate"
)

func (d *Description) starting(o *Objects) {
	placed := o.holds(v1.ConditionScheduled)
	age := o.since(placed.LastTransitionTime.Time)
	d.head("why.starting", "job", o.Job.Name, "age", age)
	c := o.condition(v1.ConditionRunning)
	switch d.Reason = d.startFailures(o); {
	case d.Reason != "":
		d.head("why.cannot-start", "job", o.Job.Name, "age", age, "reason", d.Reason)
	case c != nil:
		d.Reason = c.Reason
		d.add(AboutReason, c.Message)
	}
	d.warnings(o, "Pod")
	d.restartsBefore(o)
	d.place(o.PodGroup)
}

func (d *Description) running(o *Objects) {
	since := o.Job.CreationTimestamp.Time
	if c := o.holds(v1.ConditionRunning); c != nil {
		since = c.LastTransitionTime.Time
	}
	d.head("why.running", "job", o.Job.Name, "age", o.since(since))
	before := len(d.Sentences)
	d.startFailures(o)
	if r := reportOf(o.PodGroup, corev1.ConditionTrue); r != nil {
		d.add(AboutPods, r.Surplus) // pods beyond the minimum that have no nodes
	}
	d.spread(o)
	d.restartsBefore(o)
	if len(d.Sentences) == before {
		d.head("why.healthy", "job", o.Job.Name, "age", o.since(since))
	}
	d.place(o.PodGroup)
}

// startFailures adds why the kubelet does not start pods and what helps, and returns the first reason, "" if there is none.
func (d *Description) startFailures(o *Objects) (reason string) {
	if pod := o.Mounting(); pod != nil {
		o.FailedMount = o.failedMount(pod)
	}
	failures := o.StartFailures()
	restart := d.catalog.Text("why.help.restart", "job", o.Job.Name)
	for _, f := range failures {
		why, kind, value := f.Message, ChangePodTemplate, ""
		help := d.catalog.Text("why.help.template", "restart", restart, "namespace", o.Job.Namespace, "pod", f.Pods[0])
		switch {
		case f.Missing != nil:
			object := report.Object(*f.Missing)
			d.lacks(object)
			why = d.catalog.Text("why.object-missing", "object", object.String(), "namespace", o.Job.Namespace)
			kind, value = report.CreateObject, object.String()
			help = d.catalog.Text("why.help.object", "object", object.String(), "namespace", o.Job.Namespace)
		case f.Reason == observed.ReasonImagePullFailed:
			kind = MakeImageAvailable
			help = d.catalog.Text("why.help.image", "restart", restart)
		}
		n := len(f.Pods)
		text := d.catalog.Text("why.cannot-start-pods", "n", strconv.Itoa(n), "pods", d.catalog.Plural(n, "pod"), "reason", f.Reason, "names", d.catalog.Some(f.Pods))
		if why != "" {
			text = d.catalog.Text("why.cannot-start-why", "pods", text, "message", shortened(why, 300))
		}
		d.add(AboutReason, text)
		d.suggest(kind, value, help)
	}
	if len(failures) == 0 {
		return ""
	}
	return failures[0].Reason
}

// failedMount returns the kubelet's last message about the volumes of a pod, whose status has none.
func (o *Objects) failedMount(pod *corev1.Pod) (message string) {
	var last metav1.Time
	for _, e := range o.Events {
		if e.InvolvedObject.UID == pod.UID && e.Reason == "FailedMount" && !e.LastTimestamp.Before(&last) {
			last, message = e.LastTimestamp, e.Message
		}
	}
	return message
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
				text = d.catalog.Text("why.on-node", "message", text, "node", pod.Spec.NodeName)
			}
			d.add(AboutPods, text, lastLines(pod)...)
		}
	}
	if failed > maxPods {
		d.addText(AboutPods, "why.more-failed", "n", strconv.Itoa(failed-maxPods), "pods", d.catalog.Plural(failed-maxPods, "pod"))
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
	newestFirst := func(a, b corev1.Event) int { return b.LastTimestamp.Compare(a.LastTimestamp.Time) }
	seen := map[string]bool{}
	for _, e := range slices.SortedStableFunc(slices.Values(o.Events), newestFirst) {
		if e.Type != corev1.EventTypeWarning || e.InvolvedObject.Kind != kind || seen[e.Reason] || len(seen) == maxWarnings {
			continue
		}
		seen[e.Reason] = true
		text, ok := volcano.PodCreateError(e.Message)
		if !ok {
			text = e.Message
		}
		d.add(AboutPods, fmt.Sprintf("%s %s: %s (%s)", strings.Replace(kind, "Job", "Volcano Job", 1), e.InvolvedObject.Name, shortened(text, 300), e.Reason))
	}
}
