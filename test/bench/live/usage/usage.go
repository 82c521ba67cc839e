// SPDX-License-Identifier: Apache-2.0

// Package usage reports how much processor time and memory the processes of a sandbox, and this one, have used (proc(5)).
package usage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"syscall"

	"github.com/prometheus/procfs"

	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// Process is what one has used.
type Process struct {
	// CPU is in seconds of one processor. RSS is the resident memory in MiB, and Peak the most of it.
	CPU  float64 `json:"cpu_s"`
	RSS  float64 `json:"rss_mib,omitempty"`
	Peak float64 `json:"peak_mib"`
}

// Self is the name of this process, which submits, reads the audit log, and is the limit's client. Its peak is since its start, and its RSS is not read.
const Self = "benchmark"

// Others is the name of all else that runs on this machine; it has no peak.
const Others = "others"

// Mark is what the processes had used at some moment.
type Mark map[string]spent

type spent struct {
	pid int
	cpu float64
}

// Begin marks this moment, and has the peaks of memory begin at what is used now.
func Begin(p *live.Plane) (Mark, error) {
	mark := Mark{}
	for name, pid := range running(p) {
		cpu, err := processor(pid)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it exited
		}
		if err != nil {
			return nil, err
		}
		mark[name] = spent{pid: pid, cpu: cpu}
		if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0o600); err != nil && name != Self {
			return nil, fmt.Errorf("reset the peak memory of %s: %w", name, err)
		}
	}
	busy, err := machine()
	mark[Others] = spent{cpu: busy}
	return mark, err
}

// Since returns what the processes that run have used since; all that they have, where they were started later.
func (m Mark) Since(p *live.Plane) (map[string]Process, error) {
	busy, err := machine()
	if err != nil {
		return nil, err
	}
	used, components := map[string]Process{}, 0.0
	for name, pid := range running(p) {
		cpu, err := processor(pid)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if before, ok := m[name]; ok && before.pid == pid {
			cpu -= before.cpu
		}
		process := Process{CPU: cpu}
		if name == Self {
			process.Peak = selfPeak()
		} else if process.RSS, process.Peak, err = p.Memory(name); err != nil {
			return nil, err
		}
		used[name] = process
		components += cpu
	}
	used[Others] = Process{CPU: max(0, busy-m[Others].cpu-components)}
	return used, nil
}

func running(p *live.Plane) map[string]int {
	pids := map[string]int{Self: os.Getpid()}
	for _, c := range sandbox.ComponentStatuses(p.StateDir()) {
		if pid, err := strconv.Atoi(c.Process); err == nil {
			pids[c.Name] = pid
		}
	}
	return pids
}

// processor returns the time that a process has had of processors, in seconds; an error is [fs.ErrNotExist] where the process exited.
func processor(pid int) (float64, error) {
	process, err := procfs.NewProc(pid)
	if err != nil {
		return 0, fmt.Errorf("read the processor time of process %d: %w", pid, err)
	}
	stat, err := process.Stat()
	if err != nil {
		return 0, fmt.Errorf("read the processor time of process %d: %w", pid, err)
	}
	return stat.CPUTime(), nil
}

// machine returns the time that its processors have been busy, in seconds. Guests' is in user's.
func machine() (float64, error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return 0, fmt.Errorf("read the machine's processor time: %w", err)
	}
	stat, err := fs.Stat()
	if err != nil {
		return 0, fmt.Errorf("read the machine's processor time: %w", err)
	}
	all := stat.CPUTotal
	return all.User + all.Nice + all.System + all.IRQ + all.SoftIRQ + all.Steal, nil
}

func selfPeak() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Maxrss) / 1024
}
