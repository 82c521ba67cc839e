// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

const operatorFinalizer = "finalizers.paddlepaddle.org"

// operators creates what paddle-operator v0.3.5 leaves in a cluster for a job, while paddlejob-controller does not run: the
// finalizer, one Service per pod, a PodGroup and a ConfigMap of the job's name, and pods that the PaddleJob itself owns.
func operators(t *testing.T, job *v1.PaddleJob, status *v1.PaddleJobStatus, environment bool) *v1.PaddleJob {
	t.Helper()
	job.Finalizers = []string{operatorFinalizer}
	job = create(t, job)
	if status != nil {
		job.Status = *status
		var err error
		job, err = cluster.Paddle.BatchV1().PaddleJobs(job.Namespace).UpdateStatus(t.Context(), job, metav1.UpdateOptions{})
		require.NoError(t, err)
	}
	owned := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: job.Namespace, Name: name, OwnerReferences: []metav1.OwnerReference{
			*metav1.NewControllerRef(job, v1.SchemeGroupVersion.WithKind(v1.Kind)),
		}}
	}
	if environment {
		cm := &corev1.ConfigMap{ObjectMeta: owned(job.Name), Data: map[string]string{"PADDLE_PORT": "48123"}}
		cm.Labels = map[string]string{"paddle-res-name": job.Name}
		_, err := cluster.Kube.CoreV1().ConfigMaps(job.Namespace).Create(t.Context(), cm, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	group := &vcscheduling.PodGroup{ObjectMeta: owned(job.Name), Spec: vcscheduling.PodGroupSpec{MinMember: 4}}
	_, err := cluster.Volcano.SchedulingV1beta1().PodGroups(job.Namespace).Create(t.Context(), group, metav1.CreateOptions{})
	require.NoError(t, err)
	for role, spec := range map[string]*v1.ResourceSpec{"ps": job.Spec.PS, "worker": job.Spec.Worker} {
		for i := range spec.Replicas {
			meta := owned(fmt.Sprintf("%s-%s-%d", job.Name, role, i))
			pod := &corev1.Pod{ObjectMeta: meta, Spec: *spec.Template.Spec.DeepCopy()}
			pod.Labels = map[string]string{"paddle-res-name": pod.Name, "paddle-res-type": role}
			pod.Annotations = map[string]string{"paddle-resource": role}
			for key, value := range spec.Template.Annotations {
				pod.Annotations[key] = value
			}
			pod.Spec.RestartPolicy, pod.Spec.NodeName = corev1.RestartPolicyNever, firstNode(t)
			_, err := cluster.Kube.CoreV1().Pods(job.Namespace).Create(t.Context(), pod, metav1.CreateOptions{})
			require.NoError(t, err)
			service := &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{
				ClusterIP: corev1.ClusterIPNone, Ports: []corev1.ServicePort{{Port: 36000}},
			}}
			_, err = cluster.Kube.CoreV1().Services(job.Namespace).Create(t.Context(), service, metav1.CreateOptions{})
			require.NoError(t, err)
		}
	}
	return job
}

func firstNode(t *testing.T) string {
	t.Helper()
	nodes, err := cluster.Kube.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{Limit: 1})
	require.NoError(t, err)
	return nodes.Items[0].Name
}

func awaitNoFinalizer(t *testing.T, job *v1.PaddleJob) {
	t.Helper()
	awaitJob(t, job, "without paddle-operator's finalizer", func(job *v1.PaddleJob) bool { return len(job.Finalizers) == 0 })
}

