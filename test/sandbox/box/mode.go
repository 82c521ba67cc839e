// SPDX-License-Identifier: Apache-2.0

package box

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// Mode is how a box is made.
type Mode int

// As root, or in a user namespace in which only one user exists, and without cgroups.
const (
	Root Mode = iota
	Rootless
)

// String returns the mode's name for messages.
func (m Mode) String() string {
	if m == Rootless {
		return "rootless"
	}
	return "as root"
}

// UnsupportedError says that no box can be made on this machine, and what is missing.
type UnsupportedError struct{ Missing []string }

// Error lists what is missing, one in a line.
func (e *UnsupportedError) Error() string {
	return "this machine does not allow a real node:\n  " + strings.Join(e.Missing, "\n  ")
}

// ExitCode returns the exit code of a program that ends with an error: 3 for an UnsupportedError, else 1.
func ExitCode(err error) int {
	if errors.As(err, new(*UnsupportedError)) {
		return 3
	}
	return 1
}

// needed are the capabilities of a container runtime, and those that it hands on to containers.
var needed = []struct {
	bit  uint
	name string
}{
	{unix.CAP_SYS_ADMIN, "CAP_SYS_ADMIN"}, {unix.CAP_NET_ADMIN, "CAP_NET_ADMIN"}, {unix.CAP_CHOWN, "CAP_CHOWN"},
	{unix.CAP_DAC_OVERRIDE, "CAP_DAC_OVERRIDE"}, {unix.CAP_FOWNER, "CAP_FOWNER"}, {unix.CAP_FSETID, "CAP_FSETID"},
	{unix.CAP_KILL, "CAP_KILL"}, {unix.CAP_SETGID, "CAP_SETGID"}, {unix.CAP_SETUID, "CAP_SETUID"},
	{unix.CAP_SETPCAP, "CAP_SETPCAP"}, {unix.CAP_NET_BIND_SERVICE, "CAP_NET_BIND_SERVICE"}, {unix.CAP_NET_RAW, "CAP_NET_RAW"},
	{unix.CAP_SYS_CHROOT, "CAP_SYS_CHROOT"}, {unix.CAP_MKNOD, "CAP_MKNOD"}, {unix.CAP_AUDIT_WRITE, "CAP_AUDIT_WRITE"},
	{unix.CAP_SETFCAP, "CAP_SETFCAP"},
}

// ModeFor decides how a box is made on a machine; the error is an [*UnsupportedError].
func ModeFor(m Machine) (Mode, error) {
	var tools []string
	for _, tool := range m.MissingTools {
		tools = append(tools, fmt.Sprintf("the program %s is not installed", tool))
	}
	root, rootless := rootMissing(m), rootlessMissing(m)
	switch {
	case len(tools) == 0 && len(root) == 0:
		return Root, nil
	case len(tools) == 0 && len(rootless) == 0:
		return Rootless, nil
	}
	if len(root) > 0 && len(rootless) > 0 {
		for _, text := range root {
			tools = append(tools, "as root: "+text)
		}
		for _, text := range rootless {
			tools = append(tools, "rootless: "+text)
		}
	}
	return Root, &UnsupportedError{Missing: tools}
}

func rootMissing(m Machine) (missing []string) {
	if m.UID != 0 {
		return []string{fmt.Sprintf("this is user %d", m.UID)}
	}
	for _, c := range needed {
		if m.Capabilities&(1<<c.bit) == 0 {
			missing = append(missing, "the capability "+c.name+" is missing")
		}
	}
	if m.NoCgroups {
		missing = append(missing, "no cgroups are mounted")
	}
	for _, mount := range m.ReadOnlyCgroups {
		missing = append(missing, "no cgroup can be made in "+mount)
	}
	if len(m.LockedControllers) > 0 {
		missing = append(missing, "cgroup.subtree_control of the topmost cgroup lacks "+strings.Join(m.LockedControllers, ", "))
	}
	return missing
}

func rootlessMissing(m Machine) (missing []string) {
	switch value, ok := m.Sysctls[sysctlMaxUserNamespaces]; {
	case !ok:
		missing = append(missing, "the kernel has no user namespaces")
	case value == "0":
		missing = append(missing, "the sysctl user.max_user_namespaces is 0")
	}
	if m.Sysctls[sysctlUnprivilegedClone] == "0" {
		missing = append(missing, "the sysctl kernel.unprivileged_userns_clone is 0: it must be 1")
	}
	if m.Sysctls[sysctlAppArmor] == "1" {
		missing = append(missing, "the sysctl kernel.apparmor_restrict_unprivileged_userns is 1: it must be 0")
	}
	return missing
}
