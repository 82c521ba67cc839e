// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
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
	if least, _ := builder.Bounds(job); d.Missing != nil && len(d.Missing.Roles) > 0 && builder.Elastic(job) && least < job.Spec.Worker.Replicas {
		d.say(AboutSpec, fmt.Sprintf("it starts once %d of its %d workers have nodes (spec.elasticPolicy.minReplicas)", least, job.Spec.Worker.Replicas))
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
	if r == nil && c != nil {
		r = &report.Report{Reason: report.Reason(c.Reason), Message: c.Message}
	}
	if r == nil {
		return
	}
	d.Reason, d.Missing, d.Suggestions = string(r.Reason), r.Missing, r.Suggestions
	text := quiet[d.Reason]
	if r.Message != "" {
		text = r.Message + " (" + d.Reason + ")"
	}
	d.say(AboutReason, text, r.Details()...)
	for _, help := range r.Help() {
		d.say(AboutHelp, help)
	}
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
	d.help(c.Reason, "", "; Volcano retries, and the job fails after some minutes")
	d.queue(o)
	d.restartsBefore(o)
}

// queue adds the state and the use of the queue that a job waits in.
func (d *Description) queue(o *Objects) {
	q := o.Queue
	if q == nil {
		return
	}
	state := strings.ToLower(string(q.Status.State))
	if state == "" {
		state = "of an unknown state"
	}
	text := fmt.Sprintf("its queue %q is %s", q.Name, state)
	if used := usage(q); len(used) > 0 {
		text += ", and uses " + strings.Join(used, ", ")
	}
	d.say(AboutQueue, text)
}

// usage returns what a queue uses of each resource of its capability.
func usage(q *vcscheduling.Queue) []string {
	var used []string
	for _, name := range slices.Sorted(maps.Keys(q.Spec.Capability)) {
		most, now := q.Spec.Capability[name], q.Status.Allocated[name]
		used = append(used, fmt.Sprintf("%s of %s %s", now.String(), most.String(), name))
	}
	return used
}

// Queues holds the jobs that may wait in queues.
type Queues struct {
	// Groups are PodGroups of all kinds of jobs.
	Groups  []*vcscheduling.PodGroup
	Classes []*schedulingv1.PriorityClass
	// Partial reports that the user could not read the PodGroups of all namespaces.
	Partial bool
}

// QueuePosition returns how many pending jobs of the same queue precede a job: those of a higher priority, and the older ones
// of the same priority. It returns "2+" if there may be more, and "" if the job does not wait in a queue.
func (q *Queues) QueuePosition(job *v1.PaddleJob) string {
	if meta.IsStatusConditionTrue(job.Status.Conditions, v1.ConditionScheduled) { // the phase of its PodGroup may be older
		return ""
	}
	var own *vcscheduling.PodGroup
	for _, group := range q.Groups {
		its := group.Namespace == job.Namespace && group.Labels[v1.JobNameLabel] == job.Name
		if its && waitsInQueue(group) && (own == nil || q.before(own, group)) {
			own = group
		}
	}
	if own == nil {
		return ""
	}
	ahead := 0
	for _, group := range q.Groups {
		if group.Spec.Queue == own.Spec.Queue && waitsInQueue(group) && q.before(group, own) {
			ahead++
		}
	}
	text := strconv.Itoa(ahead)
	if q.Partial {
		text += "+"
	}
	return text
}

// waitsInQueue reports whether a gang has no nodes yet.
func waitsInQueue(group *vcscheduling.PodGroup) bool {
	switch group.Status.Phase {
	case "", vcscheduling.PodGroupPending, vcscheduling.PodGroupInqueue:
		return group.DeletionTimestamp == nil
	case vcscheduling.PodGroupRunning, vcscheduling.PodGroupUnknown, vcscheduling.PodGroupCompleted:
	}
	return false
}

// before reports whether Volcano takes a before b, if both are of one queue and have no resources yet.
func (q *Queues) before(a, b *vcscheduling.PodGroup) bool {
	return cmp.Or(
		cmp.Compare(Priority(q.Classes, b.Spec.PriorityClassName), Priority(q.Classes, a.Spec.PriorityClassName)),
		a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
		cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name),
	) < 0
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
