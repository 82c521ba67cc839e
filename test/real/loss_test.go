// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// slowly lets a job train for long enough that a test can do something to it, also on a fast machine.
var slowly = variable("TRAINER_STEP_TIME", "200ms")

// A worker crashes: the gang starts again, continues from its checkpoint, and trains the model that it would have trained.
func TestWorkerCrashes(t *testing.T) {
	t.Parallel()
	live.RequireReal(t)
	for name, changes := range onEveryChange(map[string][]change{
		"ps, PodIP":                           {intranet(v1.PodIP)},
		"ps, Service":                         {intranet(v1.Service), gloo(1)},
		"collective by the launcher, Service": {intranet(v1.Service), noServers, launched},
		"with a backoff limit":                {intranet(v1.Service), runs(func(run *v1.RunPolicy) { run.BackoffLimit = ptr.To(int32(1)) })},
	}, "ps, Service") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newTrial(t, "job")
			r.create(t, r.psJob(append(changes, variable("TRAINER_CRASH_AT_STEP", "25"), variable("TRAINER_CRASH_RANK", "1"))...))
			done := r.awaitTrained(t, 2)
			require.EqualValues(t, 1, done.Status.Restarts)
			require.Len(t, r.said("worker", "crash before step 26 in attempt 1, as asked for"), 1)
			require.Len(t, r.said("worker", "resumed from step 20"), 2)
			// Who lost the other by that may be seen first.
			r.awaitEvent(t, corev1.EventTypeWarning, "Restarting", "restart 1 of ", "job-worker-", " exited with code ")
		})
	}
}

// A server is lost: the gang starts again, and continues from its checkpoint.
func TestServerIsLost(t *testing.T) {
	t.Parallel()
	live.RequireReal(t)
	live.SkipUnlessAll(t)
	for name, lose := range map[string]func(*testing.T, *trial){
		"its process is killed": func(t *testing.T, r *trial) { r.kill(t, "job-ps-1") },
		"its pod is deleted": func(t *testing.T, r *trial) {
			require.NoError(t, cluster.Kube.CoreV1().Pods(r.namespace).Delete(t.Context(), "job-ps-1", metav1.DeleteOptions{}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newTrial(t, "job")
			r.create(t, r.psJob(intranet(v1.Service), slowly))
			r.await(t, "worker", "step 20 loss", 2)
			lose(t, r)
			done := r.awaitTrained(t, 2)
			require.EqualValues(t, 1, done.Status.Restarts)
			require.Len(t, r.said("worker", "resumed from step "), 2)
			require.Empty(t, r.said("worker", "resumed from step 60"))
			r.awaitEvent(t, corev1.EventTypeWarning, "Restarting", "restart 1", ": job-")
		})
	}
}

// kill ends the program of a pod as the kernel does that has no memory left.
func (r *trial) kill(t *testing.T, pod string) {
	t.Helper()
	found, err := filepath.Glob("/proc/[0-9]*/environ")
	require.NoError(t, err)
	killed := 0
	for _, path := range found {
		environ, err := os.ReadFile(path) //nolint:gosec // of the machine's own
		if err != nil {
			continue // it has exited, or is another user's
		}
		variables := "\x00" + string(environ)
		if !strings.Contains(variables, "\x00"+marker+"="+r.folder+"\x00") || !strings.Contains(variables, "\x00HOSTNAME="+pod+"\x00") {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		require.NoError(t, err)
		require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
		killed++
	}
	require.Equal(t, 1, killed, "processes of %s", pod)
}

// awaitEvent waits for an event about the job whose message has all words in it.
func (r *trial) awaitEvent(t *testing.T, kind, reason string, words ...string) {
	t.Helper()
	cluster.AwaitEvent(t, r.namespace, r.job, kind, reason, words...)
}

// The only node that the job can run on is drained, as `kubectl drain` does it, and comes back. It is not parallel: no other
// job would be placed meanwhile.
func TestNodeIsDrained(t *testing.T) {
	live.RequireReal(t)
	live.SkipUnlessAll(t)
	r := newTrial(t, "job")
	r.create(t, r.psJob(intranet(v1.Service), slowly))
	r.await(t, "worker", "step 20 loss", 2)
	cordon(t, true)
	t.Cleanup(func() { cordon(t, false) })
	pods := cluster.Kube.CoreV1().Pods(r.namespace)
	list, err := pods.List(t.Context(), metav1.ListOptions{FieldSelector: "spec.nodeName=" + sandbox.RealNode})
	require.NoError(t, err)
	require.Len(t, list.Items, 4)
	var gone []types.UID
	for i := range list.Items {
		gone = append(gone, list.Items[i].UID)
		require.NoError(t, pods.EvictV1(t.Context(), &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: list.Items[i].Name, Namespace: r.namespace}}))
	}
	r.awaitPods(t, "a gang that waits for a node", func(pods []corev1.Pod) bool {
		return len(pods) == 4 && !slices.ContainsFunc(pods, func(pod corev1.Pod) bool {
			return pod.Spec.NodeName != "" || slices.Contains(gone, pod.UID)
		})
	})
	r.awaitJob(t, "waiting for a node", func(job *v1.PaddleJob) bool {
		return job.Status.Phase == v1.Restarting || job.Status.Phase == v1.Pending
	})
	cordon(t, false)
	done := r.awaitTrained(t, 2)
	require.EqualValues(t, 1, done.Status.Restarts)
	require.Len(t, r.said("worker", "resumed from step "), 2)
}

