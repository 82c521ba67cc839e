// SPDX-License-Identifier: Apache-2.0

package box

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCgroupMounts(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/unified"}, cgroupMounts(
		"20 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"+
			"30 20 0:26 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"+
			"31 30 0:27 / /sys/fs/cgroup/cpu rw,relatime shared:1 - cgroup cgroup rw,cpu\n"+
			"31 30 0:27 / /sys/fs/cgroup/cpu rw,relatime shared:1 - cgroup cgroup rw,cpu\n"+
			"39 30 0:34 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"))
}

func TestLockedControllers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		offered, given string
		locked         []string
	}{
		"all":                {"cpuset cpu io memory pids\n", "cpuset cpu io memory pids\n", nil},
		"a container":        {"cpuset cpu io memory pids\n", "\n", []string{"cpu", "cpuset", "memory", "pids"}},
		"beside version 1":   {"hugetlb\n", "\n", nil},
		"without the cpuset": {"cpuset cpu io memory pids\n", "cpu memory pids\n", []string{"cpuset"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mount := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(mount, "cgroup.controllers"), []byte(test.offered), 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(mount, "cgroup.subtree_control"), []byte(test.given), 0o600))
			require.Equal(t, test.locked, lockedControllers(mount))
		})
	}
	require.Empty(t, lockedControllers(t.TempDir()))
}

func TestRemoveTree(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "box")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "kubepods", "pod"), 0o700))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "kubepods", "other"), 0o700))
	require.NoError(t, removeTree(dir))
	require.NoDirExists(t, dir)
	require.NoError(t, removeTree(dir), "it may be gone already")
}

func TestOutsidePID(t *testing.T) {
	t.Parallel()
	proc := t.TempDir()
	for pid, status := range map[int]string{
		7:  "Name:\tinit\nPPid:\t1\nNSpid:\t7\t1\n",
		90: "Name:\tpaddle\nPPid:\t8\nNSpid:\t90\t4\n",
		91: "Name:\tetcd\nPPid:\t7\nNSpid:\t91\t4\n",
		92: "Name:\tetcd\nPPid:\t7\nNSpid:\t92\t14\n",
		4:  "Name:\tkthread\nPPid:\t7\nNSpid:\t4\n",
	} {
		dir := filepath.Join(proc, strconv.Itoa(pid))
		require.NoError(t, os.Mkdir(dir, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "status"), []byte(status), 0o600))
	}
	require.NoError(t, os.Mkdir(filepath.Join(proc, "sys"), 0o700))
	require.Equal(t, 91, outsidePID(proc, 7, 4))
	require.Zero(t, outsidePID(proc, 7, 5))
	require.Zero(t, outsidePID(filepath.Join(proc, "nowhere"), 7, 4))
}
