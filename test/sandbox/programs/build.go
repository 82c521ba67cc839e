// SPDX-License-Identifier: Apache-2.0

// Package programs builds the programs that a sandbox runs, from the sources and the pinned modules of a clone of this project,
// with Go alone. What is there already from the same pins is not built again.
package programs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox/filelock"
)

// Modules of programs, as folders of the clone.
const (
	// Sources is the module of this project's own programs.
	Sources = "."
	// Plane pins Kubernetes, etcd and Volcano. All its programs have Kubernetes' version.
	Plane = "hack/plane"
)

// Program is what one binary is built from.
type Program struct {
	// Name is that of the file in _output/bin.
	Name string
	// Module is the folder of the Go module that pins it, relative to the root of the clone, and Package its main package.
	Module, Package string
}

// pinned reports whether the pins of the module decide what the program is, so that it need not be built twice.
func (p Program) pinned() bool { return p.Module != Sources }

// output is the name that go build gives the binary.
func (p Program) output() string {
	if p.Package == "." {
		return p.Name // the module's
	}
	return path.Base(strings.TrimSuffix(p.Package, "/v3"))
}

// Build creates binaries in _output/bin of the clone with the given root, and returns their paths by name. It reports progress with
// say, a line at a time.
func Build(ctx context.Context, root string, list []Program, say func(format string, args ...any)) (map[string]string, error) {
	b := &builder{root: root, dir: filepath.Join(root, "_output", "bin"), say: say, stamps: map[string]string{}}
	if err := os.MkdirAll(b.dir, 0o755); err != nil { //nolint:gosec // binaries are for everybody to run
		return nil, fmt.Errorf("make the folder of binaries: %w", err)
	}
	if err := b.ensure(ctx, list); err != nil {
		return nil, err
	}
	paths := map[string]string{}
	for _, item := range list {
		paths[item.Name] = filepath.Join(b.dir, item.Name)
	}
	return paths, nil
}

type builder struct {
	root, dir string
	say       func(format string, args ...any)
	// stamps holds what is known of each module's pins.
	stamps map[string]string
}

// ensure builds what is not there from the same pins, a module at a time. Processes that do so at the same time take turns.
func (b *builder) ensure(ctx context.Context, list []Program) error {
	lock, err := filelock.Wait(ctx, filepath.Join(b.dir, ".lock"), func() {
		b.say("waiting for another process that builds the sandbox's programs")
	})
	if err != nil {
		return fmt.Errorf("wait for the lock of %s: %w", b.dir, err)
	}
	return errors.Join(b.locked(ctx, list), lock.Release())
}

func (b *builder) locked(ctx context.Context, list []Program) error {
	var modules []string
	missing := map[string][]Program{}
	for _, item := range list {
		current, err := b.current(ctx, item)
		if err != nil {
			return err
		}
		if current {
			continue
		}
		if missing[item.Module] == nil {
			modules = append(modules, item.Module)
		}
		missing[item.Module] = append(missing[item.Module], item)
	}
	for _, module := range modules {
		if err := b.module(ctx, module, missing[module]); err != nil {
			return err
		}
	}
	return nil
}

// current reports whether a binary is there that was built from the module's pins.
func (b *builder) current(ctx context.Context, item Program) (bool, error) {
	if !item.pinned() {
		return false, nil
	}
	stamp, err := b.stamp(ctx, item.Module)
	if err != nil {
		return false, err
	}
	if written, err := os.ReadFile(b.stampFile(item)); err != nil || string(written) != stamp {
		return false, nil //nolint:nilerr // no stamp, not built
	}
	_, err = os.Stat(filepath.Join(b.dir, item.Name))
	return err == nil, nil
}

func (b *builder) stampFile(item Program) string { return filepath.Join(b.dir, "."+item.Name+".stamp") }

// module builds binaries of one module.
func (b *builder) module(ctx context.Context, module string, items []Program) error {
	linkerFlags := "-s -w"
	if module == Plane || slices.ContainsFunc(items, func(item Program) bool { return strings.HasPrefix(item.Package, "k8s.io/kubernetes/") }) {
		version, err := goOutput(ctx, filepath.Join(b.root, module), "list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes")
		if err != nil {
			return err
		}
		linkerFlags += versionFlags(version)
	}
	// Where a package has another name than its program, the folder of binaries may have another program of that name. All others are
	// built in place, because go build does not link again what is up to date.
	into := b.dir
	if slices.ContainsFunc(items, func(item Program) bool { return item.output() != item.Name }) {
		into = filepath.Join(b.dir, ".unnamed")
	}
	flags := []string{"-ldflags", linkerFlags}
	if patches := b.patches(module); len(patches) > 0 {
		modFile, err := b.patched(ctx, module, items[0].Package, patches)
		if err != nil {
			return err
		}
		flags = append(flags, "-modfile", modFile)
	}
	if err := b.compile(ctx, module, items, flags, into); err != nil {
		return err
	}
	for _, item := range items {
		if err := os.Rename(filepath.Join(into, item.output()), filepath.Join(b.dir, item.Name)); err != nil {
			return fmt.Errorf("name the binary of %s: %w", item.Package, err)
		}
		if !item.pinned() {
			continue
		}
		if err := os.WriteFile(b.stampFile(item), []byte(b.stamps[module]), 0o600); err != nil {
			return fmt.Errorf("write the stamp of %s: %w", item.Name, err)
		}
	}
	return nil
}

