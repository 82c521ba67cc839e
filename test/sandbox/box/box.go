// SPDX-License-Identifier: Apache-2.0

package box

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Box is a set of namespaces in which programs run. It ends with this process.
type Box struct {
	settings Settings
	cmd      *exec.Cmd
	socket   *os.File
	// ended is closed when process 1 has exited, after exit was set.
	ended chan struct{}
	exit  error

	mu      sync.Mutex
	last    int
	waiting map[int]chan Reply
}

// endGrace is how long process 1 may take to end everything.
const endGrace = 10 * time.Second

// Start creates a box. The binary is paddle-box, and log receives its output. It must be called by a process that
// [ModeFor] allows.
//
// Process 1 keeps the files in hold open, and with them their locks.
func Start(binary, log string, mode Mode, s Settings, hold ...*os.File) (*Box, error) {
	if err := RemoveCgroups(s.Name); err != nil {
		return nil, fmt.Errorf("remove what an earlier box left: %w", err)
	}
	parent, child, err := socketPair()
	if err != nil {
		return nil, err
	}
	b := &Box{settings: s, socket: parent, ended: make(chan struct{}), waiting: map[int]chan Reply{}}
	files := []*os.File{child}
	defer func() {
		for _, file := range files {
			file.Close() //nolint:errcheck // the child has its own copy
		}
	}()
	for _, port := range s.Ports {
		file, err := listen(port)
		if err != nil {
			return nil, errors.Join(err, parent.Close())
		}
		files = append(files, file)
	}
	output, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the box's log: %w", err), parent.Close())
	}
	defer output.Close()         //nolint:errcheck // the child has its own copy
	b.cmd = exec.Command(binary) //nolint:gosec // a program of this project
	b.cmd.Stdout, b.cmd.Stderr, b.cmd.ExtraFiles = output, output, slices.Concat(files, hold)
	b.cmd.SysProcAttr = attributes(mode)
	ready := b.expect(0)
	if err := b.cmd.Start(); err != nil {
		if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSPC) {
			err = &UnsupportedError{Missing: []string{fmt.Sprintf("%s: making namespaces is refused (%v); a seccomp filter or a security module may do so", mode, err)}}
		}
		return nil, errors.Join(fmt.Errorf("make the box's namespaces: %w", err), parent.Close())
	}
	go b.read()
	if err := b.send(s); err != nil {
		return nil, errors.Join(err, b.Stop())
	}
	if reply, ok := <-ready; !ok || reply.Error != "" {
		if !ok {
			reply.Error = "process 1 has ended; see " + log
		}
		return nil, errors.Join(fmt.Errorf("set up the box: %s", reply.Error), b.Stop())
	}
	return b, nil
}

func attributes(mode Mode) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{
		// ^C must reach the box only through this process.
		Setsid:     true,
		Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC,
	}
	if mode == Rootless {
		a.Cloneflags |= unix.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	return a
}

func socketPair() (parent, child *os.File, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make the socket to the box: %w", err)
	}
	return os.NewFile(uintptr(pair[0]), "box"), os.NewFile(uintptr(pair[1]), "outside"), nil
}

// listen opens a port here, outside, for the box: a socket stays in the network namespace in which it was made.
func listen(port int) (*os.File, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("listen for the box: %w", err)
	}
	defer listener.Close()                          //nolint:errcheck // the copy stays open
	file, err := listener.(*net.TCPListener).File() //nolint:errcheck // it is one
	if err != nil {
		return nil, fmt.Errorf("listen for the box: %w", err)
	}
	return file, nil
}

func (b *Box) send(message any) error {
	data, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("write to the box: %w", err)
	}
	if _, err := b.socket.Write(append(data, '\n')); err != nil {
		return fmt.Errorf("write to the box: %w", err)
	}
	return nil
}

// expect returns where the replies to a request will come, which is closed when the box ends.
func (b *Box) expect(id int) chan Reply {
	b.mu.Lock()
	defer b.mu.Unlock()
	replies := make(chan Reply, 2)
	if b.waiting == nil {
		close(replies)
	} else {
		b.waiting[id] = replies
	}
	return replies
}

// read hands out replies until the box has stopped.
func (b *Box) read() {
	decoder := json.NewDecoder(b.socket)
	for {
		var reply Reply
		if err := decoder.Decode(&reply); err != nil {
			break
		}
		b.mu.Lock()
		if replies := b.waiting[reply.ID]; replies != nil {
			replies <- reply
			if reply.Ended != "" || reply.Error != "" {
				delete(b.waiting, reply.ID)
			}
		}
		b.mu.Unlock()
	}
	b.exit = b.cmd.Wait()
	close(b.ended)
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, replies := range b.waiting {
		close(replies)
		delete(b.waiting, id)
	}
	b.waiting = nil
}

// Stop ends everything in the box and waits until nothing of it is left. It may be called twice, and of nil.
func (b *Box) Stop() error {
	if b == nil {
		return nil
	}
	var errs []error
	// Closing the direction of requests stops process 1; its replies can still be read.
	if err := unix.Shutdown(int(b.socket.Fd()), unix.SHUT_WR); err != nil && !errors.Is(err, unix.ENOTCONN) && !errors.Is(err, unix.EBADF) {
		errs = append(errs, fmt.Errorf("end the box: %w", err))
	}
	select {
	case <-b.ended:
	case <-time.After(endGrace):
		errs = append(errs, fmt.Errorf("the box has not ended in %s and is killed", endGrace), b.cmd.Process.Kill())
		<-b.ended
	}
	if err := b.socket.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		errs = append(errs, fmt.Errorf("close the socket to the box: %w", err))
	}
	// Process 1 has done so itself, unless it was killed.
	return errors.Join(append(errs, RemoveCgroups(b.settings.Name))...)
}
