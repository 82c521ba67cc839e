// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	topologyv1alpha1 "volcano.sh/apis/pkg/apis/topology/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/drawing"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/plan"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/snapshot"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

// Load reads a job and what belongs to it. It fails without the job; o.Unread names what else the user may not read.
func (c *Clients) Load(ctx context.Context, name string) (*describe.Objects, error) {
	job, err := Get[v1.PaddleJob](ctx, c, c.Namespace, name)
	if err != nil {
		return nil, err
	}
	o := &describe.Objects{Job: job, Now: time.Now()}
	with := labels.Set{v1.JobNameLabel: name}
	r := collectUnreadable(&o.Unread)
	vcjob, err := Get[vcbatch.Job](ctx, c, c.Namespace, name)
	if r.read("Volcano Jobs", err) && metav1.IsControlledBy(vcjob, job) {
		o.VolcanoJob = vcjob
	}
	groups, err := List[vcscheduling.PodGroupList](ctx, c, c.Namespace, metav1.ListOptions{LabelSelector: with.String()})
	if r.read("PodGroups", err) {
		o.PodGroup = groupOf(groups.Items, o.VolcanoJob)
	}
	o.Pods, err = c.Pods(ctx, with)
	r.read("pods", err)
	if queue := describe.QueueOf(job); queue != "" {
		q, err := Get[vcscheduling.Queue](ctx, c, "", queue)
		if r.read("queues", err) {
			o.Queue = q
		}
	}
	if !observed.Finished(job) && (job.Status.Phase != v1.Running || o.Mounting() != nil) { // otherwise events add nothing
		r.read("events", c.loadEvents(ctx, o))
	}
	for _, class := range o.PriorityClasses() {
		_, err := Get[schedulingv1.PriorityClass](ctx, c, "", class)
		if apierrors.IsNotFound(err) {
			o.MissingPriorityClasses = append(o.MissingPriorityClasses, class)
		}
		r.read("PriorityClasses", err)
	}
	return o, r.err
}

