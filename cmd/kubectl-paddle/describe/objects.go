// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"fmt"
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
	// MissingPriorityClasses are those of PriorityClasses that do not exist.
	MissingPriorityClasses []string
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

// Mounting returns the first pod that may wait for its volumes, nil if there is none: only events say why.
func (o *Objects) Mounting() *corev1.Pod {
	v := observed.State{VolcanoJob: o.VolcanoJob, Pods: o.Pods}
	return v.Mounting()
}

// allowed returns how often the job may be started again.
func (o *Objects) allowed() int32 {
	v := observed.State{Job: o.Job, VolcanoJob: o.VolcanoJob}
	return v.BackoffLimit()
}

// place adds where the gang is and what a step of its training sends.
func (d *Description) place(o *Objects) {
	r := o.report(corev1.ConditionTrue)
	if r == nil {
		return
	}
	d.say(AboutPlace, r.Message, r.Details()...)
	if r.Placement != nil {
		for _, sentence := range r.Placement.Sentences() {
			d.say(AboutPlace, sentence)
		}
	}
}

// Spread returns the tiers above the nodes of which a gang that runs uses several domains and sends something between them, so that
// another place might be faster.
func Spread(group *vcscheduling.PodGroup) (tiers []report.Tier) {
	if p := Placement(group); p != nil {
		for i, tier := range p.Tiers {
			if i > 0 && tier.Count > 1 && tier.Crossing > 0 {
				tiers = append(tiers, tier)
			}
		}
	}
	return tiers
}

// spread adds that a gang would send less over slower links on an empty cluster, if that is known.
func (d *Description) spread(o *Objects) {
	if o.Ideal == nil {
		return
	}
	p := Placement(o.PodGroup)
	for _, tier := range Spread(o.PodGroup) {
		if p.Better(o.Ideal, tier.Name) {
			d.say(AboutPlace, fmt.Sprintf("its place is not the fastest: its pods are in %d %s, and each step of training sends %s between them; on an empty cluster it would send %s",
				tier.Count, report.Domains(2, tier.Name), p.Amount(tier.Crossing), o.Ideal.Traffic()))
		}
	}
}

// Place returns where a gang runs and what a step of training sends, in sentences.
func Place(group *vcscheduling.PodGroup) (sentences []string) {
	d := &Description{}
	d.place(&Objects{PodGroup: group})
	for _, sentence := range d.Sentences {
		sentences = append(sentences, sentence.Text)
	}
	return sentences
}

// Placement returns where a gang runs, nil if it has no nodes or the scheduler does not report it.
func Placement(group *vcscheduling.PodGroup) *report.Placement {
	o := Objects{PodGroup: group}
	if r := o.report(corev1.ConditionTrue); r != nil {
		return r.Placement
	}
	return nil
}
