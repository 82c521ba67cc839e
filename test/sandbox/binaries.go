// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox/filelock"
)

// build is one binary that the sandbox needs.
type build struct {
	// name is the file's name in _output/bin.
	name string
	// module is the folder of its Go module, relative to the root of the clone, and pkg its package.
	module, pkg string
	// stamped says that the pins of the module decide what it is, so that it need not be built twice.
	stamped bool
}

const (
	planeModule = "hack/plane"
	kwokModule  = "hack/kwok"
	dnsModule   = "hack/coredns"
)

var (
	buildEtcd       = build{name: "etcd", module: planeModule, pkg: "go.etcd.io/etcd/server/v3", stamped: true}
	buildAPIServer  = build{name: "kube-apiserver", module: planeModule, pkg: "k8s.io/kubernetes/cmd/kube-apiserver", stamped: true}
	buildKCM        = build{name: "kube-controller-manager", module: planeModule, pkg: "k8s.io/kubernetes/cmd/kube-controller-manager", stamped: true}
	buildVolcanoCM  = build{name: "vc-controller-manager", module: planeModule, pkg: "volcano.sh/volcano/cmd/controller-manager", stamped: true}
	buildWebhooks   = build{name: "vc-webhook-manager", module: planeModule, pkg: "volcano.sh/volcano/cmd/webhook-manager", stamped: true}
	buildStock      = build{name: "vc-scheduler", module: planeModule, pkg: "volcano.sh/volcano/cmd/scheduler", stamped: true}
	buildKubeSched  = build{name: "kube-scheduler", module: planeModule, pkg: "k8s.io/kubernetes/cmd/kube-scheduler", stamped: true}
	buildKwok       = build{name: "kwok", module: kwokModule, pkg: "sigs.k8s.io/kwok/cmd/kwok", stamped: true}
	buildScheduler  = build{name: "paddle-scheduler", module: ".", pkg: "./cmd/paddle-scheduler"}
	buildController = build{name: "paddlejob-controller", module: ".", pkg: "./cmd/paddlejob-controller"}
	buildKubelet    = build{name: "kubelet", module: planeModule, pkg: "k8s.io/kubernetes/cmd/kubelet", stamped: true}
	buildKubeadm    = build{name: "kubeadm", module: planeModule, pkg: "k8s.io/kubernetes/cmd/kubeadm", stamped: true}
	buildKubeProxy  = build{name: "kube-proxy", module: planeModule, pkg: "k8s.io/kubernetes/cmd/kube-proxy", stamped: true}
	buildCoreDNS    = build{name: "coredns", module: dnsModule, pkg: ".", stamped: true}
	buildBarrier    = build{name: "paddle-barrier", module: ".", pkg: "./cmd/paddle-barrier"}
	buildBox        = build{name: "paddle-box", module: ".", pkg: "./test/sandbox/box/paddle-box"}
)

func (o *Options) apiServer() build {
	if o.APIServer != nil {
		return o.APIServer.build()
	}
	return buildAPIServer
}

// builds lists what a sandbox with these options needs.
func (o *Options) builds() []build {
	list := []build{o.apiServer(), buildKCM, buildEtcd, buildVolcanoCM, buildWebhooks, buildKwok}
	if o.StockScheduler {
		list = append(list, buildStock)
	} else {
		list = append(list, buildScheduler)
	}
	if !o.WithoutController {
		list = append(list, buildController)
	}
	if o.Rivals {
		if !slices.Contains(list, buildStock) {
			list = append(list, buildStock)
		}
		list = append(list, buildKubeSched)
	}
	if o.Trainer {
		for _, c := range trainerControllers {
			list = append(list, c.build)
		}
	}
	if o.Real != nil {
		list = append(list, buildKubelet, buildCoreDNS, buildBox)
		if !o.WithoutController {
			list = append(list, buildBarrier)
		}
	}
	if o.Kubeadm {
		list = append(list, buildKubeadm, buildKubeProxy, buildKubeSched)
	}
	for _, p := range o.Programs {
		list = append(list, p.build())
	}
	return list
}

