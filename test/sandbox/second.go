// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"fmt"
	"slices"
)

// StartSecond runs one more process of a component, under a name of its own, by which Kill, StartComponent and Logs know
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

// AwaitEnd waits until a component has ended by itself, which is then no failure of the sandbox.
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

// ComponentKubeconfig is the path of a component's kubeconfig, with the rights that its manifest gives it.
func (s *Sandbox) ComponentKubeconfig(component string) string { return s.layout.kubeconfig(component) }
