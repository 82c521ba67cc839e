// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Record is what a sandbox writes down about itself, as sandbox.json in its state folder.
type Record struct {
	// PID is the process that holds the sandbox; its components die with it.
	PID        int       `json:"pid"`
	Started    time.Time `json:"started"`
	Kubeconfig string    `json:"kubeconfig"`
	Nodes      int       `json:"nodes"`
	// Ready is true from when Start returns the sandbox until it is stopped.
	Ready bool `json:"ready"`
	// Failure is why the sandbox ended by itself, if it did.
	Failure string `json:"failure,omitempty"`
}

// ErrNone says that a folder holds no sandbox, not even one that has ended.
var ErrNone = errors.New("no sandbox is here")

// ReadRecord returns what the sandbox of a state folder wrote down, and whether it runs.
func ReadRecord(stateDir string) (*Record, bool, error) {
	l := layout(stateDir)
	data, err := os.ReadFile(l.marker())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, fmt.Errorf("folder %s: %w", stateDir, ErrNone)
	}
	if err != nil {
		return nil, false, fmt.Errorf("read the sandbox's record: %w", err)
	}
	record := &Record{}
	if err := json.Unmarshal(data, record); err != nil {
		return nil, false, fmt.Errorf("read the sandbox's record %s: %w", l.marker(), err)
	}
	held, err := isLocked(l.lock())
	if err != nil {
		return nil, false, err
	}
	return record, held, nil
}

func (l layout) write(record *Record) error {
	data, err := json.MarshalIndent(record, "", "  ")
	if err != nil {
		return fmt.Errorf("write the sandbox's record: %w", err)
	}
	// Renamed into place, so that nobody reads half of it.
	temporary := l.marker() + ".new"
	if err := os.WriteFile(temporary, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("write the sandbox's record: %w", err)
	}
	if err := os.Rename(temporary, l.marker()); err != nil {
		return fmt.Errorf("write the sandbox's record: %w", err)
	}
	return nil
}

// downGrace is how long the process that holds a sandbox may take to stop it before it is killed, which the components
// do not survive.
const downGrace = 30 * time.Second

// Down stops the sandbox of a state folder, whoever started it, and reports whether one ran.
func Down(ctx context.Context, stateDir string) (bool, error) {
	record, running, err := ReadRecord(stateDir)
	if errors.Is(err, ErrNone) {
		return false, nil
	}
	if err != nil || !running {
		return false, err
	}
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if err := syscall.Kill(record.PID, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
			return true, fmt.Errorf("stop process %d, which holds the sandbox: %w", record.PID, err)
		}
		wait, cancel := context.WithTimeout(ctx, downGrace)
		err = until(wait, "the sandbox to end", func(context.Context) error {
			held, err := isLocked(layout(stateDir).lock())
			if err == nil && held {
				err = fmt.Errorf("process %d still holds it", record.PID)
			}
			return err
		})
		cancel()
		if err == nil || ctx.Err() != nil {
			return true, err
		}
	}
	return true, err
}

// ComponentStatus is what can be seen of a component from outside.
type ComponentStatus struct {
	Name string
	// Process is the process's number, or what else there is to say.
	Process string
	// Log is the path of its log.
	Log string
}

// ComponentStatuses lists the components that a sandbox has started.
func ComponentStatuses(stateDir string) []ComponentStatus {
	l := layout(stateDir)
	var out []ComponentStatus
	for _, name := range Components() {
		data, err := os.ReadFile(l.pid(name))
		if err != nil {
			continue
		}
		status := ComponentStatus{Name: name, Process: strings.TrimSpace(string(data)), Log: l.logs(name)}
		if pid, err := strconv.Atoi(status.Process); err != nil || syscall.Kill(pid, 0) != nil {
			status.Process = "ended"
		}
		out = append(out, status)
	}
	return out
}
