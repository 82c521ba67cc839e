// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/test/live"
)

// Workers come and go while the job trains, and agree through etcd on who is there. The model is that of one process which
// reckons with as many ranks as there were in each step.
func TestElasticJobGrowsAndShrinks(t *testing.T) {
	t.Parallel()
	live.RequireReal(t)
	live.SkipUnlessAll(t)
	r := newTrial(t, "job")
	r.createElastic(t, 2, 4)
	r.await(t, "worker", "elastic: rank 1 of 2", 1)
	r.await(t, "worker", "step 10 loss", 2)
	r.edit(t, workers(3))
	r.await(t, "worker", "elastic: rank 2 of 3", 1)
	r.await(t, "worker", "step 20 loss", 3)
	r.edit(t, workers(2))
	r.await(t, "worker", "elastic: rank 1 of 2", 2)
	done := r.awaitElastic(t, 2, 3, 2)
	require.Zero(t, done.Status.Restarts, "a pod that was asked to end has not failed")
	require.Equal(t, 3, r.podsOf("worker"), "only the added pod was created")
}

// A worker is evicted: the other continues alone, and the replacement joins it. Nothing has failed.
func TestElasticWorkerIsEvicted(t *testing.T) {
	t.Parallel()
	live.RequireReal(t)
	live.SkipUnlessAll(t)
	r := newTrial(t, "job")
	r.createElastic(t, 1, 2)
	r.await(t, "worker", "elastic: rank 1 of 2", 1)
	r.await(t, "worker", "step 10 loss", 2)
	require.NoError(t, cluster.Kube.CoreV1().Pods(r.namespace).EvictV1(t.Context(), &policyv1.Eviction{
		ObjectMeta: metav1.ObjectMeta{Name: "job-worker-1", Namespace: r.namespace},
	}))
	r.await(t, "worker", "elastic: rank 1 of 2", 2)
	// Whether the other has taken a step alone depends on how soon the one that was evicted is back.
	done := r.awaitElastic(t)
	require.Zero(t, done.Status.Restarts, "an eviction is no failure")
	require.Equal(t, 3, r.podsOf("worker"), "the evicted pod was created again, and no other")
}

// createElastic submits a job of two workers, of which there may be fewer and more, and an etcd.
func (r *trial) createElastic(t *testing.T, least, most int32) {
	t.Helper()
	r.startEtcd(t)
	r.create(t, r.workersOnly(launched, intranet(v1.Service), variable("TRAINER_STEP_TIME", "300ms"), func(job *v1.PaddleJob) {
		job.Spec.Elastic = ptr.To[int32](1)
		// Paddle's launcher takes the letters of etcd:// from the front of a name.
		job.Spec.ElasticPolicy = &v1.ElasticPolicy{Etcd: "kv:2379", TimeoutSeconds: ptr.To(int32(2))}
		job.Spec.Worker.Requests, job.Spec.Worker.Limits = &least, &most
	}))
}

// awaitElastic waits until two workers have trained the model. Where it is certain, it checks how many have trained in turn.
func (r *trial) awaitElastic(t *testing.T, sizes ...int) *v1.PaddleJob {
	t.Helper()
	done := r.awaitPhase(t, v1.Completed)
	worlds := r.model(t).Worlds
	var found []int
	for _, segment := range worlds {
		found = append(found, segment.World)
	}
	if len(sizes) > 0 {
		require.Equal(t, sizes, found)
	}
	r.requireModel(t, 2, worlds)
	require.EqualValues(t, 2, done.Status.Worker.Succeeded)
	return done
}

// etcdPod is the name of etcd's pod, and of its service.
const etcdPod = "kv"

// startEtcd runs etcd in a pod of the trial's namespace.
func (r *trial) startEtcd(t *testing.T) {
	t.Helper()
	_, err := cluster.Kube.CoreV1().Services(r.namespace).Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: etcdPod}, Spec: corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, Selector: map[string]string{"app": etcdPod}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	r.runEtcd(t, "--data-dir=/tmp/etcd", "--listen-client-urls=http://0.0.0.0:2379", "--advertise-client-urls=http://kv:2379", "--unsafe-no-fsync")
}

// runEtcd runs etcd's program with arguments in a pod of the trial's namespace.
func (r *trial) runEtcd(t *testing.T, args ...string) {
	t.Helper()
	_, err := cluster.Kube.CoreV1().Pods(r.namespace).Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: etcdPod, Labels: map[string]string{"app": etcdPod}},
		Spec: corev1.PodSpec{SchedulerName: "volcano", Containers: []corev1.Container{{
			Name: "etcd", Image: etcdImage, ImagePullPolicy: corev1.PullNever, Args: args,
		}}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	r.awaitPods(t, "etcd to run", func(pods []corev1.Pod) bool { return len(pods) == 1 && pods[0].Status.Phase == corev1.PodRunning })
}
