// SPDX-License-Identifier: Apache-2.0

package node

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

func (n Node) kubeletConfig() string { return n.file("kubelet.yaml") }

// KubeletArgs start the kubelet with a kubeconfig; labels are put on the node.
func (n Node) KubeletArgs(kubeconfig string, labels map[string]string) []string {
	var pairs []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		pairs = append(pairs, key+"="+labels[key])
	}
	return []string{
		"--config=" + n.kubeletConfig(), "--kubeconfig=" + kubeconfig, "--hostname-override=" + n.Name,
		"--node-ip=" + Address.Addr().String(), "--node-labels=" + strings.Join(pairs, ","),
		// The certificate is given; this is where the kubelet would make its own.
		"--cert-dir=/var/lib/kubelet/pki",
	}
}

// kubelet returns the kubelet's configuration. Everything that would touch more than the box is switched off.
func (n Node) kubelet() (string, error) {
	config := map[string]any{
		"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
		"address": Address.Addr().String(), "port": kubeletPort, "healthzPort": 0,
		"tlsCertFile": n.Cert, "tlsPrivateKeyFile": n.Key,
		"authentication": map[string]any{
			"anonymous": map[string]any{"enabled": false}, "webhook": map[string]any{"enabled": true},
			"x509": map[string]any{"clientCAFile": n.CA},
		},
		"authorization":            map[string]any{"mode": "Webhook"},
		"containerRuntimeEndpoint": "unix://" + Socket,
		"cgroupDriver":             "cgroupfs",
		"failSwapOn":               false,
		// Any other score takes CAP_SYS_RESOURCE, or makes the kernel kill other programs of the machine before the kubelet.
		"oomScoreAdj": 0,
		// Nothing here needs iptables.
		"makeIPTablesUtilChains": false,
		// The box covers the machine's settings by files with the wanted values, so that there is nothing to set.
		"protectKernelDefaults": true,
		"clusterDomain":         "cluster.local", "clusterDNS": []string{Address.Addr().String()},
		"resolvConf":      n.resolvConf(),
		"volumePluginDir": "/var/lib/kubelet/volume-plugins",
		// The machine's disk and memory are not the node's to watch over: nothing is evicted, no image collected.
		"evictionHard": map[string]string{
			"memory.available": "0%", "nodefs.available": "0%", "nodefs.inodesFree": "0%", "imagefs.available": "0%", "imagefs.inodesFree": "0%",
		},
		"imageGCHighThresholdPercent": 100,
		// The API server is there for this node alone. With 0 the kubelet sends only 5 events a second (client-go's default), and those
		// of some dozens of pods are minutes late.
		"registryPullQPS": 0, "eventRecordQPS": 1000, "eventBurst": 1000, "kubeAPIQPS": 200, "kubeAPIBurst": 400,
	}
	if n.Rootless() {
		config["cgroupsPerQOS"], config["enforceNodeAllocatable"] = false, []string{}
		config["featureGates"] = map[string]bool{"KubeletInUserNamespace": true}
		config["protectKernelDefaults"] = false
	} else {
		config["cgroupRoot"] = "/" + n.Cgroup
	}
	data, err := yaml.Marshal(config)
	if err != nil {
		return "", fmt.Errorf("write the kubelet's configuration: %w", err)
	}
	return string(data), nil
}
