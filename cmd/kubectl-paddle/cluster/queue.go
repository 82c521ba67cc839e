// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
)

// Queues reads which jobs may wait in queues: in all namespaces, or else in the user's own. unread names what was skipped.
func (c *Clients) Queues(ctx context.Context, namespace string) (q *describe.Queues, unread []string, err error) {
	r := collectUnreadable(&unread)
	groups, complete := everywhere(r, "PodGroups", namespace, func(namespace string) (*vcscheduling.PodGroupList, error) {
		return c.Volcano.SchedulingV1beta1().PodGroups(namespace).List(ctx, metav1.ListOptions{})
	})
	q = &describe.Queues{Groups: pointers(groups.Items), Partial: !complete}
	classes, err := c.Kube.SchedulingV1().PriorityClasses().List(ctx, metav1.ListOptions{})
	if r.read("PriorityClasses, so that queue positions depend on age alone", err) {
		q.Classes = pointers(classes.Items)
	}
	return q, unread, r.err
}
