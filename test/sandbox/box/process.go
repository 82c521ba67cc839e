// SPDX-License-Identifier: Apache-2.0

package box

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Process is a program that was started in the box.
type Process struct {
	// PID is its number outside, by which it gets signals; 0 if it had ended before it was looked for.
	PID int
	// Done is closed when it has exited, after Err was set: nil for exit code 0.
	Done chan struct{}
	Err  error
}

// errBoxEnded is the error of a process whose box has stopped.
var errBoxEnded = errors.New("its box has stopped")

// Run starts a program in the box, in a new process group.
func (b *Box) Run(c Command) (*Process, error) {
	b.mu.Lock()
	b.last++
	id := b.last
	b.mu.Unlock()
	replies := b.expect(id)
	if err := b.send(Request{ID: id, Command: c}); err != nil {
		return nil, err
	}
	reply, ok := <-replies
	if !ok {
		return nil, errBoxEnded
	}
	if reply.Error != "" {
		return nil, errors.New(reply.Error)
	}
	p := &Process{PID: outsidePID("/proc", b.cmd.Process.Pid, reply.PID), Done: make(chan struct{})}
	go func() {
		p.Err = errBoxEnded
		if reply, ok := <-replies; ok {
			p.Err = nil
			if reply.Ended != EndedWell {
				p.Err = errors.New(reply.Ended)
			}
		}
		close(p.Done)
	}()
	return p, nil
}

// outsidePID finds the number outside of a process that process 1 has started, or 0 when it is not there any more.
func outsidePID(proc string, parent, inside int) int {
	entries, err := os.ReadDir(proc)
	if err != nil {
		return 0
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		status, err := os.ReadFile(filepath.Join(proc, entry.Name(), "status"))
		if err != nil {
			continue
		}
		if statusField(string(status), "PPid") == strconv.Itoa(parent) {
			numbers := strings.Fields(statusField(string(status), "NSpid"))
			if len(numbers) > 1 && numbers[len(numbers)-1] == strconv.Itoa(inside) {
				return pid
			}
		}
	}
	return 0
}

// statusField returns one line of /proc/PID/status.
func statusField(status, name string) string {
	for line := range strings.Lines(status) {
		if key, value, ok := strings.Cut(line, ":"); ok && key == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
