// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"fmt"
	"path/filepath"
)

// Program is built from a module of the clone that pins it.
type Program struct {
	// Name is that of the file in _output/bin. Module is the folder of the module, and Package its main package.
	Name, Module, Package string
}

func (p Program) build() build {
	return build{name: p.Name, module: p.Module, pkg: p.Package, stamped: true}
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

// Module returns the version of a module that a module of the clone requires, and the folder of its files.
func Module(ctx context.Context, folder, path string) (version, dir string, err error) {
	root, err := findRoot()
	if err != nil {
		return "", "", err
	}
	folder = filepath.Join(root, folder)
	if dir, err = moduleDir(ctx, folder, path); err != nil {
		return "", "", fmt.Errorf("find module %s: %w", path, err)
	}
	version, err = goOutput(ctx, folder, "list", "-m", "-f", "{{.Version}}", path)
	return version, dir, err
}
