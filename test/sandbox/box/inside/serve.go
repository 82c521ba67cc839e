// SPDX-License-Identifier: Apache-2.0

package inside

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox/box"
)

// server is process 1.
type server struct {
	settings box.Settings
	socket   *os.File

	// mu is held while a process is started and reported, so that its end is reported later.
	mu       sync.Mutex
	requests map[int]int
}

// Main is all that process 1 does. It returns when every other process in the box has exited.
func Main() error {
	if os.Getpid() != 1 {
		return errors.New("this is process 1 of a box, which paddle-sandbox starts; it is of no use alone")
	}
	// Only the end of the socket ends the box.
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE)
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	if err := closeOnExec(); err != nil {
		return err
	}
	s := &server{socket: os.NewFile(box.SocketFD, "outside"), requests: map[int]int{}}
	decoder := json.NewDecoder(s.socket)
	if err := decoder.Decode(&s.settings); err != nil {
		return fmt.Errorf("read the settings: %w", err)
	}
	if err := s.setUp(); err != nil {
		s.tell(box.Reply{Error: err.Error()})
		return errors.Join(err, box.RemoveCgroups(s.settings.Name))
	}
	s.tell(box.Reply{})
	go s.reap(ended)
	for {
		var request box.Request
		if err := decoder.Decode(&request); err != nil {
			// The other side has closed the socket, or has died.
			return s.end()
		}
		s.start(request)
	}
}

// closeOnExec keeps what was handed to this process from its children.
func closeOnExec() error {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("list the open files: %w", err)
	}
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd >= box.SocketFD {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}

func (s *server) setUp() error {
	for _, step := range []func() error{s.mounts, s.network, s.cgroups, s.forward} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (s *server) cgroups() error {
	if s.settings.Name == "" {
		return coverCgroups()
	}
	return box.MakeCgroups(s.settings.Name)
}

// tell writes a reply. Without the socket an error could not be reported either.
func (s *server) tell(reply box.Reply) {
	data, err := json.Marshal(reply)
	if err == nil {
		_, err = s.socket.Write(append(data, '\n'))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "box: cannot answer:", err)
	}
}

// start runs a program. A plain fork leaves it to reap, which must see every process, to wait for it.
func (s *server) start(request box.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pid, err := fork(request.Command)
	if err != nil {
		s.tell(box.Reply{ID: request.ID, Error: fmt.Sprintf("start %s: %v", request.Command.Path, err)})
		return
	}
	s.requests[pid] = request.ID
	s.tell(box.Reply{ID: request.ID, PID: pid})
}

func fork(c box.Command) (int, error) {
	log, err := os.OpenFile(c.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, fmt.Errorf("open its log: %w", err)
	}
	defer log.Close() //nolint:errcheck // the child has its own copy
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, fmt.Errorf("open its input: %w", err)
	}
	defer null.Close() //nolint:errcheck // the child has its own copy
	return syscall.ForkExec(c.Path, append([]string{c.Path}, c.Args...), &syscall.ProcAttr{
		Dir: c.Dir, Env: c.Env, Files: []uintptr{null.Fd(), log.Fd(), log.Fd()}, Sys: &syscall.SysProcAttr{Setpgid: true},
	})
}

// reap waits for every process that ends, orphans too, and reports the end of those that were asked for.
func (s *server) reap(ended <-chan os.Signal) {
	for range ended {
		s.mu.Lock()
		for {
			var status syscall.WaitStatus
			pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
			if err != nil || pid <= 0 {
				break
			}
			if id, ok := s.requests[pid]; ok {
				delete(s.requests, pid)
				s.tell(box.Reply{ID: id, Ended: describe(status)})
			}
		}
		s.mu.Unlock()
	}
}

// describe describes an exit status as os/exec does.
func describe(status syscall.WaitStatus) string {
	if status.Signaled() {
		return "signal: " + status.Signal().String()
	}
	return fmt.Sprintf("exit status %d", status.ExitStatus())
}

// end kills all other processes of the box, and removes its cgroups, which nothing else would.
func (s *server) end() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if err := syscall.Kill(-1, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("end the box's processes: %w", err)
		}
		if _, err := syscall.Wait4(-1, nil, 0, nil); errors.Is(err, syscall.ECHILD) {
			return box.RemoveCgroups(s.settings.Name)
		}
	}
}
