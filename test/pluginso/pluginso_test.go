// SPDX-License-Identifier: Apache-2.0

package pluginso

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/live"
)

// configuration names the plugin, with an argument that it complains about in its first session.
const configuration = `actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: gang
  - name: paddle
    arguments:
      search-budget: 0
  - name: predicates
`

// patience is how long the scheduler may take to open a session, on any machine.
const patience = 5 * time.Minute

func TestVolcanosSchedulerRunsThePluginFromItsFile(t *testing.T) {
	live.SkipUnlessAll(t)
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	build := exec.CommandContext(t.Context(), "make", "plugin-so")
	build.Dir = root
	// A make that runs this test must not pass its own flags on.
	build.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "MAKE") || strings.HasPrefix(variable, "MFLAGS")
	})
	out, err := build.CombinedOutput()
	require.NoError(t, err, "make plugin-so: %s", out)

	lines := runScheduler(t, filepath.Join(root, "_output", "plugin"))
	at := func(text string) int {
		return slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, text) })
	}
	require.GreaterOrEqual(t, at("Custom plugin paddle loaded"), 0, strings.Join(lines, "\n"))
	require.Greater(t, at(complaint), at("Custom plugin paddle loaded"), strings.Join(lines, "\n"))
	require.Negative(t, at("Failed to get plugin"), strings.Join(lines, "\n"))
}

// complaint is what only the plugin's own code says, once a session has built it.
const complaint = `search-budget: Invalid value: 0: must be between 1 and 1000, inclusive`

// runScheduler runs the scheduler in a folder with the plugins in it, until the plugin complains, and gives its log.
func runScheduler(t *testing.T, folder string) []string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(emptyCluster))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "volcano-scheduler.conf")
	require.NoError(t, os.WriteFile(file, []byte(configuration), 0o600))

	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	scheduler := exec.CommandContext(ctx, filepath.Join(folder, "vc-scheduler"), "--master="+server.URL, "--plugins-dir="+folder,
		"--scheduler-conf="+file, "--leader-elect=false", "--cache-dumper=false", "--v=4")
	scheduler.Env = append(os.Environ(), "DEBUG_SOCKET_DIR="+t.TempDir())
	log, err := scheduler.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, scheduler.Start())
	var lines []string
	for scanner := bufio.NewScanner(log); scanner.Scan(); {
		lines = append(lines, scanner.Text())
		if strings.Contains(scanner.Text(), complaint) {
			break
		}
	}
	stop()
	err = scheduler.Wait()
	require.Error(t, err, "it was killed, or exited with an error that is in its log")
	server.CloseClientConnections()
	return lines
}