// cordon lets no pod be placed on the real node, or lets them again.
func cordon(t *testing.T, yes bool) {
	t.Helper()
	_, err := cluster.Kube.CoreV1().Nodes().Patch(context.Background(), sandbox.RealNode, types.MergePatchType,
		[]byte(fmt.Sprintf(`{"spec":{"unschedulable":%t}}`, yes)), metav1.PatchOptions{})
	require.NoError(t, err)
}

// awaitPods waits until the namespace's pods are as wanted.
func (r *trial) awaitPods(t *testing.T, what string, want func([]corev1.Pod) bool) {
	t.Helper()
	cluster.Await(t, what, func(ctx context.Context) error {
		list, err := cluster.Kube.CoreV1().Pods(r.namespace).List(ctx, metav1.ListOptions{})
		if err != nil || want(list.Items) {
			return err
		}
		var seen []string
		for i := range list.Items {
			seen = append(seen, fmt.Sprintf("%s %s on %q", list.Items[i].Name, list.Items[i].Status.Phase, list.Items[i].Spec.NodeName))
		}
		return fmt.Errorf("there are: %v", seen)
	})
}

// edit changes the job's spec.
func (r *trial) edit(t *testing.T, changes ...change) {
	t.Helper()
	jobs := cluster.Paddle.BatchV1().PaddleJobs(r.namespace)
	require.NoError(t, retry.RetryOnConflict(retry.DefaultRetry, func() error {
		job, err := jobs.Get(t.Context(), r.job, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, c := range changes {
			c(job)
		}
		_, err = jobs.Update(t.Context(), job, metav1.UpdateOptions{})
		return err
	}))
}

// A job that is suspended leaves the node, and continues from its checkpoint when it is resumed.
func TestSuspendedJobGoesOn(t *testing.T) {
	t.Parallel()
	live.RequireReal(t)
	for name, changes := range onEveryChange(map[string][]change{"ps": nil, "collective by the launcher": {noServers, launched}}, "collective by the launcher") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newTrial(t, "job")
			suspend := func(yes bool) change {
				return runs(func(run *v1.RunPolicy) { run.Suspend = &yes })
			}
			r.create(t, r.psJob(append(changes, intranet(v1.Service), slowly)...))
			r.await(t, "worker", "step 20 loss", 2)
			r.edit(t, suspend(true))
			r.awaitPhase(t, v1.Suspended)
			r.awaitPods(t, "no pods", func(pods []corev1.Pod) bool { return len(pods) == 0 })
			r.edit(t, suspend(false))
			done := r.awaitTrained(t, 2)
			require.Zero(t, done.Status.Restarts)
			require.EqualValues(t, 1, done.Status.Recreations)
			require.Len(t, r.said("worker", "resumed from step "), 2)
		})
	}
}
