// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox/box"
)

// restless are sysctls that change by themselves, or that do something when they are read.
var restless = []string{
	"fs/aio-nr", "fs/dentry-state", "fs/file-nr", "fs/inode-nr", "fs/inode-state", "kernel/ns_last_pid", "kernel/pty/nr",
	"kernel/random/", "net/netfilter/nf_conntrack_count", "vm/stat_refresh",
}

// trace is everything on this machine that a real node could leave behind, one thing a line, by its kind.
func trace(t *testing.T, state string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for kind, file := range map[string]string{
		"mounts": "/proc/self/mountinfo", "routes": "/proc/net/route", "routes of IPv6": "/proc/net/ipv6_route",
	} {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		for line := range strings.Lines(string(data)) {
			if kind != "mounts" { // counters of use stand behind the fifth column of routes
				fields := strings.Fields(line)
				line = strings.Join(fields[:min(4, len(fields))], " ")
			}
			out[kind] = append(out[kind], line)
		}
	}
	links, err := net.Interfaces()
	require.NoError(t, err)
	for _, link := range links {
		addresses, err := link.Addrs()
		require.NoError(t, err)
		out["links"] = append(out["links"], fmt.Sprintln(link.Name, link.Flags, link.HardwareAddr, addresses))
	}
	mounts, err := box.CgroupMounts()
	require.NoError(t, err)
	for _, mount := range mounts {
		walk(mount, func(path string, entry fs.DirEntry) {
			if entry.IsDir() {
				out["cgroups"] = append(out["cgroups"], path)
			}
		})
	}
	walk("/proc/sys", func(path string, entry fs.DirEntry) {
		name := strings.TrimPrefix(path, "/proc/sys/")
		if entry.IsDir() || slices.ContainsFunc(restless, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			return
		}
		if value, err := os.ReadFile(path); err == nil {
			out["sysctls"] = append(out["sysctls"], name+" = "+string(value))
		}
	})
	for _, dir := range []string{"/run", "/var/lib", "/var/log", "/etc", "/opt"} {
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, entry := range entries {
			out["files"] = append(out["files"], filepath.Join(dir, entry.Name()))
		}
	}
	out["processes"] = processes(t, state)
	for _, lines := range out {
		slices.Sort(lines)
	}
	return out
}

func walk(root string, visit func(path string, entry fs.DirEntry)) {
	//nolint:errcheck // what cannot be read, or is gone meanwhile, is no trace
	filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil {
			visit(path, entry)
		}
		return nil
	})
}

// processes lists the namespaces in which processes are, and the processes that were started for a sandbox.
func processes(t *testing.T, state string) []string {
	t.Helper()
	var out []string
	entries, err := os.ReadDir("/proc")
	require.NoError(t, err)
	for _, entry := range entries {
		dir := filepath.Join("/proc", entry.Name())
		for _, kind := range []string{"mnt", "net", "pid", "uts", "ipc", "user"} {
			if namespace, err := os.Readlink(filepath.Join(dir, "ns", kind)); err == nil && !slices.Contains(out, namespace) {
				out = append(out, namespace)
			}
		}
		if line, err := os.ReadFile(filepath.Join(dir, "cmdline")); err == nil && bytes.Contains(line, []byte(state)) {
			out = append(out, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return out
}

// requireNoTrace compares with what was before, kind by kind; the kernel may take a moment.
func requireNoTrace(t *testing.T, before map[string][]string, state string) {
	t.Helper()
	var after map[string][]string
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); <-time.After(200 * time.Millisecond) {
		if after = trace(t, state); fmt.Sprint(after) == fmt.Sprint(before) {
			break
		}
	}
	for kind := range before {
		require.Equal(t, before[kind], after[kind], "%s have changed", kind)
	}
}
