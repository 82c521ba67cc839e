// SPDX-License-Identifier: Apache-2.0

package box

import (
	"net"
	"net/netip"
)

// SocketFD is the descriptor of the socket between process 1 of a box and the process that started the box; the
// forwarded listeners follow it.
const SocketFD = 3

// Settings are the first message to process 1.
type Settings struct {
	// Name is the box's cgroup, below the root of every hierarchy. Empty means none is made.
	Name string `json:"name"`
	// Hostname is the machine's name inside.
	Hostname string `json:"hostname"`
	// Keep are folders that stay as they are, though the box has another /run and /var.
	Keep []string `json:"keep,omitempty"`
	// Sysctls replace machine-wide ones, by their path below /proc/sys; what is written to them is lost.
	Sysctls map[string]string `json:"sysctls,omitempty"`
	// Bridge is the bridge's name, and Address its address and network.
	Bridge  string       `json:"bridge"`
	Address netip.Prefix `json:"address"`
	// Aliases are further addresses of the box.
	Aliases []netip.Addr `json:"aliases,omitempty"`
	// Ports are forwarded from 127.0.0.1 outside to 127.0.0.1 inside, in the order of the listeners.
	Ports []int `json:"ports,omitempty"`
	// Forward leads from addresses inside to others inside.
	Forward map[string]string `json:"forward,omitempty"`
}

// HardwareAddress returns that of the bridge with an address: it is derived from the address, and so unique in its network.
func HardwareAddress(bridge netip.Prefix) net.HardwareAddr {
	return append(net.HardwareAddr{2, 0}, bridge.Addr().AsSlice()...)
}

// Command is a program to run inside.
type Command struct {
	Path string   `json:"path"`
	Args []string `json:"args,omitempty"`
	// Env is the whole environment.
	Env []string `json:"env,omitempty"`
	Dir string   `json:"dir"`
	// Log is the file to which the output is appended.
	Log string `json:"log"`
}

// Request asks process 1 to start a command; ID is the caller's choice.
type Request struct {
	ID      int     `json:"id"`
	Command Command `json:"command"`
}

// Reply is the outcome of a request. ID 0 is the box itself: it is ready, or why not.
type Reply struct {
	ID    int    `json:"id"`
	Error string `json:"error,omitempty"`
	// PID is the new process's number inside.
	PID int `json:"pid,omitempty"`
	// Ended says how the process exited; it comes after the PID, and is empty until then.
	Ended string `json:"ended,omitempty"`
}

// EndedWell is Ended of a process with exit code 0.
const EndedWell = "exit status 0"
