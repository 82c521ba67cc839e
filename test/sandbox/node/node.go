// SPDX-License-Identifier: Apache-2.0

package node

import (
	"net/netip"
	"path/filepath"
)

// Node is one real node.
type Node struct {
	// Name is the node's name in the cluster and the machine's in the box.
	Name string
	// Dir is the folder of its configuration.
	Dir string
	// Parts is the folder in which Debian's packages were unpacked.
	Parts string
	// Cgroup is the cgroup, below the root of each hierarchy, in which pods run. Empty means that it cannot have one, because
	// the box is rootless: pods have no limits then.
	Cgroup string
	// DNSReady is the port at which CoreDNS says that it knows the cluster's names.
	DNSReady int
	// CA, Cert and Key are the files of the kubelet's certificate and of the authority that signed it and its clients'.
	CA, Cert, Key string
}

// The addresses of the box: pods find each other, the API server and names without iptables and kube-proxy, which the
// machine need not have.
const (
	// Bridge is the link to which pods are linked.
	Bridge = "box0"
	// PauseImage holds the namespaces of a pod.
	PauseImage = "docker.io/paddle-sandbox/pause:1"
	// Socket is containerd's.
	Socket = "/run/containerd/containerd.sock"
	// kubeletPort is where the API server asks for logs.
	kubeletPort = 10250
)

var (
	// Address is the node's, and the network of its pods.
	Address = netip.MustParsePrefix("10.244.77.1/24")
	// API is the first address of the range of services, which clients in pods use.
	API = netip.MustParseAddr("10.0.0.1")
)

// Sysctls returns what the kubelet would set for the whole machine, with the values that satisfy it.
func Sysctls() map[string]string {
	return map[string]string{
		"vm/overcommit_memory": "1", "vm/panic_on_oom": "0", "kernel/panic": "10", "kernel/panic_on_oops": "1",
		"kernel/keys/root_maxkeys": "1000000", "kernel/keys/root_maxbytes": "25000000",
	}
}

// Rootless reports whether the node has no cgroup.
func (n Node) Rootless() bool { return n.Cgroup == "" }

func (n Node) file(name string) string { return filepath.Join(n.Dir, name) }

// Containerd returns the container runtime, one of the packages.
func (n Node) Containerd() string { return filepath.Join(n.Parts, "usr/bin/containerd") }

// Ctr returns containerd's client.
func (n Node) Ctr() string { return filepath.Join(n.Parts, "usr/bin/ctr") }

func (n Node) runc() string { return filepath.Join(n.Parts, "usr/sbin/runc") }

// Env returns the variables of the node's programs: containerd looks for its shim in PATH.
func (n Node) Env() []string {
	path := filepath.Join(n.Parts, "usr/bin") + ":" + filepath.Join(n.Parts, "usr/sbin") + ":/usr/sbin:/usr/bin:/sbin:/bin"
	return []string{"PATH=" + path, "TMPDIR=/run/tmp"}
}

// Files returns all configuration files of the node, by their path.
func (n Node) Files() (map[string]string, error) {
	files := map[string]string{
		n.containerdConfig(): n.containerd(), n.network(): n.cni(), n.resolvConf(): resolvConf(), n.corefile(): n.coreDNS(),
	}
	kubelet, err := n.kubelet()
	if err != nil {
		return nil, err
	}
	files[n.kubeletConfig()] = kubelet
	if n.Rootless() {
		files[n.rootlessRunc()] = n.runcWrapper()
	}
	return files, nil
}
