// SPDX-License-Identifier: Apache-2.0

package box

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

const allCapabilities = 1<<41 - 1

func TestModeFor(t *testing.T) {
	t.Parallel()
	open := map[string]string{sysctlMaxUserNamespaces: "96365"}
	closed := map[string]string{sysctlMaxUserNamespaces: "0"}
	tests := map[string]struct {
		machine Machine
		mode    Mode
		missing []string
	}{
		"root":       {machine: Machine{Capabilities: allCapabilities, Sysctls: closed}},
		"rootless":   {machine: Machine{UID: 1000, Sysctls: open}, mode: Rootless},
		"an old one": {machine: Machine{UID: 1000, Sysctls: map[string]string{sysctlMaxUserNamespaces: "1", sysctlUnprivilegedClone: "1", sysctlAppArmor: "0"}}, mode: Rootless},
		"root of a container that may have user namespaces": {
			machine: Machine{Capabilities: allCapabilities &^ (1 << unix.CAP_SYS_ADMIN), Sysctls: open}, mode: Rootless,
		},
		"cgroups that are only read": {
			machine: Machine{Capabilities: allCapabilities, ReadOnlyCgroups: []string{"/sys/fs/cgroup"}, Sysctls: open}, mode: Rootless,
		},
		"root of a plain container": {
			machine: Machine{Capabilities: allCapabilities &^ (1<<unix.CAP_SYS_ADMIN | 1<<unix.CAP_NET_ADMIN), ReadOnlyCgroups: []string{"/sys/fs/cgroup"}, Sysctls: closed},
			missing: []string{
				"as root: the capability CAP_SYS_ADMIN is missing", "as root: the capability CAP_NET_ADMIN is missing",
				"as root: no cgroup can be made in /sys/fs/cgroup", "rootless: the sysctl user.max_user_namespaces is 0",
			},
		},
		"cgroups without controllers": {
			machine: Machine{Capabilities: allCapabilities, LockedControllers: []string{"cpu", "pids"}, Sysctls: closed},
			missing: []string{"as root: cgroup.subtree_control of the topmost cgroup lacks cpu, pids", "rootless: the sysctl user.max_user_namespaces is 0"},
		},
		"no cgroups": {
			machine: Machine{Capabilities: allCapabilities, NoCgroups: true},
			missing: []string{"as root: no cgroups are mounted", "rootless: the kernel has no user namespaces"},
		},
		"a user of Debian of old": {
			machine: Machine{UID: 1000, Sysctls: map[string]string{sysctlMaxUserNamespaces: "9", sysctlUnprivilegedClone: "0"}},
			missing: []string{"as root: this is user 1000", "rootless: the sysctl kernel.unprivileged_userns_clone is 0: it must be 1"},
		},
		"a user of Ubuntu": {
			machine: Machine{UID: 1000, Sysctls: map[string]string{sysctlMaxUserNamespaces: "9", sysctlAppArmor: "1"}},
			missing: []string{"as root: this is user 1000", "rootless: the sysctl kernel.apparmor_restrict_unprivileged_userns is 1: it must be 0"},
		},
		"no Debian": {
			machine: Machine{Capabilities: allCapabilities, MissingTools: []string{"apt-get", "dpkg"}},
			missing: []string{"the program apt-get is not installed", "the program dpkg is not installed"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mode, err := ModeFor(test.machine)
			if test.missing == nil {
				require.NoError(t, err)
				require.Equal(t, test.mode, mode)
				return
			}
			var unsupported *UnsupportedError
			require.ErrorAs(t, err, &unsupported)
			require.Equal(t, test.missing, unsupported.Missing)
			for _, line := range test.missing {
				require.ErrorContains(t, err, line)
			}
		})
	}
}

func TestEachNeededCapabilityCounts(t *testing.T) {
	t.Parallel()
	for _, c := range needed {
		_, err := ModeFor(Machine{Capabilities: allCapabilities &^ (1 << c.bit)})
		require.ErrorContains(t, err, c.name)
	}
}

func TestProbe(t *testing.T) {
	t.Parallel()
	m, err := Probe("go", "no-such-program")
	require.NoError(t, err)
	require.Equal(t, []string{"no-such-program"}, m.MissingTools)
	require.Contains(t, m.Sysctls, sysctlMaxUserNamespaces)
}

func TestExitCode(t *testing.T) {
	t.Parallel()
	require.Equal(t, 3, ExitCode(fmt.Errorf("start: %w", &UnsupportedError{Missing: []string{"CAP_SYS_ADMIN"}})))
	require.Equal(t, 1, ExitCode(errors.New("anything else")))
}
