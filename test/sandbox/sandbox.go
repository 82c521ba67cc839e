// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"k8s.io/client-go/rest"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox/box"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/filelock"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/ports"
)

// Sandbox is a control plane that runs.
type Sandbox struct {
	layout   layout
	progress progress
	config   *rest.Config
	cluster  *cluster
	record   *Record
	lock     *filelock.Lock
	ports    *ports.Set
	// box is where the components run if there is a real node, whose parts are in the folder parts.
	box   *box.Box
	parts string

	// binaries are paths by name.
	binaries map[string]string

	mu         sync.Mutex
	components map[string]component
	// addresses are where components serve metrics over HTTP.
	addresses map[string]string
	processes map[string]*process
	stopped   bool
	// failed gets the first component that died by itself.
	failed chan error
}

// endGrace is how long a component may take to end; nothing it could still save is needed.
const endGrace = 2 * time.Second

// StateDir returns the folder of everything that the sandbox writes.
func (s *Sandbox) StateDir() string { return string(s.layout) }

// Kubeconfig returns the path of the administrator's kubeconfig.
func (s *Sandbox) Kubeconfig() string { return s.layout.adminKubeconfig() }

// RESTConfig returns the administrator's client configuration, without limits on the client's side.
func (s *Sandbox) RESTConfig() *rest.Config { return rest.CopyConfig(s.config) }

// Logs returns the path of a component's log.
func (s *Sandbox) Logs(component string) string { return s.layout.logs(component) }

// Address returns the host and port where a component serves its metrics over plain HTTP: Scheduler, VolcanoController and
// Controller do. It is empty for others, and for those that were left out.
func (s *Sandbox) Address(component string) string { return s.addresses[component] }

// Failed receives an error when a component exits by itself. The others keep running.
func (s *Sandbox) Failed() <-chan error { return s.failed }

// StartComponent starts a component that Kill has stopped, as it was started first, and with more arguments, which win. A kwok that
// starts again waits 40 s or more until the leases of the nodes have expired, and version 0.7.0 may ignore pods that were bound before
// that.
func (s *Sandbox) StartComponent(name string, more ...string) error {
	return s.StartBuild(name, "", more...)
}

// StartBuild is StartComponent with another binary of the component, unless that is "".
func (s *Sandbox) StartBuild(name, binary string, more ...string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.components[name]
	if !ok {
		return fmt.Errorf("component %q is not part of this sandbox: its components are %s", name, strings.Join(s.names(), ", "))
	}
	if s.stopped {
		return fmt.Errorf("start %s: the sandbox has been stopped", name)
	}
	if p := s.processes[name]; p != nil && p.alive() {
		return fmt.Errorf("component %s runs already as process %d", name, p.pid)
	}
	c.binary, c.args = cmp.Or(binary, c.binary), slices.Concat(c.args, more)
	p, err := spawn(c, s.layout)
	if err != nil {
		return err
	}
	s.processes[name] = p
	go s.watch(name, p)
	return nil
}

// watch reports a component that ends by itself.
func (s *Sandbox) watch(name string, p *process) {
	<-p.done
	if p.expected() {
		return
	}
	err := fmt.Errorf("component %s died by itself (%s); the end of its log %s:\n%s", name, describe(p.err), s.Logs(name), tail(s.Logs(name)))
	s.progress.say("ERROR: %v", err)
	s.mu.Lock()
	s.record.Failure = err.Error()
	s.mu.Unlock()
	s.report(err)
}

// report keeps the first failure for Failed.
func (s *Sandbox) report(err error) {
	select {
	case s.failed <- err:
	default:
	}
}

func describe(err error) string {
	if err == nil {
		return "exit status 0"
	}
	return err.Error()
}

// Kill sends a signal to a component. After SIGTERM, SIGINT and SIGKILL it waits until the component has exited.
func (s *Sandbox) Kill(name string, sig syscall.Signal) error {
	s.mu.Lock()
	p := s.processes[name]
	s.mu.Unlock()
	if p == nil || !p.alive() {
		return fmt.Errorf("send %s to component %s: it does not run", sig, name)
	}
	switch sig {
	case syscall.SIGTERM, syscall.SIGINT, syscall.SIGKILL:
		p.expect()
		if err := p.signal(sig); err != nil {
			return err
		}
		select {
		case <-p.done:
			return nil
		case <-time.After(time.Minute):
			return fmt.Errorf("component %s has not ended a minute after %s", name, sig)
		}
	default:
		return p.signal(sig)
	}
}

// RestartController stops paddlejob-controller as a rolling update would, starts it again, and waits until it is ready.
func (s *Sandbox) RestartController(ctx context.Context) error {
	if err := s.Kill(Controller, syscall.SIGTERM); err != nil {
		return err
	}
	if err := s.StartComponent(Controller); err != nil {
		return err
	}
	return s.controllerReady(ctx)
}

