// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/lifecycle"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// Objects are what is known of one job. All but Job may be missing.
type Objects struct {
	Job        *v1.PaddleJob
	VolcanoJob *vcbatch.Job
	PodGroup   *vcscheduling.PodGroup
	Queue      *vcscheduling.Queue
	Pods       []*corev1.Pod
	// Absent are the ConfigMaps and Secrets that do not exist and that pods which do not start refer to, and of PriorityClasses
	// those that do not exist.
	Absent []observed.Reference
	// Ideal is where the gang would run if it had the cluster for itself, nil where that is not known.
	Ideal *report.Placement
	// Events are those about the job, its Volcano Job, its PodGroup and its pods.
	Events []corev1.Event
	// Unread names what could not be read, each with the reason.
	Unread []string
	Now    time.Time
}

// condition returns a condition of the job, nil if there is none.
func (o *Objects) condition(kind string) *metav1.Condition {
	return meta.FindStatusCondition(o.Job.Status.Conditions, kind)
}

// holds returns a condition that is True, nil if it is not.
func (o *Objects) holds(kind string) *metav1.Condition {
	if c := o.condition(kind); c != nil && c.Status == metav1.ConditionTrue {
		return c
	}
	return nil
}

// QueueOf returns the queue that a job was sent to, or will be.
func QueueOf(job *v1.PaddleJob) string {
	if scheduling := job.Spec.SchedulingPolicy; job.Status.Queue == "" && scheduling != nil {
		return scheduling.Queue
	}
	return job.Status.Queue
}

// PriorityClasses returns those that the job names if it waits for one that does not exist.
func (o *Objects) PriorityClasses() (classes []string) {
	if c := o.holds(v1.ConditionStalled); c == nil || c.Reason != lifecycle.ReasonPriorityClassNotFound {
		return nil
	}
	spec := &o.Job.Spec
	if spec.SchedulingPolicy != nil {
		classes = append(classes, spec.SchedulingPolicy.PriorityClass)
	}
	for _, role := range []*v1.ResourceSpec{spec.PS, spec.Worker, spec.Heter} {
		if role != nil {
			classes = append(classes, role.Template.Spec.PriorityClassName)
		}
	}
	slices.Sort(classes)
	return slices.DeleteFunc(slices.Compact(classes), func(class string) bool { return class == "" })
}

// since returns how long ago something was, in one or two units.
func (o *Objects) since(at time.Time) string {
	return duration.HumanDuration(max(o.Now.Sub(at), 0))
}

// allowed returns how often the job may be started again.
func (o *Objects) allowed() int32 {
	v := observed.State{Job: o.Job, VolcanoJob: o.VolcanoJob}
	return v.BackoffLimit()
}
