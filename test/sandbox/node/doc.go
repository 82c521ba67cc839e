// SPDX-License-Identifier: Apache-2.0

// Package node knows the parts of a real node and how each is configured: containerd, runc, CNI plugins, kubelet, CoreDNS. It runs nothing but apt-get and dpkg.
//
// The node lives in a box (package box), whose /run and /var are empty at first, so most settings are the programs' own
// defaults. A comment next to each of the others says what it is for.
package node
