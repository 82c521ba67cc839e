// SPDX-License-Identifier: Apache-2.0

package node

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
)

func (n Node) containerdConfig() string { return n.file("containerd.toml") }

// RuntimeReady is in each line of containerd's log after which a kubelet may start; before it would give up at once.
const RuntimeReady = "Start streaming server"

// ContainerdArgs start containerd.
func (n Node) ContainerdArgs() []string { return []string{"--config", n.containerdConfig()} }

// ImportArgs make ctr import an archive of images for Kubernetes.
func ImportArgs(archive string) []string {
	return []string{"--address", Socket, "--namespace", "k8s.io", "images", "import", archive}
}

func (n Node) containerd() string {
	runc := n.runc()
	if n.Rootless() {
		runc = n.rootlessRunc()
	}
	return fmt.Sprintf(`version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
# A process that may not lower the scores of others cannot set its own below what it was born with.
oom_score = 0
disabled_plugins = ["io.containerd.internal.v1.opt", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs",
  "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.aufs", "io.containerd.tracing.processor.v1.otlp"]

[grpc]
address = %[1]q

[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = %[2]q
stream_server_address = "127.0.0.1"
# Containers ask for scores below the sandbox's own, which takes CAP_SYS_RESOURCE.
restrict_oom_score_adj = true
# Loading a profile changes the machine.
disable_apparmor = true
disable_hugetlb_controller = true
# Its default lies where a network namespace would stay mounted.
netns_mounts_under_state_dir = true
disable_cgroup = %[3]t

[plugins."io.containerd.grpc.v1.cri".containerd]
snapshotter = "overlayfs"
default_runtime_name = "runc"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
BinaryName = %[4]q
SystemdCgroup = false

[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = %[5]q
conf_dir = %[6]q
`, Socket, PauseImage, n.Rootless(), runc, filepath.Join(n.Parts, "usr/lib/cni"), filepath.Dir(n.network()))
}

func (n Node) network() string { return n.file("cni/net.conflist") }

// cni links pods to the box's bridge, whose address is their gateway.
func (n Node) cni() string {
	data, err := json.MarshalIndent(map[string]any{
		"cniVersion": "1.0.0", "name": "paddle-sandbox",
		"plugins": []any{map[string]any{
			"type": "bridge", "bridge": Bridge, "isGateway": true, "isDefaultGateway": true, "hairpinMode": true,
			"ipam": map[string]any{
				"type": "host-local", "dataDir": "/run/cni",
				"ranges": []any{[]any{map[string]any{"subnet": Address.Masked().String(), "gateway": Address.Addr().String()}}},
			},
		}},
	}, "", "  ")
	if err != nil {
		panic(err) // only strings and truth values are in it
	}
	return string(data)
}

func (n Node) rootlessRunc() string { return n.file("runc") }

// runcWrapper takes the group out of the terminals' file system, because a user namespace of one user has no group 5.
func (n Node) runcWrapper() string {
	return `#!/bin/sh
previous=
for argument; do
  if [ "$previous" = --bundle ]; then
    sed -i 's/,"gid=5"//; s/"gid=5",//' "$argument/config.json"
  fi
  previous=$argument
done
exec ` + strconv.Quote(n.runc()) + ` "$@"
`
}
