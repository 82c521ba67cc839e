// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/box"
)

// asMain makes the test binary behave as the command.
const asMain = "PADDLE_SANDBOX_MAIN"

// timeout is long, because the machine may be busy with other tests.
const timeout = 3 * time.Minute

func TestMain(m *testing.M) {
	if os.Getenv(asMain) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...) //nolint:gosec // this test binary
	cmd.Env = append(os.Environ(), asMain+"=1")
	return cmd
}

// run runs the command to its end.
func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	out, err := command(t.Context(), args...).CombinedOutput()
	return string(out), err
}

// plain are the flags of a sandbox of Volcano alone.
func plain(state string, more ...string) []string {
	return append([]string{"up", "--stock-scheduler", "--without-controller", "--state", state}, more...)
}

// stateDir is the folder of a sandbox that is stopped at the latest when the test ends.
func stateDir(t *testing.T) string {
	t.Helper()
	state := filepath.Join(t.TempDir(), "state")
	t.Cleanup(func() {
		_, err := sandbox.Down(context.Background(), state)
		require.NoError(t, err)
	})
	return state
}

func eventually(t *testing.T, what string, try func() error) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(timeout); time.Now().Before(deadline); <-time.After(100 * time.Millisecond) {
		if err = try(); err == nil {
			return
		}
	}
	require.NoError(t, err, what)
}

func nodeNames(t *testing.T, kubeconfig string) []string {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	require.NoError(t, err)
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	nodes, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	var names []string
	for i := range nodes.Items {
		names = append(names, nodes.Items[i].Name)
	}
	return names
}

// pids are the processes of a sandbox's components.
func pids(t *testing.T, state string) []int {
	t.Helper()
	var out []int
	for _, c := range sandbox.ComponentStatuses(state) {
		pid, err := strconv.Atoi(c.Process)
		require.NoError(t, err, "%s has ended", c.Name)
		out = append(out, pid)
	}
	require.Len(t, out, 7)
	return out
}

// awaitEnd waits until none of the processes runs; one that only waits to be reaped by init does not.
func awaitEnd(t *testing.T, pids []int) {
	t.Helper()
	eventually(t, "the components to end", func() error {
		for _, pid := range pids {
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			if errors.Is(err, os.ErrNotExist) {
				continue
			}
			if err != nil {
				return err
			}
			if _, state, ok := strings.Cut(string(stat), ") "); !ok || state[0] != 'Z' {
				return fmt.Errorf("process %d is still there: %s", pid, stat)
			}
		}
		return nil
	})
}

// awaitStopped waits until status says that the sandbox does not run, which is after its components have ended, and returns what it prints.
func awaitStopped(t *testing.T, state string) (text string) {
	t.Helper()
	eventually(t, "the sandbox to stop", func() error {
		var err error
		if text, err = run(t, "status", "--state", state); err == nil {
			return errors.New("status says that it runs")
		}
		return nil
	})
	return text
}

// TestUpStatusDown starts a sandbox in the background, looks at it and stops it.
func TestUpStatusDown(t *testing.T) {
	t.Parallel()
	state := stateDir(t)
	copied := filepath.Join(filepath.Dir(state), "copied")
	text, err := run(t, plain(state, "--topology", topologyFile(t), "--kubeconfig", copied, "--detach")...)
	require.NoError(t, err, text)
	require.Contains(t, text, "ready after")
	require.Contains(t, text, "export KUBECONFIG="+copied)
	require.Contains(t, text, "\nNext:\n", "the terminal is free")
	require.Contains(t, text, "To stop the sandbox: go run ./cmd/paddle-sandbox down --state "+state)
	require.Equal(t, []string{"only-node-0"}, nodeNames(t, copied))

	text, err = run(t, "status", "--state", state)
	require.NoError(t, err, text)
	require.Contains(t, text, "KUBECONFIG="+filepath.Join(state, "kubeconfig"))
	require.Contains(t, text, filepath.Join(state, "logs", "etcd.log"))
	text, err = run(t, plain(state)...)
	require.Error(t, err)
	require.Contains(t, text, "a sandbox runs in "+state+" already")

	components := pids(t, state)
	text, err = run(t, "down", "--state", state)
	require.NoError(t, err, text)
	require.Contains(t, text, "stopped the sandbox")
	awaitEnd(t, components)
	text, err = run(t, "down", "--state", state)
	require.NoError(t, err, text)
	require.Contains(t, text, "no sandbox runs")
	text, err = run(t, "status", "--state", state)
	require.Error(t, err)
	require.Contains(t, text, "has been stopped")
}