// controllerReady waits until paddlejob-controller answers, if it is part of the sandbox.
func (s *Sandbox) controllerReady(ctx context.Context) error {
	at := s.Address(Controller)
	if at == "" {
		return nil
	}
	return until(ctx, "paddlejob-controller to be ready", func(ctx context.Context) error { return healthy(ctx, "http://"+at+"/readyz") })
}

// Stop ends every component, in the reverse order of their start, and releases the ports and the state folder, whose
// files stay for reading. It may be called twice.
func (s *Sandbox) Stop() error {
	s.mu.Lock()
	if s.stopped {
		s.mu.Unlock()
		return nil
	}
	s.stopped = true
	processes := s.processes
	s.mu.Unlock()

	errs := []error{s.stopBox(processes)}
	// What talks to the API server ends first, together; then the API server; then etcd.
	for _, wave := range [][]string{clients(processes), {APIServer}, {Etcd}} {
		ended := make(chan error)
		for _, name := range wave {
			go func() {
				if p := processes[name]; p != nil && p.alive() {
					ended <- p.end(endGrace)
					return
				}
				ended <- nil
			}()
		}
		for range wave {
			errs = append(errs, <-ended)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.record.Ready = false
	errs = append(errs, s.layout.write(s.record), s.ports.Release(), s.lock.Release())
	return errors.Join(errs...)
}

// clients returns the components that talk to the API server.
func clients(all map[string]*process) []string {
	return slices.DeleteFunc(slices.Collect(maps.Keys(all)), func(name string) bool { return name == Etcd || name == APIServer })
}

func (s *Sandbox) names() []string {
	return slices.DeleteFunc(Components(), func(name string) bool { _, ok := s.components[name]; return !ok })
}

// tailBytes is about 30 lines of a log.
const tailBytes = 4096

func tail(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	if len(data) > tailBytes {
		data = data[len(data)-tailBytes:]
		if _, rest, ok := strings.Cut(string(data), "\n"); ok {
			return strings.TrimRight(rest, "\n")
		}
	}
	return strings.TrimRight(string(data), "\n")
}

// StartSecond runs one more process of a component, under another name, by which Kill, StartComponent and Logs know
// it. It has the component's arguments and more, which win.
func (s *Sandbox) StartSecond(component, name string, more ...string) error {
	s.mu.Lock()
	c, ok := s.components[component]
	_, taken := s.components[name]
	if ok && !taken {
		c.name, c.args = name, slices.Concat(c.args, more)
		s.components[name] = c
	}
	s.mu.Unlock()
	switch {
	case !ok:
		return fmt.Errorf("component %q is not part of this sandbox", component)
	case taken:
		return fmt.Errorf("there is a component %q already", name)
	}
	return s.StartComponent(name)
}

// Component is one in addition to those of Components.
type Component struct {
	Name string
	// Program is the name of one of Options.Programs.
	Program string
	// Namespace and Account name the service account of the component's kubeconfig. Without an Account it has none.
	Namespace, Account string
	Args, Env          []string
}

// AddComponent prepares a component. StartComponent starts it.
func (s *Sandbox) AddComponent(ctx context.Context, c Component) error {
	binary, ok := s.binaries[c.Program]
	if !ok {
		return fmt.Errorf("add component %s: there is no program %q: name it in Options.Programs", c.Name, c.Program)
	}
	if c.Account != "" {
		token, err := s.cluster.serviceAccountToken(ctx, c.Namespace, c.Account)
		if err != nil {
			return fmt.Errorf("add component %s: %w", c.Name, err)
		}
		if err := writeKubeconfig(s.ComponentKubeconfig(c.Name), s.config.Host, s.config.CAData, c.Namespace, credentials{token: token}); err != nil {
			return fmt.Errorf("add component %s: %w", c.Name, err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken := s.components[c.Name]; taken {
		return fmt.Errorf("add component %s: there is one of that name", c.Name)
	}
	s.components[c.Name] = component{name: c.Name, binary: binary, args: c.Args, env: c.Env}
	return nil
}

// Program returns the path of one of Options.Programs.
func (s *Sandbox) Program(name string) string { return s.binaries[name] }

// TakePorts returns free ports of 127.0.0.1, which are the sandbox's until it is stopped.
func (s *Sandbox) TakePorts(n int) ([]int, error) { return s.ports.Take(n) }

// AwaitEnd waits until a component has exited by itself, which is then no failure of the sandbox.
func (s *Sandbox) AwaitEnd(ctx context.Context, name string) error {
	s.mu.Lock()
	p := s.processes[name]
	s.mu.Unlock()
	if p == nil {
		return fmt.Errorf("component %s was never started", name)
	}
	p.expect()
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("component %s has not ended: %w", name, ctx.Err())
	}
}

// ComponentKubeconfig returns the path of a component's kubeconfig, with the permissions of its manifest.
func (s *Sandbox) ComponentKubeconfig(component string) string { return s.layout.kubeconfig(component) }
