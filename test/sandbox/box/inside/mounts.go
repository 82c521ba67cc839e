// SPDX-License-Identifier: Apache-2.0

package inside

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox/box"
)

// private are the folders in which a kubelet and a container runtime keep everything; the box has empty ones instead.
var private = []string{"/run", "/var"}

// mounts gives the box its own view of the machine's files.
func (s *server) mounts() error {
	if err := unix.Sethostname([]byte(s.settings.Hostname)); err != nil {
		return fmt.Errorf("set the box's host name: %w", err)
	}
	// First mounts must not propagate to the machine; then mounts in the box must propagate to containers.
	for _, flag := range []uintptr{unix.MS_PRIVATE, unix.MS_SHARED} {
		if err := unix.Mount("", "/", "", unix.MS_REC|flag, ""); err != nil {
			return fmt.Errorf("part the box's mounts from the machine's: %w", err)
		}
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount the box's /proc: %w", err)
	}
	kept := map[string]int{}
	for _, dir := range s.settings.Keep {
		if !hidden(dir) {
			continue
		}
		fd, err := unix.Open(dir, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("keep %s in the box: %w", dir, err)
		}
		kept[dir] = fd
	}
	for _, dir := range private {
		if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755"); err != nil {
			return fmt.Errorf("mount the box's %s: %w", dir, err)
		}
	}
	for dir, fd := range kept {
		if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // only a place to mount on
			return fmt.Errorf("keep %s in the box: %w", dir, err)
		}
		if err := bind("/proc/self/fd/"+strconv.Itoa(fd), dir); err != nil {
			return err
		}
		unix.Close(fd) //nolint:errcheck // opened for its path only
	}
	for _, dir := range []string{"/run/lock", "/run/tmp", "/var/lib", "/var/log", "/var/tmp"} {
		if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // as they are everywhere
			return fmt.Errorf("fill the box's folders: %w", err)
		}
	}
	if err := os.Symlink("/run", "/var/run"); err != nil {
		return fmt.Errorf("fill the box's folders: %w", err)
	}
	return s.sysctls()
}

func hidden(dir string) bool {
	for _, p := range private {
		if dir == p || strings.HasPrefix(dir, p+"/") {
			return true
		}
	}
	return false
}

// sysctls covers settings of the whole machine by files.
func (s *server) sysctls() error {
	for name, value := range s.settings.Sysctls {
		file := filepath.Join("/run/sysctls", name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // nothing secret is in it
			return fmt.Errorf("cover sysctl %s: %w", name, err)
		}
		if err := os.WriteFile(file, []byte(value+"\n"), 0o644); err != nil { //nolint:gosec // as the kernel's own file
			return fmt.Errorf("cover sysctl %s: %w", name, err)
		}
		if err := bind(file, filepath.Join("/proc/sys", name)); err != nil {
			return err
		}
	}
	return nil
}

func bind(from, to string) error {
	if err := unix.Mount(from, to, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("bind %s over %s: %w", from, to, err)
	}
	return nil
}

// coverCgroups makes all cgroups read-only in a box that has none: a container runtime that may write there makes some at
// the top of each hierarchy, where no process would remove them.
func coverCgroups() error {
	mounts, err := box.CgroupMounts()
	if err != nil {
		return err
	}
	for _, mount := range mounts {
		err := unix.MountSetattr(unix.AT_FDCWD, mount, 0, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
		// Before Linux 5.12 there is no such call; there only the machine's root could write.
		if err != nil && !errors.Is(err, unix.ENOSYS) {
			return fmt.Errorf("make the cgroups in %s read-only: %w", mount, err)
		}
	}
	return nil
}
