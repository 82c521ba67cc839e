// SPDX-License-Identifier: Apache-2.0

package box

import (
	"os"
	"os/exec"
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

// Probe looks at this machine, without changing anything.
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
