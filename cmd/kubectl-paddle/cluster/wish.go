// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/paddle-volcano/paddle-volcano/controller/builder"
)

// Wish is what a PodGroup of the user's own asks for, which bears the name of the job; nothing if there is none, or it may
// not be read: the controller looks again.
func (c *Clients) Wish(ctx context.Context, namespace, name string) builder.PodGroupOverrides {
	group, err := c.Volcano.SchedulingV1beta1().PodGroups(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil || metav1.GetControllerOf(group) != nil {
		return builder.PodGroupOverrides{}
	}
	return builder.PodGroupOverrides{MinMember: group.Spec.MinMember, Queue: group.Spec.Queue, PriorityClassName: group.Spec.PriorityClassName}
}
