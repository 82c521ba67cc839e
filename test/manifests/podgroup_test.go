// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	schedulingv1beta1 "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	paddlev1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

// The documented file holds the PaddleJob first and its PodGroup second; other people write them the other way round.
// Either way the user's wish counts: here another queue, and a gang that may start without one worker.
func TestOwnPodGroupIsHonouredInEitherOrder(t *testing.T) {
	queue := &schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: "own-podgroup"}, Spec: schedulingv1beta1.QueueSpec{Weight: 1}}
	_, err := shared.volcano.SchedulingV1beta1().Queues().Create(t.Context(), queue, metav1.CreateOptions{})
	require.NoError(t, err)
	await(t, "the queue to be open", func(ctx context.Context) error {
		got, err := shared.volcano.SchedulingV1beta1().Queues().Get(ctx, queue.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if got.Status.State != schedulingv1beta1.QueueStateOpen {
			return fmt.Errorf("it is %q", got.Status.State)
		}
		return nil
	})
	documented := read(t, "examples/wide_and_deep_podgroup.yaml")
	require.Equal(t, "PodGroup", documented[1].GetKind())
	require.NoError(t, unstructured.SetNestedField(documented[1].Object, queue.Name, "spec", "queue"))
	require.NoError(t, unstructured.SetNestedField(documented[1].Object, int64(3), "spec", "minMember"))
	reversed := slices.Clone(documented)
	slices.Reverse(reversed)
	for name, objects := range map[string][]*unstructured.Unstructured{"as documented": documented, "PodGroup first": reversed} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := shared.namespace(t)
			_, err := shared.objects.Create(t.Context(), namespace, metav1.CreateOptions{}, objects...)
			require.NoError(t, err)
			job := (&example{job: documented[0].GetName()}).awaitPhase(t, namespace, paddlev1.Running)
			require.Equal(t, queue.Name, job.Status.Queue)
			groups, err := shared.volcano.SchedulingV1beta1().PodGroups(namespace).List(t.Context(), metav1.ListOptions{})
			require.NoError(t, err)
			require.Len(t, groups.Items, 2, "the user's and that of the pods")
			for i := range groups.Items {
				require.Equal(t, queue.Name, groups.Items[i].Spec.Queue, groups.Items[i].Name)
				require.EqualValues(t, 3, groups.Items[i].Spec.MinMember, groups.Items[i].Name)
			}
			awaitEvent(t, namespace, corev1.EventTypeNormal, "PodGroup "+job.Name)
		})
	}
}
