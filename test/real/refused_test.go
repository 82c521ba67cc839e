// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// denyEnv makes this program run the one that the variable names with fewer rights, see deny.
const denyEnv = "REAL_TEST_DENIES"

// What can be denied.
const (
	// denyRoot takes a capability away that a container runtime needs, from this program that then begins anew.
	denyRoot = "root"
	// denyAll also forbids user namespaces, in a user namespace of its own, and runs the program of its arguments.
	denyAll = "all"
)

// deny does it, and never returns.
func deny(what string) {
	runtime.LockOSThread() // rights are a thread's, and so are those of the program that it becomes
	program, args := os.Args[0], os.Args
	err := unix.Prctl(unix.PR_CAPBSET_DROP, unix.CAP_SYS_ADMIN, 0, 0, 0)
	if what == denyAll {
		program, args = os.Args[1], os.Args[1:]
		err = errors.Join(err, os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0))
	}
	if err == nil {
		env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, denyEnv+"=") })
		err = syscall.Exec(program, args, env) //nolint:gosec // this very program, or one that it was given
	}
	fmt.Fprintln(os.Stderr, "deny rights:", err)
	os.Exit(1)
}

// TestRefused asks the real command for a real node where the machine allows none: it must say why, in words, leave all as it
// is, and exit with 3. The machine is this one seen from a user namespace in which there may be no others.
func TestRefused(t *testing.T) {
	live.RequireReal(t)
	live.SkipUnlessAll(t)
	dir := t.TempDir()
	program := filepath.Join(dir, "paddle-sandbox")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../cmd/paddle-sandbox")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	said, err := build.CombinedOutput()
	require.NoError(t, err, string(said))
	state := filepath.Join(dir, "state")
	before := trace(t, dir)
	cmd := exec.CommandContext(t.Context(), os.Args[0], program, "up", "--real", "--state", state) //nolint:gosec // this test binary
	cmd.Env = append(os.Environ(), denyEnv+"="+denyAll)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	said, err = cmd.CombinedOutput()
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSPC) {
		t.Skip("no user namespace can be made: ", err)
	}
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit, string(said))
	require.Equal(t, 3, exit.ExitCode(), string(said))
	for _, missing := range []string{
		"this machine does not allow a real node:", "as root: the capability CAP_SYS_ADMIN is missing", "rootless: the sysctl user.max_user_namespaces is 0",
	} {
		require.Contains(t, string(said), missing)
	}
	require.NoDirExists(t, state)
	requireNoTrace(t, before, dir)
	require.NoError(t, sandbox.RealAllowed(), "it was denied to that program alone")
}
