// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// A workers' pods are left where the policy says so; servers are stopped in any case.
func TestCleanPodPolicy(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		policy v1.CleanPodPolicy
		fails  bool
		cleans bool
	}{
		"unset after success":        {policy: "", cleans: true},
		"Always after success":       {policy: v1.CleanAlways, cleans: true},
		"OnCompletion after success": {policy: v1.CleanOnCompletion, cleans: true},
		"OnFailure after success":    {policy: v1.CleanOnFailure},
		"Never after success":        {policy: v1.CleanNever},
		"misspelt after success":     {policy: "OnComplete"},
		"Always after failure":       {policy: v1.CleanAlways, fails: true, cleans: true},
		"OnFailure after failure":    {policy: v1.CleanOnFailure, fails: true, cleans: true},
		"unset after failure":        {policy: "", fails: true},
		"misspelt after failure":     {policy: "always", fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			with := []change{cleans(tc.policy), workersRunFor("1s"), workers(1)}
			phase := v1.Completed
			if tc.fails {
				with, phase = append(with, workersFail("1", "")), v1.Failed
			}
			job := create(t, psJob(cluster.Namespace(t), "over", with...))
			awaitPhase(t, job, phase)
			want := []string{"over-worker-0"}
			if tc.cleans {
				want = nil
			}
			awaitPods(t, job, want)
			awaitSyncs(t, 5)
			awaitPods(t, job, want)
			done := awaitPhase(t, job, phase)
			require.EqualValues(t, 1, done.Status.Worker.Succeeded+done.Status.Worker.Failed, "what became of them stays known")

			if !tc.cleans {
				edit(t, job, cleans(v1.CleanAlways))
				awaitPods(t, job, nil)
			}
		})
	}
}

// awaitPods waits until exactly these pods are there.
func awaitPods(t *testing.T, job *v1.PaddleJob, want []string) {
	t.Helper()
	cluster.Await(t, fmt.Sprintf("the pods to be %v", want), func(ctx context.Context) error {
		pods, err := cluster.Kube.CoreV1().Pods(job.Namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		var names []string
		for i := range pods.Items {
			names = append(names, pods.Items[i].Name)
		}
		if fmt.Sprint(names) != fmt.Sprint(want) {
			return fmt.Errorf("they are %v", names)
		}
		return nil
	})
}

func TestFinishedJobMakesNothingAgain(t *testing.T) {
	t.Parallel()
	job := create(t, psJob(cluster.Namespace(t), "done", cleans(v1.CleanAlways), workersRunFor("1s")))
	awaitPhase(t, job, v1.Completed)
	require.NoError(t, cluster.Volcano.BatchV1alpha1().Jobs(job.Namespace).Delete(t.Context(), job.Name, metav1.DeleteOptions{}))
	awaitPods(t, job, nil)
	cluster.Await(t, "the Volcano Job to be gone", func(ctx context.Context) error {
		_, err := cluster.Volcano.BatchV1alpha1().Jobs(job.Namespace).Get(ctx, job.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(errors.New("it is there"), err)
	})
	awaitSyncs(t, 10)
	awaitPods(t, job, nil)
	requireNoVolcanoJob(t, job)
	done := awaitPhase(t, job, v1.Completed)
	require.EqualValues(t, 2, done.Status.Worker.Succeeded)
}

// Volcano's Job controller loses a Job that is made while it still forgets an earlier one of the name, which takes twice
// as long as that one's pods took to go; the finalizer on a pod stands for a long grace period.
func TestVolcanoJobDeletedByHandIsMadeAgain(t *testing.T) {
	t.Parallel()
	for name, lingers := range map[string]bool{"pods go at once": false, "a pod lingers": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := create(t, psJob(cluster.Namespace(t), "lost"))
			awaitPhase(t, job, v1.Running)
			first := awaitVolcanoJob(t, job, nil)
			pods := cluster.Kube.CoreV1().Pods(job.Namespace)
			hold := func(finalizers string) {
				t.Helper()
				_, err := pods.Patch(t.Context(), "lost-ps-1", types.MergePatchType,
					[]byte(`{"metadata":{"finalizers":`+finalizers+`}}`), metav1.PatchOptions{})
				require.NoError(t, err)
			}
			if lingers {
				hold(`["test/lingers"]`)
			}
			require.NoError(t, cluster.Volcano.BatchV1alpha1().Jobs(job.Namespace).Delete(t.Context(), job.Name,
				metav1.DeleteOptions{PropagationPolicy: ptr(metav1.DeletePropagationBackground)}))
			if lingers {
				awaitCondition(t, job, v1.ConditionCreated, metav1.ConditionFalse, "WaitingForPredecessor")
				awaitSyncs(t, 10)
				hold(`null`)
			}
			awaitVolcanoJob(t, job, first)
			awaitPhase(t, job, v1.Running)
			// Volcano looks after it: a lost pod restarts the gang.
			awaitSyncs(t, 30)
			require.NoError(t, pods.Delete(t.Context(), "lost-worker-0", metav1.DeleteOptions{}))
			awaitRestarted(t, job, 1)
		})
	}
}
