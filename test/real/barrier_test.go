// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// lateWorkers have a volume whose ConfigMap is not there yet: they have no IP until it is.
func lateWorkers(job *v1.PaddleJob) {
	spec := &job.Spec.Worker.Template.Spec
	spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "late", VolumeSource: corev1.VolumeSource{
		ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "late"}},
	}})
	spec.Containers[0].VolumeMounts = append(spec.Containers[0].VolumeMounts, corev1.VolumeMount{Name: "late", MountPath: "/late"})
}

// arrive lets late workers start.
func (r *trial) arrive(t *testing.T) {
	t.Helper()
	_, err := cluster.Kube.CoreV1().ConfigMaps(r.namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "late"}}, metav1.CreateOptions{})
	require.NoError(t, err)
}

// No program starts before the names of all peers can be looked up, and who waits says for whom.
func TestProgramsWaitForLatePeers(t *testing.T) {
	t.Parallel()
	live.RequireReal(t)
	if sandbox.RealRootless() {
		t.Skip("the start barrier runs as a user that rootless nodes do not have")
	}
	r := newTrial(t, "job")
	r.create(t, r.psJob(intranet(v1.Service), lateWorkers))
	r.await(t, "ps", "2 of 4 peers not found yet: job-worker-0.job, job-worker-1.job", 2)
	require.Equal(t, 2, r.containers(barrier), "the servers' barriers wait")
	require.Zero(t, r.containers("paddle"), "no trainer has started")
	r.arrive(t)
	done := r.awaitTrained(t, 2)
	require.Zero(t, done.Status.Restarts)
	require.Equal(t, 4, r.containers("paddle"))
	require.Len(t, r.said("", "all of 4 peers are found"), 4)
}

// Where addresses are IPs nothing starts before all are known, and the job says why some are not.
func TestAddressesWaitForLatePeers(t *testing.T) {
	t.Parallel()
	live.RequireReal(t)
	live.SkipUnlessAll(t)
	r := newTrial(t, "job")
	r.create(t, r.psJob(intranet(v1.PodIP), lateWorkers))
	r.awaitJob(t, "waiting for the workers' addresses", func(job *v1.PaddleJob) bool {
		c := meta.FindStatusCondition(job.Status.Conditions, v1.ConditionRunning)
		return c != nil && c.Reason == "ConfigMapNotFound" && strings.HasPrefix(c.Message, "2 of 4 pods cannot start, for example job-worker-0")
	})
	_, err := cluster.Kube.CoreV1().ConfigMaps(r.namespace).Get(t.Context(), r.job, metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "the environment is not written before it is known: %v", err)
	require.Zero(t, r.containers(barrier))
	require.Zero(t, r.containers("paddle"))
	r.arrive(t)
	done := r.awaitTrained(t, 2)
	require.Zero(t, done.Status.Restarts)
}

// The workers' programs wait for servers that start slowly, without help of the controller.
func TestWorkersWaitForSlowServers(t *testing.T) {
	t.Parallel()
	live.RequireReal(t)
	live.SkipUnlessAll(t)
	r := newTrial(t, "job")
	job := r.psJob(intranet(v1.Service))
	servers := &job.Spec.PS.Template.Spec.Containers[0]
	servers.Env = append(servers.Env, corev1.EnvVar{Name: "TRAINER_SLOW_START", Value: "5s"})
	r.create(t, job)
	done := r.awaitTrained(t, 2)
	require.Zero(t, done.Status.Restarts)
	slow, step := r.await(t, "ps", "does nothing for 5s", 2), r.await(t, "worker", "step 1 loss", 2)
	require.Greater(t, step[0].at.Sub(slow[0].at), 4*time.Second)
}
