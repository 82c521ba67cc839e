// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/box"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/node"
)

// showEnv makes this program show the hardware address of the link that the variable names.
const showEnv = "REAL_TEST_SHOWS"

func show(link string) {
	found, err := net.InterfaceByName(link)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(found.HardwareAddr)
}

// TestBox runs plain programs in a box, and kills its process 1, so that it cannot clean up.
func TestBox(t *testing.T) {
	live.RequireReal(t)
	live.SkipUnlessAll(t)
	dir := t.TempDir()
	binaries, err := sandbox.Build(t.Context(), bareOptions(dir))
	require.NoError(t, err)
	machine, err := box.Probe()
	require.NoError(t, err)
	mode, err := box.Verdict(machine)
	require.NoError(t, err)
	settings := box.Settings{Hostname: "inside", Sysctls: map[string]string{"kernel/panic": "77"}, Bridge: node.Bridge, Address: node.Address}
	if mode == box.Root {
		settings.Name = "paddle-sandbox-test"
	}
	before := trace(t, dir)
	b, err := box.Start(binaries["paddle-box"], filepath.Join(dir, "box.log"), mode, settings)
	require.NoError(t, err)
	log := filepath.Join(dir, "log")
	run := func(script string) (*box.Process, error) {
		return b.Run(box.Command{Path: "/bin/sh", Args: []string{"-c", script}, Env: os.Environ(), Dir: dir, Log: log})
	}
	p, err := run("uname -n; cat /proc/sys/kernel/panic /proc/sys/net/ipv4/ip_forward; ls -A /run/lock /var/log; exit 3")
	require.NoError(t, err)
	<-p.Done
	require.EqualError(t, p.Err, "exit status 3")
	said, err := os.ReadFile(log)
	require.NoError(t, err)
	require.Equal(t, "inside\n77\n1\n/run/lock:\n\n/var/log:\n", string(said))
	_, err = b.Run(box.Command{Path: "/nowhere", Dir: dir, Log: log})
	require.ErrorContains(t, err, "start /nowhere: no such file or directory")

	// Links to containers come and go, and the containers that stay must not lose the bridge.
	shown := filepath.Join(dir, "shown")
	p, err = b.Run(box.Command{Path: os.Args[0], Env: append(os.Environ(), showEnv+"="+node.Bridge), Dir: dir, Log: shown})
	require.NoError(t, err)
	<-p.Done
	require.NoError(t, p.Err)
	said, err = os.ReadFile(shown)
	require.NoError(t, err)
	require.Equal(t, "02:00:0a:f4:4d:01\n", string(said))

	// An orphan is reaped by process 1, and does not outlive it.
	p, err = run("sleep 1000 & sleep 1000")
	require.NoError(t, err)
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.PID), "status"))
	require.NoError(t, err)
	_, after, _ := strings.Cut(string(status), "PPid:")
	parent, err := strconv.Atoi(strings.Fields(after)[0])
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(parent, syscall.SIGKILL))
	<-p.Done
	require.EqualError(t, p.Err, "its box has ended")
	_, err = run("true")
	require.Error(t, err)
	require.NoError(t, b.Stop())
	require.NoError(t, b.Stop(), "twice")
	requireNoTrace(t, before, dir)
}
