// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/story"
)

// Gather reads a job and what belongs to it. Without the job itself there is an error; what else may not be read is left
// out, and named.
func (c *Clients) Gather(ctx context.Context, namespace, name string) (*story.Objects, error) {
	job, err := c.Paddle.BatchV1().PaddleJobs(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	o := &story.Objects{Job: job, Now: time.Now()}
	g := leaveOut(&o.Unread)
	of := metav1.ListOptions{LabelSelector: labels.SelectorFromSet(labels.Set{keys.JobName: name}).String()}

	vcjob, err := c.Volcano.BatchV1alpha1().Jobs(namespace).Get(ctx, name, metav1.GetOptions{})
	if g.read("Volcano Jobs", err) && metav1.IsControlledBy(vcjob, job) {
		o.VolcanoJob = vcjob
	}
	groups, err := c.Volcano.SchedulingV1beta1().PodGroups(namespace).List(ctx, of)
	if g.read("PodGroups", err) {
		o.PodGroup = groupOf(groups.Items, o.VolcanoJob)
	}
	pods, err := c.Kube.CoreV1().Pods(namespace).List(ctx, of)
	if g.read("pods", err) {
		o.Pods = pointers(pods.Items)
		observed.SortPods(o.Pods)
	}
	if queue := story.QueueOf(job); queue != "" {
		q, err := c.Volcano.SchedulingV1beta1().Queues().Get(ctx, queue, metav1.GetOptions{})
		if g.read("queues", err) {
			o.Queue = q
		}
	}
	if !settled(job) {
		g.read("events", c.events(ctx, o))
	}
	c.absent(ctx, g, o)
	return o, g.err
}

// absent finds the ConfigMaps and Secrets that do not exist and that pods which do not start refer to. The job's own ConfigMap
// comes once all addresses are known. Of a job that waits for PriorityClasses it finds those that do not exist.
func (c *Clients) absent(ctx context.Context, g *reading, o *story.Objects) {
	for _, class := range o.PriorityClasses() {
		_, err := c.Kube.SchedulingV1().PriorityClasses().Get(ctx, class, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			o.Absent = append(o.Absent, observed.Reference{Kind: "PriorityClass", Name: class})
		}
		g.read("PriorityClasses", err)
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
			g.read(ref.Kind+"s", err)
			forbidden[ref.Kind] = err != nil && noRight(err)
		}
	}
}

func (c *Clients) exists(ctx context.Context, namespace string, ref observed.Reference) (err error) {
	if ref.Kind == observed.KindSecret {
		_, err = c.Kube.CoreV1().Secrets(namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	} else {
		_, err = c.Kube.CoreV1().ConfigMaps(namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	}
	return err
}

// Pods are those of a job, in the order of roles and ranks.
func (c *Clients) Pods(ctx context.Context, namespace, name string) ([]*corev1.Pod, error) {
	list, err := c.Kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{
		LabelSelector: labels.SelectorFromSet(labels.Set{keys.JobName: name}).String(),
	})
	if err != nil {
		return nil, err
	}
	pods := pointers(list.Items)
	observed.SortPods(pods)
	return pods, nil
}

// settled says whether events have nothing to add.
func settled(job *v1.PaddleJob) bool { return observed.Finished(job) || job.Status.Phase == v1.Running }

// groupOf is the PodGroup of a Volcano Job; the youngest where that is not known.
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

// events adds the warnings about the Volcano Job and the pods.
func (c *Clients) events(ctx context.Context, o *story.Objects) error {
	ours := map[types.UID]bool{o.Job.UID: true}
	if o.VolcanoJob != nil {
		ours[o.VolcanoJob.UID] = true
	}
	for _, pod := range o.Pods {
		ours[pod.UID] = true
	}
	list, err := c.Kube.CoreV1().Events(o.Job.Namespace).List(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("type", corev1.EventTypeWarning).String(),
	})
	if err != nil {
		return err
	}
	for i := range list.Items {
		if ours[list.Items[i].InvolvedObject.UID] {
			o.Events = append(o.Events, list.Items[i])
		}
	}
	return nil
}
