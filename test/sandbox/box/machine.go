// SPDX-License-Identifier: Apache-2.0

package box

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Machine is what decides whether a box can be made here.
type Machine struct {
	UID int
	// Capabilities are the effective ones, as the kernel writes them.
	Capabilities uint64
	// ReadOnlyCgroups are mounted hierarchies in which no cgroup can be made; NoCgroups says that none is mounted.
	ReadOnlyCgroups []string
	NoCgroups       bool
	// LockedControllers are controllers of cgroups of version 2 that the box's cgroup would lack. To enable them would change
	// the machine.
	LockedControllers []string
	// Sysctls are those that forbid user namespaces, by their path below /proc/sys; one that the kernel lacks is missing.
	Sysctls map[string]string
	// MissingTools are programs that are not installed.
	MissingTools []string
}

// Sysctls that forbid user namespaces.
const (
	sysctlMaxUserNamespaces = "user/max_user_namespaces"
	sysctlUnprivilegedClone = "kernel/unprivileged_userns_clone"
	sysctlAppArmor          = "kernel/apparmor_restrict_unprivileged_userns"
)

// Probe inspects this machine, without changing anything.
func Probe(tools ...string) (Machine, error) {
	m := Machine{UID: os.Geteuid(), Sysctls: map[string]string{}}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return m, err
	}
	if m.Capabilities, err = strconv.ParseUint(statusField(string(status), "CapEff"), 16, 64); err != nil {
		return m, err
	}
	mounts, err := CgroupMounts()
	if err != nil {
		return m, err
	}
	m.NoCgroups = len(mounts) == 0
	for _, mount := range mounts {
		if unix.Access(mount, unix.W_OK) != nil {
			m.ReadOnlyCgroups = append(m.ReadOnlyCgroups, mount)
		}
		m.LockedControllers = append(m.LockedControllers, lockedControllers(mount)...)
	}
	for _, name := range []string{sysctlMaxUserNamespaces, sysctlUnprivilegedClone, sysctlAppArmor} {
		if value, err := os.ReadFile("/proc/sys/" + name); err == nil {
			m.Sysctls[name] = strings.TrimSpace(string(value))
		}
	}
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			m.MissingTools = append(m.MissingTools, tool)
		}
	}
	return m, nil
}

// lockedControllers lists what a kubelet needs, and a hierarchy of version 2 has but does not give to the children of its
// root. What version 1 controls is not there.
func lockedControllers(mount string) (locked []string) {
	offered, err := os.ReadFile(filepath.Join(mount, "cgroup.controllers"))
	if err != nil {
		return nil
	}
	given, err := os.ReadFile(filepath.Join(mount, "cgroup.subtree_control"))
	if err != nil {
		return nil
	}
	for _, controller := range []string{"cpu", "cpuset", "memory", "pids"} {
		if slices.Contains(strings.Fields(string(offered)), controller) && !slices.Contains(strings.Fields(string(given)), controller) {
			locked = append(locked, controller)
		}
	}
	return locked
}
