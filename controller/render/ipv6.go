// SPDX-License-Identifier: Apache-2.0

package render

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// PaddleIP is the address by which Paddle can reach a pod: its IPv4 address where it has one, else what it has.
//
// Paddle splits every endpoint at its colons, and its launcher, its stores and its servers open IPv4 sockets only
// (distributed/launch/context/node.py, fleet/base/role_maker.py), so an IPv6 address serves nobody but a pod alone.
func PaddleIP(pod *corev1.Pod) string {
	if !IPv6(pod.Status.PodIP) {
		return pod.Status.PodIP
	}
	for _, ip := range pod.Status.PodIPs {
		if ip.IP != "" && !IPv6(ip.IP) {
			return ip.IP
		}
	}
	return pod.Status.PodIP
}

// IPv6 says whether an address is one.
func IPv6(address string) bool { return strings.Contains(address, ":") }
