// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

// Load reads a job and what belongs to it. It fails without the job; o.Unread names what else the user may not read.
func (c *Clients) Load(ctx context.Context, namespace, name string) (*describe.Objects, error) {
	job, err := Get[v1.PaddleJob](ctx, c, namespace, name)
	if err != nil {
		return nil, err
	}
	o := &describe.Objects{Job: job, Now: time.Now()}
	with := labels.Set{v1.JobNameLabel: name}
	r := collectUnreadable(&o.Unread)
	vcjob, err := Get[vcbatch.Job](ctx, c, namespace, name)
	if r.read("Volcano Jobs", err) && metav1.IsControlledBy(vcjob, job) {
		o.VolcanoJob = vcjob
	}
	groups, err := List[vcscheduling.PodGroupList](ctx, c, namespace, metav1.ListOptions{LabelSelector: with.String()})
	if r.read("PodGroups", err) {
		o.PodGroup = groupOf(groups.Items, o.VolcanoJob)
	}
	o.Pods, err = c.Pods(ctx, namespace, with)
	r.read("pods", err)
	if queue := describe.QueueOf(job); queue != "" {
		q, err := Get[vcscheduling.Queue](ctx, c, "", queue)
		if r.read("queues", err) {
			o.Queue = q
		}
	}
	if !observed.Finished(job) && job.Status.Phase != v1.Running { // otherwise events add nothing
		r.read("events", c.loadEvents(ctx, o))
	}
	c.loadAbsent(ctx, r, o)
	return o, r.err
}

// loadAbsent finds the PriorityClasses, ConfigMaps and Secrets that do not exist and that a job or its starting pods refer to. The
// job's own ConfigMap is no such one: the controller creates it once all addresses are known.
func (c *Clients) loadAbsent(ctx context.Context, r *bestEffortReader, o *describe.Objects) {
	for _, class := range o.PriorityClasses() {
		_, err := Get[schedulingv1.PriorityClass](ctx, c, "", class)
		if apierrors.IsNotFound(err) {
			o.Absent = append(o.Absent, observed.Reference{Kind: "PriorityClass", Name: class})
		}
		r.read("PriorityClasses", err)
	}
	asked, forbidden := map[observed.Reference]bool{{Kind: observed.KindConfigMap, Name: o.Job.Name}: true}, map[string]bool{}
	for _, pod := range o.Pods {
		if observed.NewRolePod(pod).State != observed.Starting {
			continue
		}
		for _, ref := range observed.References(&pod.Spec) {
			if asked[ref] || forbidden[ref.Kind] {
				continue
			}
			asked[ref] = true
			err := c.exists(ctx, pod.Namespace, ref)
			if apierrors.IsNotFound(err) {
				o.Absent = append(o.Absent, ref)
			}
			r.read(ref.Kind+"s", err)
			forbidden[ref.Kind] = err != nil && isForbidden(err)
		}
	}
}

func (c *Clients) exists(ctx context.Context, namespace string, ref observed.Reference) (err error) {
	if ref.Kind == observed.KindSecret {
		_, err = Get[corev1.Secret](ctx, c, namespace, ref.Name)
	} else {
		_, err = Get[corev1.ConfigMap](ctx, c, namespace, ref.Name)
	}
	return err
}

// Pods returns the pods with labels, in the order of roles and ranks.
func (c *Clients) Pods(ctx context.Context, namespace string, with labels.Set) ([]*corev1.Pod, error) {
	found, err := List[corev1.PodList](ctx, c, namespace, metav1.ListOptions{LabelSelector: with.String()})
	if err != nil {
		return nil, err
	}
	pods := pointers(found.Items)
	observed.SortPods(pods)
	return pods, nil
}

// groupOf returns the PodGroup of a Volcano Job, and the youngest one if the Job is not known.
func groupOf(groups []vcscheduling.PodGroup, job *vcbatch.Job) *vcscheduling.PodGroup {
	slices.SortFunc(groups, func(a, b vcscheduling.PodGroup) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	for i := range groups {
		if job == nil || metav1.IsControlledBy(&groups[i], job) {
			return &groups[i]
		}
	}
	return nil
}

// loadEvents adds the warnings about the job, its Volcano Job and its pods.
func (c *Clients) loadEvents(ctx context.Context, o *describe.Objects) error {
	related := map[types.UID]bool{o.Job.UID: true}
	if o.VolcanoJob != nil {
		related[o.VolcanoJob.UID] = true
	}
	for _, pod := range o.Pods {
		related[pod.UID] = true
	}
	events, err := List[corev1.EventList](ctx, c, o.Job.Namespace, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("type", corev1.EventTypeWarning).String(),
	})
	if err != nil {
		return err
	}
	for i := range events.Items {
		if related[events.Items[i].InvolvedObject.UID] {
			o.Events = append(o.Events, events.Items[i])
		}
	}
	return nil
}

// OwnPodGroup returns the PodGroup of the user's own that has the name of a job. It is nil if there is none, or the user may not
// read it: the controller reads it in any case.
func (c *Clients) OwnPodGroup(ctx context.Context, namespace, name string) *vcscheduling.PodGroup {
	group, err := Get[vcscheduling.PodGroup](ctx, c, namespace, name)
	if err != nil || metav1.GetControllerOf(group) != nil {
		return nil
	}
	return group
}
