// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/snapshot"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/config"
)

// Snapshot reads the scheduler's view of the whole cluster. It fails without nodes or pods; Unread names what else the user may not
// read. A configuration that is given is used instead of the cluster's.
func (c *Clients) Snapshot(ctx context.Context, configuration string) (*snapshot.Snapshot, error) {
	s, r, err := c.nodes(ctx, configuration)
	if err != nil {
		return nil, err
	}
	core, volcano := c.Kube.CoreV1(), c.Volcano.SchedulingV1beta1()
	all := metav1.ListOptions{}
	pods, err := core.Pods(metav1.NamespaceAll).List(ctx, all)
	if err != nil {
		return nil, fmt.Errorf("read the pods of all namespaces, without which free resources are not known: %w", err)
	}
	s.Pods = pointers(pods.Items)
	if list, err := core.Namespaces().List(ctx, all); r.read(snapshot.Namespaces, err) {
		s.Namespaces = pointers(list.Items)
	}
	if list, err := volcano.Queues().List(ctx, all); r.read(snapshot.Queues, err) {
		s.Queues = pointers(list.Items)
	}
	if list, err := c.Kube.SchedulingV1().PriorityClasses().List(ctx, all); r.read(snapshot.PriorityClasses, err) {
		s.PriorityClasses = pointers(list.Items)
	}
	if list, err := core.ResourceQuotas(metav1.NamespaceAll).List(ctx, all); r.read(snapshot.Quotas, err) {
		s.ResourceQuotas = pointers(list.Items)
	}
	if list, err := volcano.PodGroups(metav1.NamespaceAll).List(ctx, all); r.read(snapshot.PodGroups, err) {
		s.PodGroups = pointers(list.Items)
	}
	if list, err := c.Volcano.BatchV1alpha1().Jobs(metav1.NamespaceAll).List(ctx, all); r.read(snapshot.Jobs, err) {
		s.Jobs = pointers(list.Items)
	}
	return snapshot.New(s), r.err
}

// Alone reads the cluster with one job on it and nothing else.
func (c *Clients) Alone(ctx context.Context, o *describe.Objects) (*snapshot.Snapshot, error) {
	s, r, err := c.nodes(ctx, "")
	if err != nil {
		return nil, err
	}
	s.PodGroups, s.Pods = []*vcscheduling.PodGroup{o.PodGroup}, o.Pods
	return snapshot.New(s), r.err
}

// nodes reads the cluster's nodes and network, and the scheduler's configuration unless that is given.
func (c *Clients) nodes(ctx context.Context, configuration string) (*snapshot.Snapshot, *bestEffortReader, error) {
	s := &snapshot.Snapshot{Time: metav1.NewTime(time.Now()), SchedulerConfiguration: configuration}
	nodes, err := c.Kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, nil, fmt.Errorf("read the cluster's nodes, without which nothing can be planned: %w", err)
	}
	s.Nodes = pointers(nodes.Items)
	r := &bestEffortReader{skip: func(what, why string) { s.Unread = append(s.Unread, snapshot.Unread{What: what, Why: why}) }}
	if list, err := c.Volcano.TopologyV1alpha1().HyperNodes().List(ctx, metav1.ListOptions{}); r.read(snapshot.HyperNodes, err) {
		s.HyperNodes = pointers(list.Items)
	}
	if configuration == "" {
		found, err := c.configuration(ctx)
		if apierrors.IsNotFound(err) {
			r.skip(snapshot.Configuration, fmt.Sprintf("namespace %s has no ConfigMap of %v", configNamespace, configNames))
		} else if r.read(snapshot.Configuration, err) {
			s.SchedulerConfiguration = config.InData(found.Data)
		}
	}
	return s, r, nil
}
