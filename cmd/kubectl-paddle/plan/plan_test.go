// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFind(t *testing.T) {
	folder, inPath := t.TempDir(), t.TempDir()
	t.Setenv("PATH", inPath)
	executable := filepath.Join(folder, "kubectl-paddle")
	write := func(path, text string) {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o700)) //nolint:gosec // a program
	}
	write(executable, "")
	_, err := find(executable)
	require.ErrorContains(t, err, "paddle-simulator, which has the scheduler in it, is neither in the folder of kubectl-paddle nor in PATH")
	require.ErrorContains(t, err, "make kubectl builds both")

	write(filepath.Join(inPath, Program), "")
	found, err := find(executable)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(inPath, Program), found)

	write(filepath.Join(folder, Program), "")
	link := filepath.Join(t.TempDir(), "kubectl-paddle")
	require.NoError(t, os.Symlink(executable, link))
	found, err = find(link)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(folder, Program), found, "beside the program that a link leads to")
}

func TestRunProgram(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("PATH", folder+":/usr/bin:/bin")
	answers := func(script string) error {
		require.NoError(t, os.WriteFile(filepath.Join(folder, Program), []byte("#!/bin/sh\n"+script), 0o700)) //nolint:gosec // a program
		_, err := RunProgram(t.Context(), &Request{})
		return err
	}
	require.NoError(t, answers(`grep -q '"Version":"' && echo '{}'`))
	require.Equal(t, Errorf(NotFound, "x"), answers(`cat > /dev/null; echo '{"Error":{"Message":"x","Code":3}}'`))
	require.ErrorContains(t, answers("cat > /dev/null; exit 3"), "exit status 3")
	require.ErrorContains(t, answers("cat > /dev/null; echo nothing"), "read the answer of")
}
