// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/drawing"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// LoadMap reads the nodes, their topology and what is on them. It fails without the nodes. Of other objects, those that the
// user may not read in all namespaces are read in the user's own, and the rest is skipped. labels are the node labels that
// the user asks for, or none.
func (c *Clients) LoadMap(ctx context.Context, namespace string, labels []string) (*drawing.Objects, error) {
	all := metav1.ListOptions{}
	nodes, err := c.Kube.CoreV1().Nodes().List(ctx, all)
	if err != nil {
		return nil, err
	}
	o := &drawing.Objects{At: time.Now(), Nodes: pointers(nodes.Items), Labels: labels}
	r := collectUnreadable(&o.Unread)
	if len(labels) == 0 {
		c.loadTopology(ctx, r, o)
	}
	pods, complete := everywhere(r, "pods", namespace, func(namespace string) (*corev1.PodList, error) {
		return c.Kube.CoreV1().Pods(namespace).List(ctx, all)
	})
	o.Pods, o.Partial = pointers(pods.Items), !complete
	jobs, _ := everywhere(r, "PaddleJobs", namespace, func(namespace string) (*v1.PaddleJobList, error) {
		return c.Paddle.BatchV1().PaddleJobs(namespace).List(ctx, all)
	})
	o.Jobs = pointers(jobs.Items)
	groups, _ := everywhere(r, "PodGroups", namespace, func(namespace string) (*vcscheduling.PodGroupList, error) {
		return c.Volcano.SchedulingV1beta1().PodGroups(namespace).List(ctx, all)
	})
	o.Groups = pointers(groups.Items)
	return o, r.err
}

// loadTopology reads the HyperNodes and the labels that the scheduler uses.
func (c *Clients) loadTopology(ctx context.Context, r *bestEffortReader, o *drawing.Objects) {
	hypers, err := c.Volcano.TopologyV1alpha1().HyperNodes().List(ctx, metav1.ListOptions{})
	if r.read("HyperNodes", err) {
		o.HyperNodes = hypers.Items
	}
	found, err := c.configuration(ctx)
	if !r.read("the scheduler's ConfigMap, which names the labels of racks", err) {
		return
	}
	if o.SchedulerLabels, err = topologyLabels(found.Data); err != nil {
		o.Unread = append(o.Unread, err.Error())
	}
}
