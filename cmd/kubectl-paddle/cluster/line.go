// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/story"
)

// Line reads who waits in the queues: in all namespaces, or else in the user's own. What may not be read is named.
func (c *Clients) Line(ctx context.Context, namespace string) (l *story.Line, unread []string, err error) {
	l = &story.Line{}
	g := &mapping{reading: leaveOut(&unread), unread: &unread, namespace: namespace}
	cached := metav1.ListOptions{ResourceVersion: "0"} // top asks again and again
	l.Partly = !g.everywhere("PodGroups", func(namespace string) error {
		list, err := c.Volcano.SchedulingV1beta1().PodGroups(namespace).List(ctx, cached)
		if err == nil {
			l.Groups = pointers(list.Items)
		}
		return err
	})
	classes, err := c.Kube.SchedulingV1().PriorityClasses().List(ctx, cached)
	if g.read("PriorityClasses, so that jobs ahead are told by age alone", err) {
		l.Classes = pointers(classes.Items)
	}
	return l, unread, g.err
}
