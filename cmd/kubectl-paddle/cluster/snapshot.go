// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	topologyv1alpha1 "volcano.sh/apis/pkg/apis/topology/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/snapshot"
)

// Snapshot reads the scheduler's view of the whole cluster. It fails without nodes or pods; Unread names what else the user may not
// read. A configuration that is given is used instead of that of the scheduler of a name.
func (c *Clients) Snapshot(ctx context.Context, scheduler, configuration string) (*snapshot.Snapshot, error) {
	s, r, err := c.nodes(ctx, scheduler, configuration)
	if err != nil {
		return nil, err
	}
	all := metav1.ListOptions{}
	pods, err := List[corev1.PodList](ctx, c, metav1.NamespaceAll, all)
	if err != nil {
		return nil, fmt.Errorf("read the pods of all namespaces, without which free resources are not known: %w", err)
	}
	s.Pods = pointers(pods.Items)
	if found, err := List[corev1.NamespaceList](ctx, c, "", all); r.read(snapshot.Namespaces, err) {
		s.Namespaces = pointers(found.Items)
	}
	if found, err := List[vcscheduling.QueueList](ctx, c, "", all); r.read(snapshot.Queues, err) {
		s.Queues = pointers(found.Items)
	}
	if found, err := List[schedulingv1.PriorityClassList](ctx, c, "", all); r.read(snapshot.PriorityClasses, err) {
		s.PriorityClasses = pointers(found.Items)
	}
	if found, err := List[corev1.ResourceQuotaList](ctx, c, metav1.NamespaceAll, all); r.read(snapshot.Quotas, err) {
		s.ResourceQuotas = pointers(found.Items)
	}
	if found, err := List[vcscheduling.PodGroupList](ctx, c, metav1.NamespaceAll, all); r.read(snapshot.PodGroups, err) {
		s.PodGroups = pointers(found.Items)
	}
	if found, err := List[vcbatch.JobList](ctx, c, metav1.NamespaceAll, all); r.read(snapshot.Jobs, err) {
		s.Jobs = pointers(found.Items)
	}
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
	s := &snapshot.Snapshot{Time: metav1.NewTime(time.Now()), SchedulerConfiguration: configuration}
	nodes, err := List[corev1.NodeList](ctx, c, "", metav1.ListOptions{})
	if err != nil {
		return nil, nil, fmt.Errorf("read the cluster's nodes, without which nothing can be planned: %w", err)
	}
	s.Nodes = pointers(nodes.Items)
	r := &bestEffortReader{skip: func(what, why string) { s.Unread = append(s.Unread, snapshot.Unread{What: what, Why: why}) }}
	if found, err := List[topologyv1alpha1.HyperNodeList](ctx, c, "", metav1.ListOptions{}); r.read(snapshot.HyperNodes, err) {
		s.HyperNodes = pointers(found.Items)
	}
	if configuration == "" {
		text, err := c.configuration(ctx, scheduler)
		if errors.Is(err, errNoScheduler) || apierrors.IsNotFound(err) {
			r.skip(snapshot.Configuration, err.Error())
		} else if r.read(snapshot.Configuration, err) {
			s.SchedulerConfiguration = text
		}
	}
	return s, r, nil
}
