// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

func example(cgroup string) Node {
	return Node{Name: "real-0", Dir: "/state/node", Parts: "/parts", Cgroup: cgroup, DNSReady: 20001, CA: "/ca", Cert: "/cert", Key: "/key"}
}

// TestFiles checks what differs with the mode, and that what machines parse can be parsed.
func TestFiles(t *testing.T) {
	t.Parallel()
	for _, cgroup := range []string{"box", ""} {
		n := example(cgroup)
		files, err := n.Files()
		require.NoError(t, err)
		for path := range files {
			require.Contains(t, path, n.Dir+"/")
		}
		var kubelet map[string]any
		require.NoError(t, yaml.UnmarshalStrict([]byte(files[n.kubeletConfig()]), &kubelet))
		require.True(t, json.Valid([]byte(files[n.network()])))
		require.Contains(t, files[n.corefile()], "kubeconfig "+n.CoreDNSKubeconfig())
		if n.Rootless() {
			require.Equal(t, false, kubelet["cgroupsPerQOS"])
			require.NotContains(t, kubelet, "cgroupRoot")
			require.Contains(t, files[n.containerdConfig()], `BinaryName = "/state/node/runc"`)
			require.Contains(t, files[n.containerdConfig()], "disable_cgroup = true")
			require.Contains(t, files[n.rootlessRunc()], `exec "/parts/usr/sbin/runc" "$@"`)
		} else {
			require.Equal(t, "/box", kubelet["cgroupRoot"])
			require.NotContains(t, kubelet, "cgroupsPerQOS")
			require.Contains(t, files[n.containerdConfig()], `BinaryName = "/parts/usr/sbin/runc"`)
			require.NotContains(t, files, n.rootlessRunc())
		}
	}
}

// TestUnpackKeepsWhatItFound needs no network, because the folder holds every package.
func TestUnpackKeepsWhatItFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(names string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, versions), []byte(names), 0o600))
	}
	silent := func(string, ...any) {}
	write("containerd_1.6_amd64\ncontainernetworking-plugins_1.1_amd64\nrunc_1.1_amd64\n")
	require.NoError(t, Unpack(t.Context(), dir, silent))
	require.FileExists(t, filepath.Join(dir, versions))

	// A package is missing, so that all are fetched again, which a cancelled context prevents.
	write("containerd_1.6_amd64\ncontainernetworking-plugins_1.1_amd64\n")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, Unpack(ctx, filepath.Join(dir, "new"), silent), context.Canceled)
}
