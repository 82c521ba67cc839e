// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	schedulingv1beta1 "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
)

// The documented file holds the PaddleJob first and its PodGroup second, so that the controller may have made the
// Volcano Job before it sees the PodGroup; other people write them the other way round. Either way the user's wish
// counts: here another queue, and a gang that may start without one worker. All five pods fit nowhere, so that the job
// has not begun when the PodGroup comes.
func TestOwnPodGroupIsHonouredInEitherOrder(t *testing.T) {
	t.Parallel()
	openQueue(t, "own-podgroup")
	tests := []struct {
		name, rack string
		podGroup   func(t *testing.T, g *gang, create func())
	}{
		{name: "PodGroup first", rack: "d", podGroup: func(t *testing.T, g *gang, create func()) {
			create()
			g.submit(t)
		}},
		{name: "PodGroup once the Volcano Job is made", rack: "e", podGroup: func(t *testing.T, g *gang, create func()) {
			g.submit(t)
			g.awaitPods(t, 5)
			create()
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			g := newGang(t, ask{tiny: tc.rack}.role(2), ask{tiny: tc.rack}.role(3))
			group := &schedulingv1beta1.PodGroup{
				ObjectMeta: metav1.ObjectMeta{Name: g.name},
				Spec:       schedulingv1beta1.PodGroupSpec{Queue: "own-podgroup", MinMember: 4},
			}
			tc.podGroup(t, g, func() {
				_, err := shared.Volcano.SchedulingV1beta1().PodGroups(g.namespace).Create(t.Context(), group, metav1.CreateOptions{})
				require.NoError(t, err)
			})
			shared.Await(t, "four pods to run, as the PodGroup says", func(ctx context.Context) error {
				pods, err := shared.Kube.CoreV1().Pods(g.namespace).List(ctx, metav1.ListOptions{})
				if err != nil {
					return err
				}
				return inPhase(pods.Items, corev1.PodRunning, 4)
			})
			require.NoError(t, g.ownGroup(t.Context(), group))
			job, err := shared.Paddle.BatchV1().PaddleJobs(g.namespace).Get(t.Context(), g.name, metav1.GetOptions{})
			require.NoError(t, err)
			require.Equal(t, group.Spec.Queue, job.Status.Queue)
			awaitEvent(t, g.namespace, corev1.EventTypeNormal, "PodGroup "+g.name)
			g.remove(t, 1)
		})
	}
}

func openQueue(t *testing.T, name string) {
	t.Helper()
	queue := &schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: schedulingv1beta1.QueueSpec{Weight: 1}}
	_, err := shared.Volcano.SchedulingV1beta1().Queues().Create(t.Context(), queue, metav1.CreateOptions{})
	require.NoError(t, err)
	shared.Await(t, "the queue to be open", func(ctx context.Context) error {
		got, err := shared.Volcano.SchedulingV1beta1().Queues().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if got.Status.State != schedulingv1beta1.QueueStateOpen {
			return fmt.Errorf("it is %q", got.Status.State)
		}
		return nil
	})
}

// ownGroup compares the PodGroup that the pods name with the one that the user made.
func (g *gang) ownGroup(ctx context.Context, users *schedulingv1beta1.PodGroup) error {
	groups, err := shared.Volcano.SchedulingV1beta1().PodGroups(g.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range groups.Items {
		group := &groups.Items[i]
		if len(group.OwnerReferences) == 0 {
			continue
		}
		if group.Spec.Queue != users.Spec.Queue || group.Spec.MinMember != users.Spec.MinMember {
			return fmt.Errorf("PodGroup %s has queue %s and minMember %d", group.Name, group.Spec.Queue, group.Spec.MinMember)
		}
		return nil
	}
	return errors.New("the pods have no PodGroup")
}
