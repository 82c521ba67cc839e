// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	topologyv1alpha1 "volcano.sh/apis/pkg/apis/topology/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/drawing"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/plan"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// LoadMap reads the nodes, their topology and what is on them. It fails without the nodes. Of other objects, those that the
// user may not read in all namespaces are read in the user's own, and the rest is skipped. labels are the node labels that
// the user asks for, or none.
func (c *Clients) LoadMap(ctx context.Context, namespace string, labels []string) (*drawing.Objects, error) {
	all := metav1.ListOptions{}
	nodes, err := List[corev1.NodeList](ctx, c, "", all)
	if err != nil {
		return nil, err
	}
	o := &drawing.Objects{At: time.Now(), Network: plan.Network{Nodes: pointers(nodes.Items), Labels: labels}}
	r := collectUnreadable(&o.Unread)
	if len(labels) == 0 {
		c.loadNetwork(ctx, r, o)
	}
	pods, complete := everywhere(r, "pods", namespace, func(namespace string) (*corev1.PodList, error) {
		return List[corev1.PodList](ctx, c, namespace, all)
	})
	o.Pods, o.Partial = pointers(pods.Items), !complete
	jobs, _ := everywhere(r, "PaddleJobs", namespace, func(namespace string) (*v1.PaddleJobList, error) {
		return List[v1.PaddleJobList](ctx, c, namespace, all)
	})
	o.Jobs = pointers(jobs.Items)
	groups, _ := everywhere(r, "PodGroups", namespace, func(namespace string) (*vcscheduling.PodGroupList, error) {
		return List[vcscheduling.PodGroupList](ctx, c, namespace, all)
	})
	o.Groups = pointers(groups.Items)
	return o, r.err
}

// loadNetwork reads the HyperNodes and the labels that the scheduler uses.
func (c *Clients) loadNetwork(ctx context.Context, r *bestEffortReader, o *drawing.Objects) {
	hypers, err := List[topologyv1alpha1.HyperNodeList](ctx, c, "", metav1.ListOptions{})
	if r.read("HyperNodes", err) {
		o.Network.HyperNodes = hypers.Items
	}
	text, err := c.configuration(ctx, "")
	if errors.Is(err, errNoScheduler) {
		o.Unread = append(o.Unread, "the scheduler's configuration, which names the labels of racks ("+err.Error()+")")
	} else if r.read("the scheduler's configuration, which names the labels of racks", err) {
		if o.Network.SchedulerLabels, err = topologyLabels(text); err != nil {
			o.Unread = append(o.Unread, err.Error())
		}
	}
}
