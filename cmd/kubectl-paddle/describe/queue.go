// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

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
	var names []string
	for name := range q.Spec.Capability {
		names = append(names, string(name))
	}
	slices.Sort(names)
	var used []string
	for _, name := range names {
		most := q.Spec.Capability[corev1.ResourceName(name)]
		now := q.Status.Allocated[corev1.ResourceName(name)]
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
