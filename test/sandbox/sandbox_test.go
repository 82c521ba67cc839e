// SPDX-License-Identifier: Apache-2.0

package sandbox_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"volcano.sh/apis/pkg/client/clientset/versioned"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

const (
	// workersRun is what pods of workers run for in these tests.
	workersRun = 2 * time.Second
	// patience is generous: the machine may be busy with other tests.
	patience = 2 * time.Minute
)

// env is a sandbox with clients.
type env struct {
	*sandbox.Sandbox
	kube    kubernetes.Interface
	volcano versioned.Interface
}

// start starts a sandbox of Volcano alone, stops it at the end of the test, and shows its logs where the test failed.
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
	kube, err := kubernetes.NewForConfig(s.RESTConfig())
	require.NoError(t, err)
	volcano, err := versioned.NewForConfig(s.RESTConfig())
	require.NoError(t, err)
	return &env{Sandbox: s, kube: kube, volcano: volcano}
}

type testWriter struct{ t *testing.T }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Logf("%s", p)
	return len(p), nil
}

// eventually waits until there is no error, and fails with the last one.
func eventually(t *testing.T, what string, try func() error) {
	t.Helper()
	var last error
	ok := func() bool {
		last = try()
		return last == nil
	}
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if ok() {
			return
		}
		pause()
	}
	require.NoError(t, last, what)
}

// pause lets a little time pass between two looks.
func pause() { <-time.After(100 * time.Millisecond) }

// namespace makes a namespace in which pods can be made.
func (e *env) namespace(t *testing.T, name string) string {
	t.Helper()
	_, err := e.kube.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	require.NoError(t, err)
	eventually(t, "the namespace's service account", func() error {
		_, err := e.kube.CoreV1().ServiceAccounts(name).Get(t.Context(), "default", metav1.GetOptions{})
		return err
	})
	return name
}

// pod reads a pod, and fails when it is gone.
func (e *env) pod(t *testing.T, namespace, name string) *corev1.Pod {
	t.Helper()
	pod, err := e.kube.CoreV1().Pods(namespace).Get(t.Context(), name, metav1.GetOptions{})
	require.NoError(t, err)
	return pod
}

// until waits for a pod that satisfies the check.
func (e *env) until(t *testing.T, namespace, name string, check func(*corev1.Pod) error) {
	t.Helper()
	eventually(t, "pod "+name, func() error {
		pod, err := e.kube.CoreV1().Pods(namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if err := check(pod); err != nil {
			return fmt.Errorf("%w; its status is %+v", err, pod.Status)
		}
		return nil
	})
}

// TestSandbox runs everything that needs a sandbox of Volcano alone on one, for each takes seconds to start.
func TestSandbox(t *testing.T) { //nolint:tparallel // the last ones look at what the others left behind
	t.Parallel()
	e := start(t, sandbox.Options{StockScheduler: true, WithoutController: true, WorkerRunFor: workersRun})
	t.Run("nodes", e.testNodes)
	t.Run("together", func(t *testing.T) {
		for name, test := range map[string]func(*testing.T){
			"fates": e.testFates, "birth": e.testBirth, "refusal": e.testRefusal, "deletion": e.testDeletion,
			"clock": e.testClock, "volumes": e.testVolumes, "ctr": e.testCTR, "gang": e.testGangAttempts,
			"defaults": e.testAdmissionDefaults,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t)
			})
		}
	})
	t.Run("rights", e.testRights)
	t.Run("components", e.testComponents)
}

func (e *env) testNodes(t *testing.T) {
	nodes, err := e.kube.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, nodes.Items, 16)
	for _, node := range nodes.Items {
		require.Empty(t, node.Spec.Taints, node.Name)
		require.NotEmpty(t, node.Labels[sandbox.LabelRack])
	}
}
