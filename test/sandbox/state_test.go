// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestClaimStateFolder(t *testing.T) {
	l := layout(filepath.Join(t.TempDir(), "made", "on", "the", "way"))
	lock, err := l.claim()
	require.NoError(t, err)
	require.NoError(t, l.write(&Record{PID: 1, Nodes: 3}))
	require.NoError(t, os.WriteFile(l.logs(Etcd), []byte("old"), 0o600))

	_, err = l.claim()
	require.ErrorContains(t, err, "a sandbox runs in "+string(l)+" already")
	record, running, err := ReadRecord(string(l))
	require.NoError(t, err)
	require.True(t, running)
	require.Equal(t, 3, record.Nodes)

	require.NoError(t, lock.Release())
	_, running, err = ReadRecord(string(l))
	require.NoError(t, err)
	require.False(t, running)
	lock, err = l.claim()
	require.NoError(t, err)
	require.NoFileExists(t, l.logs(Etcd), "the earlier sandbox's files are gone")
	require.NoFileExists(t, l.marker())
	require.NoError(t, lock.Release())
}

func TestClaimLeavesOtherFoldersAlone(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "thesis.tex")
	require.NoError(t, os.WriteFile(file, []byte("years of work"), 0o600))
	_, err := layout(dir).claim()
	require.ErrorContains(t, err, "holds files that are no sandbox's")
	require.FileExists(t, file)
	require.NoFileExists(t, layout(dir).lock())
}

func TestNoSandbox(t *testing.T) {
	dir := t.TempDir()
	_, _, err := ReadRecord(dir)
	require.ErrorIs(t, err, ErrNone)
	ran, err := Down(t.Context(), dir)
	require.NoError(t, err)
	require.False(t, ran)
	require.Empty(t, ComponentStatuses(dir))
}
