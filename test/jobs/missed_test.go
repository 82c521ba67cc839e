// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// missed is what happens to a job of two servers and two workers while the controller is down.
type missed struct {
	with    []change
	happens func(t *testing.T, job *v1.PaddleJob)
	judge   func(t *testing.T, job *v1.PaddleJob, before *past)
}

// past is what a job had before the controller was down.
type past struct {
	job         *v1.PaddleJob
	environment *corev1.ConfigMap
}

//nolint:tparallel // the controller is down for all cases at once
func TestControllerIsDown(t *testing.T) {
	workers := []string{"missed-worker-0", "missed-worker-1"}
	cases := map[string]missed{
		"pods fail": {
			with:    []change{backoff(1)},
			happens: func(t *testing.T, job *v1.PaddleJob) { failWorkers(t, job, workers) },
			judge: func(t *testing.T, job *v1.PaddleJob, _ *past) {
				again := awaitRestarted(t, job, 1)
				require.EqualValues(t, 1, again.Status.Failures)
				endPods(t, job.Namespace, "0", workers...)
				awaitPhase(t, job, v1.Completed)
			},
		},
		"all pods fail": {
			with:    []change{func(job *v1.PaddleJob) { job.Spec.PS = nil }},
			happens: func(t *testing.T, job *v1.PaddleJob) { failWorkers(t, job, workers) },
			judge: func(t *testing.T, job *v1.PaddleJob, _ *past) {
				for restarts := range int32(2) {
					awaitRestarted(t, job, restarts+1)
					endPods(t, job.Namespace, "7", workers[0])
				}
				failed := awaitPhase(t, job, v1.Failed)
				require.EqualValues(t, 2, failed.Status.Restarts)
				require.EqualValues(t, 2, failed.Status.Failures)
				require.Regexp(t, `missed-worker-[01] exited with code 7; the job had been restarted twice before`, failedReason(failed))
				awaitNoPodGroups(t, job.Namespace)
			},
		},
		"a pod is evicted": {
			with: []change{backoff(0)},
			happens: func(t *testing.T, job *v1.PaddleJob) {
				require.NoError(t, cluster.Kube.CoreV1().Pods(job.Namespace).Delete(t.Context(), "missed-ps-0", metav1.DeleteOptions{}))
				awaitVolcanoRestart(t, job)
			},
			judge: func(t *testing.T, job *v1.PaddleJob, before *past) {
				environment := awaitEnvironment(t, job, before.environment.Annotations[v1.GangAnnotation])
				require.NotEqual(t, before.environment.Data["PADDLE_TRAINER_ENDPOINTS"], environment.Data["PADDLE_TRAINER_ENDPOINTS"])
				again := awaitRestarted(t, job, 1)
				require.Zero(t, again.Status.Failures)
				require.Equal(t, before.job.Status.StartTime, again.Status.StartTime, "the time when the gang first ran")
			},
		},
		"a program fails as its pod is evicted": {
			with:    []change{backoff(0)},
			happens: evictFailingProgram,
			judge: func(t *testing.T, job *v1.PaddleJob, _ *past) {
				require.Zero(t, awaitRestarted(t, job, 1).Status.Failures)
			},
		},
		"the Volcano Job is aborted": {
			with: []change{backoff(5)},
			happens: func(t *testing.T, job *v1.PaddleJob) {
				vcjob := awaitVolcanoJob(t, job, nil)
				command(t, vcjob, "AbortJob")
				awaitVolcanoPhase(t, vcjob, func(job *vcbatch.Job) bool { return job.Status.State.Phase == vcbatch.Aborted })
			},
			judge: func(t *testing.T, job *v1.PaddleJob, _ *past) { awaitAborted(t, job) },
		},
	}
	jobs, before := map[string]*v1.PaddleJob{}, map[string]*past{}
	for name, tc := range cases {
		jobs[name] = create(t, psJob(cluster.NamespaceNamed(t, t.Name()+" "+name), "missed", tc.with...))
	}
	for name, job := range jobs {
		before[name] = &past{job: awaitPhase(t, job, v1.Running), environment: awaitEnvironment(t, job, "")}
	}
	start := down(t, sandbox.Controller, syscall.SIGKILL)
	require.True(t, t.Run("while it is down", func(t *testing.T) {
		for name, tc := range cases {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				tc.happens(t, jobs[name])
			})
		}
	}))
	start()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.judge(t, jobs[name], before[name])
		})
	}
}