// Build creates every binary that a sandbox with these options needs, in _output/bin of the clone, and returns their
// paths by name. What is there already from the same pins is not built again.
func Build(ctx context.Context, o Options) (map[string]string, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	b := &builder{root: o.root, dir: filepath.Join(o.root, "_output", "bin"), progress: o.progress(), stamps: map[string]string{}}
	if err := os.MkdirAll(b.dir, 0o755); err != nil { //nolint:gosec // binaries are for everybody to run
		return nil, fmt.Errorf("make the folder of binaries: %w", err)
	}
	list := o.builds()
	if err := b.ensure(ctx, list); err != nil {
		return nil, err
	}
	paths := map[string]string{}
	for _, item := range list {
		paths[item.name] = filepath.Join(b.dir, item.name)
	}
	return paths, nil
}

type builder struct {
	root, dir string
	progress  progress
	// stamps holds what is known of each module's pins.
	stamps map[string]string
}

// ensure builds what is not there from the same pins, a module at a time. Processes that do so at the same time take turns.
func (b *builder) ensure(ctx context.Context, list []build) error {
	lock, err := filelock.Wait(ctx, filepath.Join(b.dir, ".lock"), func() {
		b.progress.say("waiting for another process that builds the sandbox's programs")
	})
	if err != nil {
		return fmt.Errorf("wait for the lock of %s: %w", b.dir, err)
	}
	return errors.Join(b.locked(ctx, list), lock.Release())
}

func (b *builder) locked(ctx context.Context, list []build) error {
	var modules []string
	missing := map[string][]build{}
	for _, item := range list {
		current, err := b.current(ctx, item)
		if err != nil {
			return err
		}
		if current {
			continue
		}
		if missing[item.module] == nil {
			modules = append(modules, item.module)
		}
		missing[item.module] = append(missing[item.module], item)
	}
	for _, module := range modules {
		if err := b.module(ctx, module, missing[module]); err != nil {
			return err
		}
	}
	return nil
}

// current reports whether a binary is there that was built from the module's pins.
func (b *builder) current(ctx context.Context, item build) (bool, error) {
	if !item.stamped {
		return false, nil
	}
	stamp, err := b.stamp(ctx, item.module)
	if err != nil {
		return false, err
	}
	if written, err := os.ReadFile(b.stampFile(item)); err != nil || string(written) != stamp {
		return false, nil //nolint:nilerr // no stamp, not built
	}
	_, err = os.Stat(filepath.Join(b.dir, item.name))
	return err == nil, nil
}

func (b *builder) stampFile(item build) string { return filepath.Join(b.dir, "."+item.name+".stamp") }

// output is the name that go build gives the binary.
func (item build) output() string {
	if item.pkg == "." {
		return item.name // the module's
	}
	return path.Base(strings.TrimSuffix(item.pkg, "/v3"))
}

// module builds binaries of one module.
func (b *builder) module(ctx context.Context, module string, items []build) error {
	flags := "-s -w"
	if module == planeModule || slices.ContainsFunc(items, func(item build) bool { return strings.HasPrefix(item.pkg, "k8s.io/kubernetes/") }) {
		version, err := goOutput(ctx, filepath.Join(b.root, module), "list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes")
		if err != nil {
			return err
		}
		flags += versionFlags(version)
	}
	// Where a package has another name than its program, the folder of binaries may have another program of that name. All others are
	// built in place, because go build does not link again what is up to date.
	into := b.dir
	if slices.ContainsFunc(items, func(item build) bool { return item.output() != item.name }) {
		into = filepath.Join(b.dir, ".unnamed")
	}
	if err := b.compile(ctx, module, items, flags, into); err != nil {
		return err
	}
	for _, item := range items {
		if err := os.Rename(filepath.Join(into, item.output()), filepath.Join(b.dir, item.name)); err != nil {
			return fmt.Errorf("name the binary of %s: %w", item.pkg, err)
		}
		if !item.stamped {
			continue
		}
		if err := os.WriteFile(b.stampFile(item), []byte(b.stamps[module]), 0o600); err != nil {
			return fmt.Errorf("write the stamp of %s: %w", item.name, err)
		}
	}
	return nil
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
