// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	topologyv1alpha1 "volcano.sh/apis/pkg/apis/topology/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/drawing"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/tree"
)

// GatherMap reads the nodes, their topology, and what is on them. Without the nodes there is an error; of other things, what
// may not be read in all namespaces is read in the user's own, and what may not be read at all is left out; both are named.
// labels are those that the user asks for, or none.
func (c *Clients) GatherMap(ctx context.Context, namespace string, labels []string) (*drawing.Objects, error) {
	nodes, err := c.Kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	o := &drawing.Objects{At: time.Now()}
	g := &mapping{reading: leaveOut(&o.Unread), unread: &o.Unread, namespace: namespace}
	o.Tree = tree.Build(pointers(nodes.Items), labels, c.hyperNodes(ctx, g, labels), c.configured(ctx, g, labels))

	o.Partly = !g.everywhere("pods", func(namespace string) error {
		list, err := c.Kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
		if err == nil {
			o.Pods = pointers(list.Items)
		}
		return err
	})
	g.everywhere("PaddleJobs", func(namespace string) error {
		list, err := c.Paddle.BatchV1().PaddleJobs(namespace).List(ctx, metav1.ListOptions{})
		if err == nil {
			o.Jobs = pointers(list.Items)
		}
		return err
	})
	g.everywhere("PodGroups", func(namespace string) error {
		list, err := c.Volcano.SchedulingV1beta1().PodGroups(namespace).List(ctx, metav1.ListOptions{})
		if err == nil {
			o.Groups = pointers(list.Items)
		}
		return err
	})
	return o, g.err
}

// hyperNodes are read if the user asks for no labels.
func (c *Clients) hyperNodes(ctx context.Context, g *mapping, labels []string) []topologyv1alpha1.HyperNode {
	if len(labels) > 0 {
		return nil
	}
	list, err := c.Volcano.TopologyV1alpha1().HyperNodes().List(ctx, metav1.ListOptions{})
	if !g.read("HyperNodes", err) {
		return nil
	}
	return list.Items
}

// configured are the labels that the scheduler uses, if the user asks for none.
func (c *Clients) configured(ctx context.Context, g *mapping, labels []string) []string {
	if len(labels) > 0 {
		return nil
	}
	conf, err := c.configuration(ctx)
	if !g.read("the scheduler's ConfigMap, which names the labels of racks", err) {
		return nil
	}
	keys, err := topologyLabels(conf.Data)
	if err != nil {
		*g.unread = append(*g.unread, err.Error())
	}
	return keys
}

// mapping is a reading of things that a user may see in all namespaces, in one, or not at all.
type mapping struct {
	*reading
	unread    *[]string
	namespace string
}

// everywhere lists in all namespaces, or else in the user's own; it says whether it was all of them.
func (g *mapping) everywhere(what string, list func(namespace string) error) bool {
	err := list(metav1.NamespaceAll)
	if err == nil || !noRight(err) {
		return g.read(what, err)
	}
	if err = list(g.namespace); err == nil {
		*g.unread = append(*g.unread, what+" of other namespaces (you have no right to read them)")
		return false
	}
	g.read(what, err)
	return false
}
