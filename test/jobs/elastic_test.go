// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// elastic lets the workers be any number between two bounds.
func elastic(least, most int32) change {
	return func(job *v1.PaddleJob) {
		job.Spec.Elastic = ptr(int32(1))
		job.Spec.ElasticPolicy = &v1.ElasticPolicy{Etcd: "10.0.0.1:2379"}
		job.Spec.Worker.Requests, job.Spec.Worker.Limits = &least, &most
	}
}

// onePerNode lets at most one pod of the job onto each of a few nodes.
func onePerNode(t *testing.T, nodes int) change {
	t.Helper()
	list, err := cluster.Kube.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{Limit: int64(nodes)})
	require.NoError(t, err)
	var terms []corev1.NodeSelectorTerm
	for i := range list.Items {
		terms = append(terms, corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{
			{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{list.Items[i].Name}},
		}})
	}
	return func(job *v1.PaddleJob) {
		spec := &job.Spec.Worker.Template.Spec
		spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 7777, HostPort: 7777}}
		spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms},
		}}
	}
}

// The third worker finds no free node, and must not start alone after the others have finished.
func TestElasticJobEndsWithTheWorkersThatRan(t *testing.T) {
	t.Parallel()
	job := create(t, collective(cluster.Namespace(t), "few", elastic(2, 3), workers(3), onePerNode(t, 2), workersRunFor("3s")))
	running := awaitPhase(t, job, v1.Running)
	require.Equal(t, "2/3", running.Status.Worker.Ready)
	done := awaitPhase(t, job, v1.Completed)
	require.EqualValues(t, 2, done.Status.Worker.Succeeded)
	require.Zero(t, done.Status.Restarts)
	require.Less(t, done.Status.CompletionTime.Sub(done.Status.StartTime.Time).Seconds(), 50.0, "the controller completes the job of a Volcano that does nothing after a minute")
	awaitNoPodGroups(t, job.Namespace)
}

func TestElasticJobScalesWhileItRuns(t *testing.T) {
	t.Parallel()
	job := create(t, collective(cluster.Namespace(t), "scales", elastic(1, 4)))
	awaitPhase(t, job, v1.Running)
	first := awaitVolcanoJob(t, job, nil)
	before := podUIDs(t, job.Namespace)
	for _, n := range []int{4, 1, 3} {
		edit(t, job, workers(n))
		ready := []string{"", "1/1", "2/2", "3/3", "4/4"}[n]
		awaitJob(t, job, ready, func(job *v1.PaddleJob) bool {
			return job.Status.Phase == v1.Running && job.Status.Worker.Ready == ready
		})
		awaitPods(t, job, []string{"scales-worker-0", "scales-worker-1", "scales-worker-2", "scales-worker-3"}[:n])
		require.Equal(t, before["scales-worker-0"], podUIDs(t, job.Namespace)["scales-worker-0"], "it trains on")
	}
	awaitSyncs(t, 5)
	awaitPods(t, job, []string{"scales-worker-0", "scales-worker-1", "scales-worker-2"})
	last := awaitJob(t, job, "running", func(job *v1.PaddleJob) bool { return job.Status.Phase == v1.Running })
	require.Zero(t, last.Status.Restarts)
	require.Equal(t, first.UID, awaitVolcanoJob(t, job, nil).UID)

	edit(t, job, workers(2))
	awaitPods(t, job, []string{"scales-worker-0", "scales-worker-1"})
}

// Volcano would try to make the two that the API server refuses, and then give up the whole job with those that train.
func TestElasticJobTrainsOnWhereMoreWorkersAreRefused(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	job := create(t, collective(namespace, "few", elastic(1, 4), workers(2)))
	awaitJob(t, job, "2/2", func(job *v1.PaddleJob) bool { return job.Status.Worker != nil && job.Status.Worker.Ready == "2/2" })
	before := podUIDs(t, namespace)
	label := []byte(`{"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}`)
	_, err := cluster.Kube.CoreV1().Namespaces().Patch(t.Context(), namespace, types.MergePatchType, label, metav1.PatchOptions{})
	require.NoError(t, err)
	edit(t, job, workers(4))
	c := awaitCondition(t, job, v1.ConditionCreated, metav1.ConditionTrue, "PodSecurityViolation")
	require.Contains(t, c.Message, "spec.worker.replicas is 4, and the API server lets the job have 2 workers, with which it continues")
	require.Contains(t, c.Message, `violates PodSecurity "restricted:latest"`)
	require.EqualValues(t, 2, awaitVolcanoJob(t, job, nil).Spec.Tasks[0].Replicas)
	awaitSyncs(t, 5)
	require.Equal(t, before, podUIDs(t, namespace))
	require.Equal(t, "2/2", awaitPhase(t, job, v1.Running).Status.Worker.Ready)
}

