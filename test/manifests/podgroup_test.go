// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	schedulingv1beta1 "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
)

// The documented file holds the PaddleJob first and its PodGroup second, so that the controller may have made the Volcano Job before it
// sees the PodGroup. The user's wish counts all the same: another queue, and a gang that may start without one worker. All five pods fit
// nowhere, so that the job has not begun when the PodGroup comes. (test/jobs has the PodGroup that comes first.)
func TestPodGroupThatComesAfterTheVolcanoJobIsHonoured(t *testing.T) {
	t.Parallel()
	openQueue(t, "own-podgroup")
	g := newGang(t, ask{tiny: "d"}.role(2), ask{tiny: "d"}.role(3))
	g.submit(t)
	g.awaitPods(t, 5)
	groups := shared.Volcano.SchedulingV1beta1().PodGroups(g.namespace)
	group := &schedulingv1beta1.PodGroup{
		ObjectMeta: metav1.ObjectMeta{Name: g.name},
		Spec:       schedulingv1beta1.PodGroupSpec{Queue: "own-podgroup", MinMember: 4},
	}
	_, err := groups.Create(t.Context(), group, metav1.CreateOptions{})
	require.NoError(t, err)
	shared.Await(t, "four pods to run, as the PodGroup says", func(ctx context.Context) error {
		pods, err := shared.Kube.CoreV1().Pods(g.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		return inPhase(pods.Items, corev1.PodRunning, 4)
	})
	all, err := groups.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, all.Items, 2, "the user's and the pods'")
	for i := range all.Items {
		require.Equal(t, group.Spec.Queue, all.Items[i].Spec.Queue, all.Items[i].Name)
		require.Equal(t, group.Spec.MinMember, all.Items[i].Spec.MinMember, all.Items[i].Name)
	}
	job, err := shared.Paddle.BatchV1().PaddleJobs(g.namespace).Get(t.Context(), g.name, metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, group.Spec.Queue, job.Status.Queue)
	awaitEvent(t, g.namespace, corev1.EventTypeNormal, "PodGroup "+g.name)
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
