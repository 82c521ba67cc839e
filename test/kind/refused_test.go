// SPDX-License-Identifier: Apache-2.0

package kind_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// On a machine without Docker the scripts say so before they do anything.
func TestWithoutDocker(t *testing.T) {
	for _, script := range []string{"up.sh", "bench.sh", "down.sh"} {
		t.Run(script+" where it is not installed", func(t *testing.T) {
			m := newMachine(t)
			bin := t.TempDir() // all that the scripts need before they look for docker
			for _, program := range []string{"bash", "dirname"} {
				path, err := exec.LookPath(program)
				require.NoError(t, err)
				require.NoError(t, os.Symlink(path, filepath.Join(bin, program)))
			}
			said, code := run(t, []string{"PATH=" + bin, "KIND_OUT=" + m.out()}, script)
			require.Equal(t, 3, code, said)
			require.Regexp(t, `^error: docker is not installed.*Nothing was changed\n$`, said)
			require.NoDirExists(t, m.out())
		})
		t.Run(script+" where it does not answer", func(t *testing.T) {
			m := newMachine(t)
			said, code := run(t, m.environment(downVariable+"=yes"), script)
			require.Equal(t, 3, code, said)
			require.Regexp(t, `^error: docker does not answer.*Nothing was changed\. Docker says: is the docker daemon running\?\n$`, said)
			require.Equal(t, []call{{Args: []string{"info"}}}, m.calls(t))
			require.NoDirExists(t, m.out())
		})
	}
}

func TestWithoutCluster(t *testing.T) {
	m := newMachine(t)
	said, code := run(t, m.environment(), "bench.sh")
	require.Equal(t, 1, code, said)
	require.Contains(t, said, "make kind-up")
}

func TestWrongArguments(t *testing.T) {
	m := newMachine(t)
	said, code := run(t, m.environment(), "up.sh", "--quick")
	require.Equal(t, 2, code, said)
	require.Empty(t, m.calls(t))
	said, code = run(t, m.environment("NODES=0"), "up.sh", "--render")
	require.Equal(t, 1, code, said)
	require.Contains(t, said, "number of simulated nodes: want 1 or more")
}

// Without Docker the manifests can be looked at.
func TestRenderNeedsNoDocker(t *testing.T) {
	m := newMachine(t)
	said, code := run(t, m.environment("NODES=2"), "up.sh", "--render")
	require.Zero(t, code, said)
	require.Empty(t, m.calls(t))
	for _, name := range []string{"volcano", "kwok", "paddle", "scheduler-paddle", "scheduler-stock", "nodes"} {
		require.FileExists(t, filepath.Join(m.out(), "manifests", name+".yaml"))
	}
}
