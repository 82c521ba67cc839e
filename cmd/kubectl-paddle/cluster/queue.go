// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"

	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
)

// Queues reads which jobs may wait in queues: in all namespaces, or else in the user's own. unread names what was skipped.
func (c *Clients) Queues(ctx context.Context, namespace string) (q *describe.Queues, unread []string, err error) {
	r := collectUnreadable(&unread)
	groups, complete := everywhere(r, "PodGroups", namespace, func(namespace string) (*vcscheduling.PodGroupList, error) {
		return List[vcscheduling.PodGroupList](ctx, c, namespace, metav1.ListOptions{})
	})
	q = &describe.Queues{Groups: pointers(groups.Items), Partial: !complete}
	classes, err := List[schedulingv1.PriorityClassList](ctx, c, "", metav1.ListOptions{})
	if r.read("PriorityClasses, so that queue positions depend on age alone", err) {
		q.Classes = pointers(classes.Items)
	}
	return q, unread, r.err
}
