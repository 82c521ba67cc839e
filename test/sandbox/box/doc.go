// SPDX-License-Identifier: Apache-2.0

// Package box runs programs in separate mount, network, process, host name and IPC namespaces, so that a container runtime leaves
// nothing on the machine.
//
// A box is one process, the program paddle-box, which is process 1 of the box's process namespace and starts all others on
// request. It ends when the socket to the process that made the box is closed, also by kill -9: then it kills every other process,
// removes the box's cgroups and exits, and with it the kernel drops mounts and links. Package inside is that process.
package box
