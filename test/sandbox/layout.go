// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox/filelock"
)

// layout knows where in the state folder everything is. Paths are absolute.
type layout string

func (l layout) marker() string          { return filepath.Join(string(l), "sandbox.json") }
func (l layout) lock() string            { return filepath.Join(string(l), "lock") }
func (l layout) adminKubeconfig() string { return filepath.Join(string(l), "kubeconfig") }
func (l layout) schedulerConf() string   { return filepath.Join(string(l), "volcano-scheduler.conf") }
func (l layout) volcanoConf() string     { return filepath.Join(string(l), "volcano-scheduler.stock.conf") }
func (l layout) kwokConf() string        { return filepath.Join(string(l), "kwok.yaml") }
func (l layout) recyclerPod() string     { return filepath.Join(string(l), "recycler.yaml") }
func (l layout) etcdData() string        { return filepath.Join(string(l), "etcd") }
func (l layout) pki(name string) string  { return filepath.Join(string(l), "pki", name) }
func (l layout) logs(component string) string {
	return filepath.Join(string(l), "logs", component+".log")
}
func (l layout) pid(component string) string {
	return filepath.Join(string(l), "pids", component+".pid")
}
func (l layout) kubeconfig(component string) string {
	return filepath.Join(string(l), "kubeconfigs", component+".kubeconfig")
}

// claim takes the state folder for this process and empties it of an earlier sandbox. A folder that holds anything
// else is left alone.
func (l layout) claim() (*filelock.Lock, error) {
	entries, err := os.ReadDir(string(l))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the state folder: %w", err)
	}
	if len(entries) > 0 {
		if _, err := os.Stat(l.lock()); err != nil {
			return nil, fmt.Errorf("state folder %s holds files that are no sandbox's: choose another folder", l)
		}
	}
	if err := os.MkdirAll(string(l), 0o700); err != nil {
		return nil, fmt.Errorf("make the state folder: %w", err)
	}
	lock, err := filelock.Try(l.lock())
	if err != nil {
		return nil, err
	}
	if lock == nil {
		return nil, fmt.Errorf("a sandbox runs in %s already: stop it with `paddle-sandbox down --state %s`, or choose another folder", l, l)
	}
	// The record is first: with the lock held, it would say that the earlier sandbox runs.
	if err := os.Remove(l.marker()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(fmt.Errorf("empty the state folder: %w", err), lock.Release())
	}
	for _, entry := range entries {
		if entry.Name() == filepath.Base(l.lock()) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(string(l), entry.Name())); err != nil {
			return nil, errors.Join(fmt.Errorf("empty the state folder: %w", err), lock.Release())
		}
	}
	for _, dir := range []string{l.pki(""), l.etcdData(), filepath.Dir(l.logs("")), filepath.Dir(l.pid("")), filepath.Dir(l.kubeconfig(""))} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, errors.Join(fmt.Errorf("make the state folder: %w", err), lock.Release())
		}
	}
	return lock, nil
}

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

// ErrNone says that a folder holds no sandbox, not even a stopped one.
var ErrNone = errors.New("no sandbox is here")

// ReadRecord returns what the sandbox of a state folder wrote down, and whether it runs.
func ReadRecord(stateDir string) (*Record, bool, error) {
	l := layout(stateDir)
	held, err := filelock.IsHeld(l.lock()) // before the record is read, which could be that of an earlier sandbox otherwise
	if err != nil {
		return nil, false, err
	}
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
	return record, held, nil
}

func (l layout) write(record *Record) error {
	data, err := json.MarshalIndent(record, "", "  ")
	if err != nil {
		return fmt.Errorf("write the sandbox's record: %w", err)
	}
	// Renamed into place, so that no process reads a part of it.
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

// Down stops the sandbox of a state folder, which any process may have started, and reports whether one ran.
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
			held, err := filelock.IsHeld(layout(stateDir).lock())
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

// ComponentStatuses lists the components that a sandbox has started, those of Components first.
func ComponentStatuses(stateDir string) []ComponentStatus {
	l := layout(stateDir)
	names := Components()
	files, _ := filepath.Glob(l.pid("*")) // the pattern is valid
	for _, file := range files {
		if name := strings.TrimSuffix(filepath.Base(file), ".pid"); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	var out []ComponentStatus
	for _, name := range names {
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
