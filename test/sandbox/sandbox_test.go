// SPDX-License-Identifier: Apache-2.0

package sandbox_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/topology"
)

// workersRun is what pods of workers run for in these tests.
const workersRun = 2 * time.Second

func TestMain(m *testing.M) {
	live.SideBySide(12)
	os.Exit(m.Run())
}

// env is a sandbox with clients.
type env struct{ *live.Plane }

// start starts a sandbox, stops it at the end of the test, and keeps its logs where the test failed.
func start(t *testing.T, o sandbox.Options) *env {
	t.Helper()
	dir, err := os.MkdirTemp("", "sandbox-test-") //nolint:usetesting // the logs are kept where a test fails
	require.NoError(t, err)
	o.StateDir, o.Progress = dir, testWriter{t}
	s, err := sandbox.Start(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, s.Stop())
		if t.Failed() {
			t.Logf("the logs are kept in %s/logs", dir)
			return
		}
		require.NoError(t, os.RemoveAll(dir))
	})
	p, err := live.Connect(s)
	require.NoError(t, err)
	return &env{p}
}

type testWriter struct{ t *testing.T }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Logf("%s", p)
	return len(p), nil
}

// until waits for a pod that satisfies the check.
func (e *env) until(t *testing.T, namespace, name string, check func(*corev1.Pod) error) {
	t.Helper()
	e.Await(t, "pod "+name, func(ctx context.Context) error {
		pod, err := e.Kube.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if err := check(pod); err != nil {
			return fmt.Errorf("%w; its status is %+v", err, pod.Status)
		}
		return nil
	})
}

// pod reads a pod, and fails when it is gone.
func (e *env) pod(t *testing.T, namespace, name string) *corev1.Pod {
	t.Helper()
	pod, err := e.Kube.CoreV1().Pods(namespace).Get(t.Context(), name, metav1.GetOptions{})
	require.NoError(t, err)
	return pod
}

// TestSandbox runs everything that needs a sandbox on one, which takes seconds to start.
func TestSandbox(t *testing.T) { //nolint:tparallel // the last ones look at what the others left behind
	t.Parallel()
	e := start(t, sandbox.Options{
		WorkerRunFor: workersRun, ControllerArgs: []string{"--workers=3"}, Args: map[string][]string{
			sandbox.Scheduler: {live.SchedulePeriod},
			// A claim that is seen before its volume is looked at again only after this time, by default 15 seconds.
			sandbox.ControllerManager: {"--pvclaimbinder-sync-period=1s"},
		},
	})
	t.Run("nodes", e.testNodes)
	t.Run("as shipped", e.testAsShipped)
	t.Run("together", func(t *testing.T) {
		for name, test := range map[string]func(*testing.T){
			"outcomes": e.testOutcomes, "birth": e.testBirth, "refusal": e.testRefusal, "deletion": e.testDeletion,
			"clock": e.testClock, "volumes": e.testVolumes, "ctr": e.testCTR, "gang": e.testGangAttempts,
			"defaults": e.testAdmissionDefaults,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t)
			})
		}
	})
	t.Run("permissions", e.testPermissions)
	t.Run("components", e.testComponents)
}

func (e *env) testNodes(t *testing.T) {
	nodes, err := e.Kube.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, nodes.Items, 16)
	for _, node := range nodes.Items {
		require.Empty(t, node.Spec.Taints, node.Name)
		require.NotEmpty(t, node.Labels[topology.LabelRack])
	}
}