// patches returns the patches in the folder of a module of pins. They change the module that has the programs' packages.
func (b *builder) patches(module string) []string {
	found, _ := filepath.Glob(filepath.Join(b.root, module, "*.patch")) // its only error is about the pattern
	return found
}

// patched applies patches to a copy of the Go module that has a package, and returns a go.mod that replaces the module by the copy.
func (b *builder) patched(ctx context.Context, module, pkg string, patches []string) (string, error) {
	dir := filepath.Join(b.root, module)
	found, err := goOutput(ctx, dir, "list", "-f", "{{.Module.Path}}\n{{.Module.Dir}}", pkg)
	if err != nil {
		return "", err
	}
	name, source, _ := strings.Cut(found, "\n")
	work := filepath.Join(b.dir, ".patched", filepath.Base(module))
	if err = os.RemoveAll(work); err != nil {
		return "", fmt.Errorf("remove the last copy of %s: %w", name, err)
	}
	target := filepath.Join(work, "source")
	if err = os.CopyFS(target, os.DirFS(source)); err != nil {
		return "", fmt.Errorf("copy %s: %w", name, err)
	}
	for _, patch := range patches {
		cmd := exec.CommandContext(ctx, "git", "apply", patch) //nolint:gosec // a file of the clone
		cmd.Dir = target
		cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+work) // else git would look for the files in this repository
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("apply %s to %s: %w\n%s", patch, name, err, strings.TrimSpace(string(out)))
		}
	}
	for _, file := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join(dir, file)) //nolint:gosec // a file of the clone
		if err != nil {
			return "", fmt.Errorf("read the pins of %s: %w", module, err)
		}
		if err := os.WriteFile(filepath.Join(work, file), data, 0o600); err != nil {
			return "", fmt.Errorf("copy the pins of %s: %w", module, err)
		}
	}
	modFile := filepath.Join(work, "go.mod")
	if _, err := goOutput(ctx, dir, "mod", "edit", "-replace", name+"="+target, modFile); err != nil {
		return "", err
	}
	return modFile, nil
}

// stamp identifies everything that decides what is built from a module of pins.
func (b *builder) stamp(ctx context.Context, module string) (string, error) {
	if stamp, ok := b.stamps[module]; ok {
		return stamp, nil
	}
	hash := sha256.New()
	for _, name := range []string{"go.mod", "go.sum", "main.go"} {
		data, err := os.ReadFile(filepath.Join(b.root, module, name))
		if name == "main.go" && errors.Is(err, fs.ErrNotExist) {
			continue // only kubectl and CoreDNS have one, which chooses its plugins
		}
		if err != nil {
			return "", fmt.Errorf("read the pins of %s: %w", module, err)
		}
		hash.Write(data)
	}
	for _, patch := range b.patches(module) {
		data, err := os.ReadFile(patch) //nolint:gosec // a file of the clone
		if err != nil {
			return "", fmt.Errorf("read a patch of %s: %w", module, err)
		}
		hash.Write(data)
	}
	version, err := goOutput(ctx, filepath.Join(b.root, module), "env", "GOVERSION")
	if err != nil {
		return "", err
	}
	hash.Write([]byte(version + runtime.GOOS + runtime.GOARCH))
	stamp := hex.EncodeToString(hash.Sum(nil))
	b.stamps[module] = stamp
	return stamp, nil
}

// versionFlags makes /version sane: without them Kubernetes' binaries call themselves v0.0.0.
func versionFlags(version string) string {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	if len(parts) < 2 {
		return ""
	}
	var flags strings.Builder
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		fmt.Fprintf(&flags, " -X %[1]s.gitVersion=%[2]s -X %[1]s.gitMajor=%[3]s -X %[1]s.gitMinor=%[4]s", pkg, version, parts[0], parts[1])
	}
	return flags.String()
}