// Pods returns the pods with labels, in the order of roles and ranks.
func (c *Clients) Pods(ctx context.Context, with labels.Set) ([]*corev1.Pod, error) {
	found, err := List[corev1.PodList](ctx, c, c.Namespace, metav1.ListOptions{LabelSelector: with.String()})
	if err != nil {
		return nil, err
	}
	pods := itemsOf[corev1.Pod](found)
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

// Queues reads which jobs may wait in queues: in all namespaces, or else in the user's own. unread names what was skipped.
func (c *Clients) Queues(ctx context.Context) (q *describe.Queues, unread []string, err error) {
	r := collectUnreadable(&unread)
	q = &describe.Queues{}
	q.Partial = !everywhere[vcscheduling.PodGroupList](ctx, c, r, "PodGroups", &q.Groups)
	readAll[schedulingv1.PriorityClassList](ctx, c, r, "PriorityClasses, so that queue positions depend on age alone", &q.Classes)
	return q, unread, r.err
}

// LoadMap reads the nodes, their topology and what is on them. It fails without the nodes. Of other objects, those that the
// user may not read in all namespaces are read in the user's own, and the rest is skipped. labels are the node labels that
// the user asks for, or none.
func (c *Clients) LoadMap(ctx context.Context, labels []string) (*drawing.Objects, error) {
	nodes, err := List[corev1.NodeList](ctx, c, "", metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	o := &drawing.Objects{At: time.Now(), Network: plan.Network{Nodes: itemsOf[corev1.Node](nodes), Labels: labels}}
	r := collectUnreadable(&o.Unread)
	if len(labels) == 0 {
		c.loadNetwork(ctx, r, o)
	}
	o.Partial = !everywhere[corev1.PodList](ctx, c, r, "pods", &o.Pods)
	everywhere[v1.PaddleJobList](ctx, c, r, "PaddleJobs", &o.Jobs)
	everywhere[vcscheduling.PodGroupList](ctx, c, r, "PodGroups", &o.Groups)
	return o, r.err
}

// loadNetwork reads the HyperNodes and the labels that the scheduler uses.
func (c *Clients) loadNetwork(ctx context.Context, r *bestEffortReader, o *drawing.Objects) {
	hypers, err := List[topologyv1alpha1.HyperNodeList](ctx, c, "", metav1.ListOptions{})
	if r.read("HyperNodes", err) {
		o.Network.HyperNodes = hypers.Items
	}
	text := c.readConfiguration(ctx, r, "the scheduler's configuration, which names the labels of racks", "")
	if o.Network.SchedulerLabels, err = topologyLabels(text); err != nil {
		o.Unread = append(o.Unread, err.Error())
	}
}

// readConfiguration returns the configuration of the scheduler of a name, "" if it is skipped.
func (c *Clients) readConfiguration(ctx context.Context, r *bestEffortReader, what, scheduler string) string {
	text, err := c.configuration(ctx, scheduler)
	if errors.Is(err, errNoScheduler) || apierrors.IsNotFound(err) {
		r.skip(what, err.Error())
	} else {
		r.read(what, err)
	}
	return text
}

// Snapshot reads the scheduler's view of the whole cluster. It fails without nodes or pods; Unread names what else the user may not
// read. A configuration that is given is used instead of that of the scheduler of a name.
func (c *Clients) Snapshot(ctx context.Context, scheduler, configuration string) (*snapshot.Snapshot, error) {
	s, r, err := c.nodes(ctx, scheduler, configuration)
	if err != nil {
		return nil, err
	}
	pods, err := List[corev1.PodList](ctx, c, metav1.NamespaceAll, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("read the pods of all namespaces, without which free resources are not known: %w", err)
	}
	s.Pods = itemsOf[corev1.Pod](pods)
	readAll[corev1.NamespaceList](ctx, c, r, snapshot.Namespaces, &s.Namespaces)
	readAll[vcscheduling.QueueList](ctx, c, r, snapshot.Queues, &s.Queues)
	readAll[schedulingv1.PriorityClassList](ctx, c, r, snapshot.PriorityClasses, &s.PriorityClasses)
	readAll[corev1.ResourceQuotaList](ctx, c, r, snapshot.Quotas, &s.ResourceQuotas)
	readAll[vcscheduling.PodGroupList](ctx, c, r, snapshot.PodGroups, &s.PodGroups)
	readAll[vcbatch.JobList](ctx, c, r, snapshot.Jobs, &s.Jobs)
	return snapshot.New(s), r.err
}

// Alone reads the cluster with one job on it and nothing else.
func (c *Clients) Alone(ctx context.Context, o *describe.Objects) (*snapshot.Snapshot, error) {
	scheduler := ""
	if len(o.Pods) > 0 {
		scheduler = o.Pods[0].Spec.SchedulerName
	}
	s, r, err := c.nodes(ctx, scheduler, "")
	if err != nil {
		return nil, err
	}
	s.PodGroups, s.Pods = []*vcscheduling.PodGroup{o.PodGroup}, o.Pods
	return snapshot.New(s), r.err
}

// nodes reads the cluster's nodes and network, and the scheduler's configuration unless that is given.
func (c *Clients) nodes(ctx context.Context, scheduler, configuration string) (*snapshot.Snapshot, *bestEffortReader, error) {
	nodes, err := List[corev1.NodeList](ctx, c, "", metav1.ListOptions{})
	if err != nil {
		return nil, nil, fmt.Errorf("read the cluster's nodes, without which nothing can be planned: %w", err)
	}
	s := &snapshot.Snapshot{Time: metav1.NewTime(time.Now()), SchedulerConfiguration: configuration, Nodes: itemsOf[corev1.Node](nodes)}
	r := &bestEffortReader{skip: func(what, why string) { s.Unread = append(s.Unread, snapshot.Unread{What: what, Why: why}) }}
	readAll[topologyv1alpha1.HyperNodeList](ctx, c, r, snapshot.HyperNodes, &s.HyperNodes)
	if configuration == "" {
		s.SchedulerConfiguration = c.readConfiguration(ctx, r, snapshot.Configuration, scheduler)
	}
	return s, r, nil
}