// failWorkers has workers exit with an error. Volcano's Job goes on until the controller acts, but Volcano may fail one without
// servers, whose pods have all failed before Volcano looked at the first.
func failWorkers(t *testing.T, job *v1.PaddleJob, workers []string) {
	t.Helper()
	endPods(t, job.Namespace, "7", workers...)
	for _, name := range workers {
		cluster.Await(t, "pod "+name+" to fail", func(ctx context.Context) error {
			pod, err := cluster.Kube.CoreV1().Pods(job.Namespace).Get(ctx, name, metav1.GetOptions{})
			if err == nil && pod.Status.Phase != corev1.PodFailed {
				err = fmt.Errorf("it is %s", pod.Status.Phase)
			}
			return err
		})
	}
	phase := awaitVolcanoJob(t, job, nil).Status.State.Phase
	if job.Spec.PS == nil && phase == vcbatch.Failed {
		return
	}
	require.Equal(t, vcbatch.Running, phase)
}

// A program that is told to end may fail, and so may its peers, before its pod is gone.
func evictFailingProgram(t *testing.T, job *v1.PaddleJob) {
	t.Helper()
	pods := cluster.Kube.CoreV1().Pods(job.Namespace)
	finalizers := func(list string) {
		t.Helper()
		patch := fmt.Appendf(nil, `{"metadata":{"finalizers":%s}}`, list)
		_, err := pods.Patch(t.Context(), "missed-worker-0", types.MergePatchType, patch, metav1.PatchOptions{})
		require.NoError(t, err)
	}
	finalizers(`["paddle-volcano.test/stays"]`)
	require.NoError(t, pods.Delete(t.Context(), "missed-worker-0", metav1.DeleteOptions{}))
	setPhase(t, job.Namespace, "missed-worker-0", corev1.PodFailed)
	setPhase(t, job.Namespace, "missed-worker-1", corev1.PodFailed)
	finalizers(`null`)
	awaitVolcanoRestart(t, job)
}

// awaitVolcanoRestart waits until Volcano has started a job's gang again.
func awaitVolcanoRestart(t *testing.T, job *v1.PaddleJob) {
	t.Helper()
	awaitVolcanoPhase(t, awaitVolcanoJob(t, job, nil), func(job *vcbatch.Job) bool {
		return job.Status.RetryCount == 1 && job.Status.State.Phase == vcbatch.Running
	})
}

// command gives Volcano a command as vcctl does.
func command(t *testing.T, vcjob *vcbatch.Job, action string) {
	t.Helper()
	owner := metav1.NewControllerRef(vcjob, vcbatch.SchemeGroupVersion.WithKind("Job"))
	_, err := cluster.Volcano.BusV1alpha1().Commands(vcjob.Namespace).Create(t.Context(), &vcbus.Command{
		ObjectMeta:   metav1.ObjectMeta{GenerateName: "by-hand-", OwnerReferences: []metav1.OwnerReference{*owner}},
		Action:       action,
		TargetObject: owner,
	}, metav1.CreateOptions{})
	require.NoError(t, err)
}

// awaitAborted waits until a job says that its Volcano Job was aborted by hand, and it is not started again.
func awaitAborted(t *testing.T, job *v1.PaddleJob) {
	t.Helper()
	awaitCondition(t, job, v1.ConditionStalled, metav1.ConditionTrue, "Aborted")
	awaitSyncs(t, 5)
	awaitPods(t, job, nil)
}
