// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/box"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/node"
)

// TestKilled kills the process that holds a sandbox while pods run, so that nobody is left to clean up: as the machine allows
// it, and rootless, where root is only made to be without the rights of a container runtime.
func TestKilled(t *testing.T) {
	live.RequireReal(t)
	machine, err := box.Probe(node.Tools()...)
	require.NoError(t, err)
	mode, err := box.Verdict(machine)
	require.NoError(t, err)
	t.Run(mode.String(), func(t *testing.T) { testKilled(t, mode) })
	if mode == box.Rootless {
		return
	}
	t.Run(box.Rootless.String(), func(t *testing.T) {
		machine.Capabilities = 0
		mode, err := box.Verdict(machine)
		if err != nil {
			t.Skip(err)
		}
		testKilled(t, mode, denying+"="+denyRoot)
	})
}

func testKilled(t *testing.T, mode box.Mode, env ...string) {
	state := stateDir(t)
	before := trace(t, state)
	holder := exec.Command(os.Args[0]) //nolint:gosec // this test binary
	holder.Env = append(append(os.Environ(), holding+"="+state, having+"="+talkerArchive), env...)
	said := &strings.Builder{}
	holder.Stdout, holder.Stderr = io.MultiWriter(os.Stdout, said), os.Stderr
	require.NoError(t, holder.Start())
	for deadline := time.Now().Add(5 * time.Minute); ; <-time.After(100 * time.Millisecond) {
		record, running, err := sandbox.ReadRecord(state)
		if err == nil && running && record.Ready {
			break
		}
		require.True(t, time.Now().Before(deadline), "the sandbox is not ready: %v", err)
	}
	p := connect(t, state)
	pod := onRealNode("pod")
	pod.Spec.Containers[0].Image = node.PauseImage
	create(t, p, corev1.NamespaceDefault, pod)
	await(t, p, corev1.NamespaceDefault, "pod", corev1.PodRunning)
	for name, test := range map[string]func(*testing.T, *live.Plane){"logs": testLogs, "names": testNames, "exit code": testExitCode} {
		t.Run(name, func(t *testing.T) { test(t, p) })
	}
	requireSeen(t, mode, added(before, trace(t, state)))
	require.NoError(t, holder.Process.Signal(syscall.SIGKILL))
	require.Error(t, holder.Wait())
	require.Contains(t, said.String(), "making namespaces for a real node ("+mode.String()+")")
	// It waits until the box has ended, which has held the folder's lock too.
	_, err := sandbox.Down(t.Context(), state)
	require.NoError(t, err)
	requireNoTrace(t, before, state)
}

// connect makes clients of a sandbox that another process holds.
func connect(t *testing.T, state string) *live.Plane {
	t.Helper()
	record, _, err := sandbox.ReadRecord(state)
	require.NoError(t, err)
	config, err := clientcmd.BuildConfigFromFlags("", record.Kubeconfig)
	require.NoError(t, err)
	kube, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	return &live.Plane{Sandbox: &sandbox.Sandbox{}, Kube: kube}
}
