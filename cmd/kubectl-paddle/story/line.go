// SPDX-License-Identifier: Apache-2.0

package story

import (
	"cmp"
	"strconv"

	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
)

// Line is who waits in the queues.
type Line struct {
	// Groups are PodGroups, of whatever kinds of jobs.
	Groups  []*vcscheduling.PodGroup
	Classes []*schedulingv1.PriorityClass
	// Partly says that there may be others, in namespaces that may not be read.
	Partly bool
}

// Ahead is how many jobs of a job's queue wait and come before it: those of a higher priority, and of its own priority
// those that are older. It is "2+" where there may be more, and empty if the job does not wait in a queue.
func (l *Line) Ahead(job *v1.PaddleJob) string {
	if l == nil || meta.IsStatusConditionTrue(job.Status.Conditions, v1.ConditionScheduled) { // its PodGroup may say so later
		return ""
	}
	var own *vcscheduling.PodGroup
	for _, group := range l.Groups {
		its := group.Namespace == job.Namespace && group.Labels[keys.JobName] == job.Name
		if its && waitsInQueue(group) && (own == nil || l.before(own, group)) {
			own = group
		}
	}
	if own == nil {
		return ""
	}
	ahead := 0
	for _, group := range l.Groups {
		if group.Spec.Queue == own.Spec.Queue && waitsInQueue(group) && l.before(group, own) {
			ahead++
		}
	}
	text := strconv.Itoa(ahead)
	if l.Partly {
		text += "+"
	}
	return text
}

// waitsInQueue says whether a gang has no nodes yet.
func waitsInQueue(group *vcscheduling.PodGroup) bool {
	switch group.Status.Phase {
	case "", vcscheduling.PodGroupPending, vcscheduling.PodGroupInqueue:
		return group.DeletionTimestamp == nil
	case vcscheduling.PodGroupRunning, vcscheduling.PodGroupUnknown, vcscheduling.PodGroupCompleted:
	}
	return false
}

// before is the order in which Volcano takes jobs of one queue that have nothing yet.
func (l *Line) before(a, b *vcscheduling.PodGroup) bool {
	return cmp.Or(
		cmp.Compare(Priority(l.Classes, b.Spec.PriorityClassName), Priority(l.Classes, a.Spec.PriorityClassName)),
		a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
		cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name),
	) < 0
}

// Priority is the value of a priority class, and the default's if it has no name.
func Priority(classes []*schedulingv1.PriorityClass, name string) int32 {
	for _, class := range classes {
		if class.Name == name || name == "" && class.GlobalDefault {
			return class.Value
		}
	}
	return 0
}