//nolint:tparallel // the controller is down while paddle-operator's objects of all cases are made
func TestTakeover(t *testing.T) {
	workers := []string{"legacy-worker-0", "legacy-worker-1"}
	cases := map[string]struct {
		status    *v1.PaddleJobStatus
		noAddress bool
		deleted   func(t *testing.T, job *v1.PaddleJob) error
		judge     func(t *testing.T, job *v1.PaddleJob)
	}{
		"a gang that runs is left to finish": {judge: func(t *testing.T, job *v1.PaddleJob) {
			awaitNoFinalizer(t, job)
			c := awaitCondition(t, job, v1.ConditionCreated, metav1.ConditionTrue, "StartedByPaddleOperator")
			require.Contains(t, c.Message, "left to finish")
			require.Equal(t, "2/2", awaitPhase(t, job, v1.Running).Status.PS.Ready)
			endPods(t, job.Namespace, "0", workers...)
			require.EqualValues(t, 2, awaitPhase(t, job, v1.Completed).Status.Worker.Succeeded)
			awaitPods(t, job, workers)
			awaitNoPodGroups(t, job.Namespace)
			requireNoVolcanoJob(t, job)
		}},
		"a gang that fails starts again": {judge: func(t *testing.T, job *v1.PaddleJob) {
			awaitPhase(t, job, v1.Running)
			endPods(t, job.Namespace, "1", workers[0])
			awaitEvent(t, job, corev1.EventTypeNormal, "TakingOver")
			vcjob := awaitVolcanoJob(t, job, nil)
			awaitPhase(t, job, v1.Running)
			endPods(t, job.Namespace, "0", workers...)
			awaitPhase(t, job, v1.Completed)
			pods, err := cluster.Kube.CoreV1().Pods(job.Namespace).List(t.Context(), metav1.ListOptions{})
			require.NoError(t, err)
			for i := range pods.Items {
				require.True(t, metav1.IsControlledBy(&pods.Items[i], vcjob), pods.Items[i].Name)
			}
			services, err := cluster.Kube.CoreV1().Services(job.Namespace).List(t.Context(), metav1.ListOptions{})
			require.NoError(t, err)
			require.Empty(t, services.Items, "paddle-operator's are gone, and Volcano took its own away at the end")
			awaitNoPodGroups(t, job.Namespace)
		}},
		"a gang without its addresses starts again": {noAddress: true, judge: func(t *testing.T, job *v1.PaddleJob) {
			awaitVolcanoJob(t, job, nil)
			awaitPhase(t, job, v1.Running)
			endPods(t, job.Namespace, "0", workers...)
			awaitPhase(t, job, v1.Completed)
		}},
		"a gang that lost a pod starts again": {
			deleted: func(t *testing.T, job *v1.PaddleJob) error {
				return cluster.Kube.CoreV1().Pods(job.Namespace).Delete(t.Context(), "legacy-ps-0", metav1.DeleteOptions{})
			},
			judge: func(t *testing.T, job *v1.PaddleJob) {
				awaitVolcanoJob(t, job, nil)
				awaitPhase(t, job, v1.Running)
			},
		},
		"a finished job stays finished": {
			status: &v1.PaddleJobStatus{Phase: v1.Completed, Mode: v1.ModePS},
			judge: func(t *testing.T, job *v1.PaddleJob) {
				awaitNoFinalizer(t, job)
				awaitPods(t, job, nil)
				awaitNoPodGroups(t, job.Namespace)
				awaitCondition(t, job, v1.ConditionSucceeded, metav1.ConditionTrue, "WorkersSucceeded")
				awaitSyncs(t, 10)
				requireNoVolcanoJob(t, job)
			},
		},
		"a job that is being deleted goes": {
			deleted: func(t *testing.T, job *v1.PaddleJob) error {
				return cluster.Paddle.BatchV1().PaddleJobs(job.Namespace).Delete(t.Context(), job.Name, metav1.DeleteOptions{})
			},
			judge: func(t *testing.T, job *v1.PaddleJob) { awaitEmpty(t, job.Namespace) },
		},
	}
	start := down(t, sandbox.Controller, syscall.SIGTERM)
	jobs := map[string]*v1.PaddleJob{}
	for name, tc := range cases {
		with := []change{cleans(v1.CleanNever)}
		if tc.status != nil {
			with = []change{cleans(""), workersRunFor("1s")}
		}
		job := operators(t, psJob(cluster.NamespaceNamed(t, name), "legacy", with...), tc.status, !tc.noAddress)
		if tc.deleted != nil {
			require.NoError(t, tc.deleted(t, job))
		}
		jobs[name] = job
	}
	start()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.judge(t, jobs[name])
		})
	}
}

func requireNoVolcanoJob(t *testing.T, job *v1.PaddleJob) {
	t.Helper()
	_, err := cluster.Volcano.BatchV1alpha1().Jobs(job.Namespace).Get(t.Context(), job.Name, metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)
}
