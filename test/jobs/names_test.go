// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// makeQueue creates an open queue, which is deleted when the test ends.
func makeQueue(t *testing.T, name string) {
	t.Helper()
	queues := cluster.Volcano.SchedulingV1beta1().Queues()
	_, err := queues.Create(t.Context(), &vcscheduling.Queue{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: vcscheduling.QueueSpec{Weight: 1},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	cluster.Await(t, "queue "+name+" to be open", func(ctx context.Context) error {
		queue, err := queues.Get(ctx, name, metav1.GetOptions{})
		if err == nil && queue.Status.State != vcscheduling.QueueStateOpen {
			err = fmt.Errorf("it is %q", queue.Status.State)
		}
		return err
	})
}

func TestNamesOfOthersAreNotTaken(t *testing.T) {
	t.Parallel()
	meta := func(space string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: space, Name: "taken"} }
	for name, tc := range map[string]struct {
		kind string
		with []change
		make func(ctx context.Context, space string) error
		drop func(ctx context.Context, space string) error
	}{
		"volcano job": {
			kind: "Volcano Job",
			make: func(ctx context.Context, space string) error {
				_, err := cluster.Volcano.BatchV1alpha1().Jobs(space).Create(ctx, &vcbatch.Job{ObjectMeta: meta(space), Spec: vcbatch.JobSpec{
					Tasks: []vcbatch.TaskSpec{{Name: "main", Replicas: 1, Template: role(1).Template}},
				}}, metav1.CreateOptions{})
				return err
			},
			drop: func(ctx context.Context, space string) error {
				return cluster.Volcano.BatchV1alpha1().Jobs(space).Delete(ctx, "taken", metav1.DeleteOptions{})
			},
		},
		"config map": {
			kind: "ConfigMap",
			make: func(ctx context.Context, space string) error {
				_, err := cluster.Kube.CoreV1().ConfigMaps(space).Create(ctx, &corev1.ConfigMap{
					ObjectMeta: meta(space), Data: map[string]string{"mine": "mine"},
				}, metav1.CreateOptions{})
				return err
			},
			drop: func(ctx context.Context, space string) error {
				cm, err := cluster.Kube.CoreV1().ConfigMaps(space).Get(ctx, "taken", metav1.GetOptions{})
				if err != nil || cm.Data["mine"] != "mine" || len(cm.Data) != 1 {
					return fmt.Errorf("the ConfigMap is not as it was: %v, %w", cm, err)
				}
				return cluster.Kube.CoreV1().ConfigMaps(space).Delete(ctx, "taken", metav1.DeleteOptions{})
			},
		},
		"service": {
			kind: "Service", with: []change{byService},
			make: func(ctx context.Context, space string) error {
				_, err := cluster.Kube.CoreV1().Services(space).Create(ctx, &corev1.Service{
					ObjectMeta: meta(space), Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
				}, metav1.CreateOptions{})
				return err
			},
			drop: func(ctx context.Context, space string) error {
				return cluster.Kube.CoreV1().Services(space).Delete(ctx, "taken", metav1.DeleteOptions{})
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			space := cluster.Namespace(t)
			require.NoError(t, tc.make(t.Context(), space))
			job := create(t, psJob(space, "taken", append(tc.with, workersRunFor("1s"))...))
			c := awaitCondition(t, job, v1.ConditionStalled, metav1.ConditionTrue, "NameTaken")
			require.Contains(t, c.Message, "a "+tc.kind+" named taken exists and does not belong to this job")
			require.NoError(t, tc.drop(t.Context(), space))
			awaitPhase(t, job, v1.Completed)
		})
	}
}

// The way of paddle-operator's documentation: a PodGroup of the job's own name, made by the user.
func TestUsersOwnPodGroupIsHonoured(t *testing.T) {
	t.Parallel()
	space := cluster.Namespace(t)
	makeQueue(t, "users-own")
	groups := cluster.Volcano.SchedulingV1beta1().PodGroups(space)
	_, err := groups.Create(t.Context(), &vcscheduling.PodGroup{
		ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "preferred"},
		Spec:       vcscheduling.PodGroupSpec{MinMember: 3, Queue: "users-own"},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	job := create(t, psJob(space, "preferred"))
	running := awaitPhase(t, job, v1.Running)
	require.Equal(t, "users-own", running.Status.Queue)
	require.Contains(t, awaitEvent(t, job, corev1.EventTypeNormal, "PodGroupNotNeeded"), "PodGroup preferred")
	vcjob, err := cluster.Volcano.BatchV1alpha1().Jobs(space).Get(t.Context(), "preferred", metav1.GetOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 3, vcjob.Spec.MinAvailable)

	require.NoError(t, groups.Delete(t.Context(), "preferred", metav1.DeleteOptions{}))
	awaitSyncs(t, 10)
	after, err := cluster.Volcano.BatchV1alpha1().Jobs(space).Get(t.Context(), "preferred", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, vcjob.UID, after.UID, "the user's PodGroup is read when the job is created, and not later")
	require.EqualValues(t, 3, after.Spec.MinAvailable)
}
