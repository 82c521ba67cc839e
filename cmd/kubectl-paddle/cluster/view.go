// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/snapshot"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/story"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/config"
)

// Snapshot reads the scheduler's view of the whole cluster. Without nodes or pods there is an error; what else may not be
// read is left out, and named. A configuration that is given is taken as it is.
func (c *Clients) Snapshot(ctx context.Context, configuration string) (*snapshot.Snapshot, error) {
	s, v, err := c.bare(ctx, configuration)
	if err != nil {
		return nil, err
	}
	core, volcano := c.Kube.CoreV1(), c.Volcano.SchedulingV1beta1()
	all := metav1.ListOptions{}
	pods, err := core.Pods(metav1.NamespaceAll).List(ctx, all)
	if err != nil {
		return nil, fmt.Errorf("read the pods of all namespaces, without which nobody knows what is free: %w", err)
	}
	s.Pods = pointers(pods.Items)
	if list, err := core.Namespaces().List(ctx, all); v.read(snapshot.Namespaces, err) {
		s.Namespaces = pointers(list.Items)
	}
	if list, err := volcano.Queues().List(ctx, all); v.read(snapshot.Queues, err) {
		s.Queues = pointers(list.Items)
	}
	if list, err := c.Kube.SchedulingV1().PriorityClasses().List(ctx, all); v.read(snapshot.PriorityClasses, err) {
		s.PriorityClasses = pointers(list.Items)
	}
	if list, err := core.ResourceQuotas(metav1.NamespaceAll).List(ctx, all); v.read(snapshot.Quotas, err) {
		s.ResourceQuotas = pointers(list.Items)
	}
	if list, err := volcano.PodGroups(metav1.NamespaceAll).List(ctx, all); v.read(snapshot.PodGroups, err) {
		s.PodGroups = pointers(list.Items)
	}
	if list, err := c.Volcano.BatchV1alpha1().Jobs(metav1.NamespaceAll).List(ctx, all); v.read(snapshot.Jobs, err) {
		s.Jobs = pointers(list.Items)
	}
	return snapshot.New(s), v.err
}

// Alone reads the cluster as it would be with one job on it and nothing else.
func (c *Clients) Alone(ctx context.Context, o *story.Objects) (*snapshot.Snapshot, error) {
	s, v, err := c.bare(ctx, "")
	if err != nil {
		return nil, err
	}
	s.PodGroups, s.Pods = []*vcscheduling.PodGroup{o.PodGroup}, o.Pods
	return snapshot.New(s), v.err
}

// bare reads the cluster's nodes and network, and the scheduler's configuration unless that is given.
func (c *Clients) bare(ctx context.Context, configuration string) (*snapshot.Snapshot, *reading, error) {
	s := &snapshot.Snapshot{Time: metav1.NewTime(time.Now()), SchedulerConfiguration: configuration}
	nodes, err := c.Kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, nil, fmt.Errorf("read the cluster's nodes, without which nothing can be planned: %w", err)
	}
	s.Nodes = pointers(nodes.Items)
	v := &reading{forbidden: func(what string) {
		s.Unread = append(s.Unread, snapshot.Unread{What: what, Why: "you have no right to read that"})
	}}
	if list, err := c.Volcano.TopologyV1alpha1().HyperNodes().List(ctx, metav1.ListOptions{}); v.read(snapshot.HyperNodes, err) {
		s.HyperNodes = pointers(list.Items)
	}
	if configuration == "" {
		found, err := c.configuration(ctx)
		if apierrors.IsNotFound(err) {
			s.Unread = append(s.Unread, snapshot.Unread{What: snapshot.Configuration, Why: fmt.Sprintf("namespace %s has no ConfigMap of %v", configNamespace, configNames)})
		} else if v.read(snapshot.Configuration, err) {
			s.SchedulerConfiguration = config.InData(found.Data)
		}
	}
	return s, v, nil
}
