// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox/box"
)

// process is one run of a component.
type process struct {
	pid int
	// done is closed when the process has exited, after err was set.
	done chan struct{}
	err  error
	// wanted is set before the sandbox ends the process itself.
	mu     sync.Mutex
	wanted bool
}

// spawner runs functions on one operating system thread that lives as long as this process: Linux sends a child its
// parent-death signal when the *thread* that made it ends.
var spawner = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

// spawn starts a command in a new process group, so that ^C does not reach it directly, and so that it is killed when this process
// dies, also by SIGKILL. Its output is appended to the log.
func spawn(c component, l layout) (*process, error) {
	run := spawnHere
	if c.box != nil {
		run = spawnInside
	}
	p, err := run(c, l)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	if err := os.WriteFile(l.pid(c.name), []byte(strconv.Itoa(p.pid)+"\n"), 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("write pid file: %w", err), p.end(0))
	}
	return p, nil
}

func spawnHere(c component, l layout) (*process, error) {
	log, err := os.OpenFile(l.logs(c.name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	defer log.Close()                        //nolint:errcheck // the child has its own copy
	cmd := exec.Command(c.binary, c.args...) //nolint:gosec // binaries and arguments of the sandbox
	cmd.Dir, cmd.Stdout, cmd.Stderr = string(l), log, log
	cmd.Env = append(os.Environ(), c.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	spawner() <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		return nil, err
	}
	p := &process{pid: cmd.Process.Pid, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// spawnInside starts a component in its box, with which it ends.
func spawnInside(c component, l layout) (*process, error) {
	run, err := c.box.Run(box.Command{Path: c.binary, Args: c.args, Env: environ(c.env), Dir: string(l), Log: l.logs(c.name)})
	if err != nil {
		return nil, err
	}
	p := &process{pid: run.PID, done: make(chan struct{})}
	go func() {
		<-run.Done
		p.err = run.Err
		close(p.done)
	}()
	return p, nil
}

// environ returns this process's environment, in which the variables of a component replace those of the same name.
func environ(more []string) []string {
	return (&exec.Cmd{Env: append(os.Environ(), more...)}).Environ()
}

// signal sends a signal to the process group. It is no error if the process has exited.
func (p *process) signal(sig syscall.Signal) error {
	select {
	case <-p.done:
		return nil
	default:
	}
	err := syscall.Kill(-p.pid, sig)
	if err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("send %s to process %d: %w", sig, p.pid, err)
	}
	return nil
}

// end asks the process to end, and kills it when it has not done so within the grace period.
func (p *process) end(grace time.Duration) error {
	p.expect()
	if grace > 0 {
		if err := p.signal(syscall.SIGTERM); err != nil {
			return err
		}
		select {
		case <-p.done:
			return nil
		case <-time.After(grace):
		}
	}
	if err := p.signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-p.done
	return nil
}

// expect records that the process is about to be stopped on purpose.
func (p *process) expect() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wanted = true
}

func (p *process) expected() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.wanted
}

func (p *process) alive() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}