// An elastic worker that is lost comes back by itself; the others train on.
func TestElasticWorkerComesBack(t *testing.T) {
	t.Parallel()
	job := create(t, collective(cluster.Namespace(t), "back", elastic(1, 2)))
	awaitPhase(t, job, v1.Running)
	before := podUIDs(t, job.Namespace)
	require.NoError(t, cluster.Kube.CoreV1().Pods(job.Namespace).Delete(t.Context(), "back-worker-1", metav1.DeleteOptions{}))
	awaitJob(t, job, "whole again", func(job *v1.PaddleJob) bool {
		return job.Status.Worker.Ready == "2/2" && job.Status.Worker.Refs[1].UID != before["back-worker-1"]
	})
	require.Equal(t, before["back-worker-0"], podUIDs(t, job.Namespace)["back-worker-0"], "it trains on")
}

// The others have done their share, and the job lacks this worker's.
func TestWorkerRestartsAloneAfterAnotherHasSucceeded(t *testing.T) {
	t.Parallel()
	job := create(t, psJob(cluster.Namespace(t), "late", runs(func(run *v1.RunPolicy) { run.RestartScope = v1.RestartPod })))
	first := awaitPhase(t, job, v1.Running)
	setPhase(t, job.Namespace, "late-worker-0", corev1.PodFailed)
	setPhase(t, job.Namespace, "late-worker-1", corev1.PodSucceeded)
	awaitJob(t, job, "to run its worker again", func(job *v1.PaddleJob) bool {
		s := &job.Status
		return s.Worker.Running == 1 && s.Worker.Succeeded == 1 && s.Failures == 1 && s.Worker.Refs[0].UID != first.Status.Worker.Refs[0].UID
	})
	endPods(t, job.Namespace, "0", "late-worker-0")
	require.EqualValues(t, 2, awaitPhase(t, job, v1.Completed).Status.Worker.Succeeded)
}

// Where servers keep running, workers that fail together restart alone. Where all pods of the gang have failed, Volcano may fail its Job
// before the controller has deleted the pods, and the gang restarts.
func TestWorkersThatFailTogether(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		job   func(string) *v1.PaddleJob
		alone bool
	}{
		"elastic": {job: func(namespace string) *v1.PaddleJob { return collective(namespace, "fails", elastic(1, 2)) }},
		"ps": {alone: true, job: func(namespace string) *v1.PaddleJob {
			return psJob(namespace, "fails", runs(func(run *v1.RunPolicy) { run.RestartScope = v1.RestartPod }))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := create(t, tc.job(cluster.Namespace(t)))
			first := awaitPhase(t, job, v1.Running)
			workers := []string{"fails-worker-0", "fails-worker-1"}
			for _, pod := range workers {
				setPhase(t, job.Namespace, pod, corev1.PodFailed)
			}
			again := awaitJob(t, job, "whole again", func(job *v1.PaddleJob) bool {
				s := &job.Status
				return s.Phase == v1.Running && (s.Failures == 2 || !tc.alone && s.Failures == 1) && s.Worker.Ready == "2/2" &&
					s.Worker.Refs[0].UID != first.Status.Worker.Refs[0].UID && s.Worker.Refs[1].UID != first.Status.Worker.Refs[1].UID
			})
			if tc.alone {
				require.Zero(t, again.Status.Restarts, "the gang keeps running")
				require.Zero(t, again.Status.Recreations)
			}
			endPods(t, job.Namespace, "0", workers...)
			require.EqualValues(t, 2, awaitPhase(t, job, v1.Completed).Status.Worker.Succeeded)
		})
	}
}
