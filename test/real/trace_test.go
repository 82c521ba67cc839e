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

// trace returns everything on this machine that a real node could leave behind, one thing a line.
func trace(t *testing.T, state string) (out []string) {
	t.Helper()
	add := func(kind string, text ...any) { out = append(out, kind+": "+strings.TrimSpace(fmt.Sprintln(text...))) }
	for kind, file := range map[string]string{
		"mount": "/proc/self/mountinfo", "route": "/proc/net/route", "route of IPv6": "/proc/net/ipv6_route",
	} {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		for line := range strings.Lines(string(data)) {
			if kind != "mount" { // counters of use stand behind the fifth column of routes
				fields := strings.Fields(line)
				line = strings.Join(fields[:min(4, len(fields))], " ")
			}
			add(kind, line)
		}
	}
	links, err := net.Interfaces()
	require.NoError(t, err)
	for _, link := range links {
		addresses, err := link.Addrs()
		require.NoError(t, err)
		add("link", link.Name, link.Flags, link.HardwareAddr, addresses)
	}
	mounts, err := box.CgroupMounts()
	require.NoError(t, err)
	for _, mount := range mounts {
		walk(mount, func(path string, entry fs.DirEntry) {
			if entry.IsDir() {
				add("cgroup", path)
			}
		})
	}
	walk("/proc/sys", func(path string, entry fs.DirEntry) {
		name := strings.TrimPrefix(path, "/proc/sys/")
		if entry.IsDir() || slices.ContainsFunc(restless, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			return
		}
		if value, err := os.ReadFile(path); err == nil {
			add("sysctl", name, string(value))
		}
	})
	for _, dir := range []string{"/run", "/var/lib", "/var/log", "/etc", "/opt"} {
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, entry := range entries {
			add("file", filepath.Join(dir, entry.Name()))
		}
	}
	for _, line := range processes(t, state) {
		add("process", line)
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

// requireNoTrace fails if the sandbox has left something on the machine; the kernel may take a moment.
func requireNoTrace(t *testing.T, before []string, state string) {
	t.Helper()
	var left []string
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); <-time.After(200 * time.Millisecond) {
		if left = added(before, trace(t, state)); len(left) == 0 {
			return
		}
	}
	require.Empty(t, left, "the sandbox has left something")
}

// added returns what is only in after. What other programs removed meanwhile does not count.
func added(before, after []string) []string {
	return slices.DeleteFunc(after, func(line string) bool { return slices.Contains(before, line) })
}

// requireSeen fails where a trace is blind, by what can be seen of a sandbox that runs.
func requireSeen(t *testing.T, mode box.Mode, seen []string) {
	t.Helper()
	all := strings.Join(seen, "\n")
	wanted := []string{"process: net:", "process: mnt:", "process: pid:", "etcd --"}
	if mode == box.Root {
		wanted = append(wanted, "/kubepods/besteffort")
	}
	for _, want := range wanted {
		require.Contains(t, all, want)
	}
}
