// SPDX-License-Identifier: Apache-2.0

package render

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/paddle-volcano/paddle-volcano/controller/keys"
)

func TestPaddleIP(t *testing.T) {
	for name, c := range map[string]struct {
		ips  []string
		want string
	}{
		"IPv4":             {[]string{"10.0.0.1"}, "10.0.0.1"},
		"IPv4 and IPv6":    {[]string{"10.0.0.1", "fd00::1"}, "10.0.0.1"},
		"IPv6 and IPv4":    {[]string{"fd00::1", "10.0.0.1"}, "10.0.0.1"},
		"IPv6":             {[]string{"fd00::1"}, "fd00::1"},
		"none":             {[]string{""}, ""},
		"IPv6 and nothing": {[]string{"fd00::1", ""}, "fd00::1"},
	} {
		t.Run(name, func(t *testing.T) {
			pod := pod("wide", RolePS, "0", c.ips[0])
			for _, ip := range c.ips {
				pod.Status.PodIPs = append(pod.Status.PodIPs, corev1.PodIP{IP: ip})
			}
			require.Equal(t, c.want, PaddleIP(pod))
		})
	}
}

// A pod is listed by the text by which it knows itself.
func TestToldAddressesCount(t *testing.T) {
	job := paddleJob(1, 1)
	server, worker := pod("wide", RolePS, "0", "fd00::1"), pod("wide", RoleWorker, "0", "fd00::2")
	addresses, before, missing := PodAddresses(job, []*corev1.Pod{server, worker})
	require.Empty(t, missing)
	require.Equal(t, Addresses{RolePS: {"fd00::1"}, RoleWorker: {"fd00::2"}}, addresses)
	server.Annotations[keys.Address] = "10.0.0.1"
	addresses, after, _ := PodAddresses(job, []*corev1.Pod{server, worker})
	require.Equal(t, Addresses{RolePS: {"10.0.0.1"}, RoleWorker: {"fd00::2"}}, addresses)
	require.NotEqual(t, before, after)
}