// TestKilled kills the process that holds a sandbox in the foreground, without a chance to clean up, and a component of one in
// the background. Then nothing of either runs.
func TestKilled(t *testing.T) {
	t.Parallel()
	live.SkipUnlessAll(t)
	front, back := stateDir(t), stateDir(t)
	holder := command(t.Context(), plain(front, "--nodes", "3")...)
	output, err := holder.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, holder.Start())
	shown := make(chan string, 1)
	go func() {
		var seen bytes.Buffer
		_, err := io.Copy(&seen, output)
		shown <- fmt.Sprint(seen.String(), err)
	}()
	text, err := run(t, plain(back, "--nodes", "1", "--detach")...)
	require.NoError(t, err, text)
	eventually(t, "the sandbox in the foreground", func() error {
		record, running, err := sandbox.ReadRecord(front)
		if err == nil && (!running || !record.Ready) {
			err = errors.New("it is not ready")
		}
		return err
	})
	require.Equal(t, []string{"rack-0-node-0", "rack-0-node-1", "rack-0-node-2"}, nodeNames(t, filepath.Join(front, "kubeconfig")))

	components := pids(t, front)
	require.NoError(t, holder.Process.Kill())
	require.Error(t, holder.Wait())
	awaitEnd(t, components)
	next := <-shown
	require.Contains(t, next, "\nNext, in another terminal:\n")
	require.Contains(t, next, "To stop the sandbox: ^C")
	awaitStopped(t, front)

	components = pids(t, back)
	require.NoError(t, syscall.Kill(components[len(components)-1], syscall.SIGKILL))
	awaitEnd(t, components)
	require.Contains(t, awaitStopped(t, back), "component scheduler died by itself (signal: killed)")
	log, err := os.ReadFile(filepath.Join(back, "logs", "sandbox.log"))
	require.NoError(t, err)
	require.Contains(t, string(log), "ERROR: component scheduler died by itself")
}

func TestExitCode(t *testing.T) {
	t.Parallel()
	require.Equal(t, 1, exitCode(sandbox.ErrNotStarted))
	require.Equal(t, 3, exitCode(fmt.Errorf("start: %w", &box.UnsupportedError{Missing: []string{"the capability CAP_SYS_ADMIN is missing"}})))
}

func topologyFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "topology.yaml")
	require.NoError(t, os.WriteFile(path, []byte("shapes: {std: {cpu: 4, memory: 8Gi}}\nblocks: [{racks: [{name: only, nodes: [{shape: std}]}]}]\n"), 0o600))
	return path
}

func TestBadCommands(t *testing.T) {
	t.Parallel()
	used := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(used, "notes.txt"), nil, 0o600))
	state := filepath.Join(t.TempDir(), "state")
	tests := map[string]struct {
		args []string
		want string
	}{
		"both clusters":         {plain(state, "--nodes", "2", "--topology", "x"), "none of the others can be"},
		"no nodes":              {plain(state, "--nodes", "-1"), "--nodes is -1"},
		"no topology file":      {plain(state, "--topology", "/nowhere"), "read topology"},
		"no configuration file": {plain(state, "--scheduler-conf", "/nowhere"), "read --scheduler-conf"},
		"negative time":         {plain(state, "--worker-run-for", "-1s"), "worker run time is -1s"},
		"a folder in use":       {plain(used), "holds files that are no sandbox's"},
		"one in the background": {plain(used, "--detach"), "holds files that are no sandbox's"},
		"images of no node":     {plain(state, "--image", "x.tar"), "--image is for the real node: add --real"},
		"status of nothing":     {[]string{"status", "--state", state}, "no sandbox is here"},
		"words":                 {plain(state, "now"), "unknown command"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := run(t, test.args...)
			require.Error(t, err)
			require.Contains(t, text, test.want)
			require.NoDirExists(t, state)
		})
	}
}
