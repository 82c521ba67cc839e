// SPDX-License-Identifier: Apache-2.0

package box

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// CgroupMounts lists where the hierarchies of cgroups are mounted, of version 1 and 2 alike.
func CgroupMounts() ([]string, error) {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("find the mounted cgroups: %w", err)
	}
	return cgroupMounts(string(data)), nil
}

func cgroupMounts(mountinfo string) []string {
	var out []string
	for line := range strings.Lines(mountinfo) {
		before, after, ok := strings.Cut(line, " - ")
		fields, kind := strings.Fields(before), strings.Fields(after)
		if ok && len(fields) > 4 && len(kind) > 0 && (kind[0] == "cgroup" || kind[0] == "cgroup2") && !slices.Contains(out, fields[4]) {
			out = append(out, fields[4])
		}
	}
	return out
}

// MakeCgroups creates an empty cgroup of that name in every hierarchy.
func MakeCgroups(name string) error {
	mounts, err := CgroupMounts()
	if err != nil {
		return err
	}
	for _, mount := range mounts {
		dir := filepath.Join(mount, name)
		if err := os.Mkdir(dir, 0o755); err != nil { //nolint:gosec // as all cgroups are
			return fmt.Errorf("make the box's cgroup: %w", err)
		}
		// In version 1 a new cpuset is empty, and nothing runs in it.
		for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
			parents, err := os.ReadFile(filepath.Join(mount, file))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, file), parents, 0o600)
			}
			if err != nil {
				return fmt.Errorf("make the box's cpuset: %w", err)
			}
		}
	}
	return nil
}

// removeWithin is how long the kernel may take to see that a cgroup's processes have exited.
const removeWithin = 5 * time.Second

// RemoveCgroups removes the cgroups of that name, and all below them, whose processes have exited.
func RemoveCgroups(name string) error {
	if name == "" {
		return nil
	}
	mounts, err := CgroupMounts()
	if err != nil {
		return err
	}
	deadline := time.Now().Add(removeWithin)
	for _, mount := range mounts {
		for err = removeTree(filepath.Join(mount, name)); errors.Is(err, unix.EBUSY) && time.Now().Before(deadline); {
			<-time.After(20 * time.Millisecond)
			err = removeTree(filepath.Join(mount, name))
		}
		if err != nil {
			return fmt.Errorf("remove the box's cgroup: %w", err)
		}
	}
	return nil
}

// removeTree removes folders from the bottom up; the files in them are the kernel's.
func removeTree(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.IsDir() {
			if err := removeTree(filepath.Join(dir, entry.Name())); err != nil {
				return err
			}
		}
	}
	if err := unix.Rmdir(dir); err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("%s: %w", dir, err)
	}
	return nil
}
