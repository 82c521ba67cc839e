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
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// build is one binary that the sandbox needs.
type build struct {
	// name is the file's name in _output/bin.
	name string
	// module is the folder of its Go module, relative to the root of the clone, and pkg its package.
	module, pkg string
	// cold is about how long it takes on two cores with empty caches.
	cold time.Duration
	// stamped says that the pins of the module decide what it is, so that it need not be built twice.
	stamped bool
	// kubernetes says that it must know Kubernetes' version.
	kubernetes bool
}

const (
	planeModule = "hack/plane"
	kwokModule  = "hack/kwok"
	dnsModule   = "hack/coredns"
)

var (
	buildEtcd       = build{name: "etcd", module: planeModule, pkg: "go.etcd.io/etcd/server/v3", cold: time.Minute, stamped: true, kubernetes: true}
	buildAPIServer  = build{name: "kube-apiserver", module: planeModule, pkg: "k8s.io/kubernetes/cmd/kube-apiserver", cold: 5 * time.Minute, stamped: true, kubernetes: true}
	buildKCM        = build{name: "kube-controller-manager", module: planeModule, pkg: "k8s.io/kubernetes/cmd/kube-controller-manager", cold: 90 * time.Second, stamped: true, kubernetes: true}
	buildVolcanoCM  = build{name: "vc-controller-manager", module: planeModule, pkg: "volcano.sh/volcano/cmd/controller-manager", cold: time.Minute, stamped: true, kubernetes: true}
	buildWebhooks   = build{name: "vc-webhook-manager", module: planeModule, pkg: "volcano.sh/volcano/cmd/webhook-manager", cold: 30 * time.Second, stamped: true, kubernetes: true}
	buildStock      = build{name: "vc-scheduler", module: planeModule, pkg: "volcano.sh/volcano/cmd/scheduler", cold: time.Minute, stamped: true, kubernetes: true}
	buildKubeSched  = build{name: "kube-scheduler", module: planeModule, pkg: "k8s.io/kubernetes/cmd/kube-scheduler", cold: time.Minute, stamped: true, kubernetes: true}
	buildKwok       = build{name: "kwok", module: kwokModule, pkg: "sigs.k8s.io/kwok/cmd/kwok", cold: 90 * time.Second, stamped: true}
	buildScheduler  = build{name: "paddle-scheduler", module: ".", pkg: "./cmd/paddle-scheduler", cold: time.Minute}
	buildController = build{name: "paddlejob-controller", module: ".", pkg: "./cmd/paddlejob-controller", cold: time.Minute}
	buildKubelet    = build{name: "kubelet", module: planeModule, pkg: "k8s.io/kubernetes/cmd/kubelet", cold: 2 * time.Minute, stamped: true, kubernetes: true}
	buildCoreDNS    = build{name: "coredns", module: dnsModule, pkg: ".", cold: time.Minute, stamped: true}
	buildBarrier    = build{name: "paddle-barrier", module: ".", pkg: "./cmd/paddle-barrier", cold: time.Minute}
	buildBox        = build{name: "paddle-box", module: ".", pkg: "./test/sandbox/box/paddle-box", cold: time.Minute}
)

// builds lists what a sandbox with these options needs. The API server comes first: it takes longest, and warms the rest.
func (o *Options) builds() []build {
	list := []build{buildAPIServer, buildKCM, buildEtcd, buildVolcanoCM, buildWebhooks, buildKwok}
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
	if o.Real != nil {
		list = append(list, buildKubelet, buildCoreDNS, buildBox)
		if !o.WithoutController {
			list = append(list, buildBarrier)
		}
	}
	return list
}

// Build makes every binary that a sandbox with these options needs, in _output/bin of the clone, and returns their
// paths by name. What is there already from the same pins is not built again.
func Build(ctx context.Context, o Options) (map[string]string, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	b := &builder{root: o.root, dir: filepath.Join(o.root, "_output", "bin"), progress: o.progress(), stamps: map[string]string{}}
	if err := os.MkdirAll(b.dir, 0o755); err != nil { //nolint:gosec // binaries are for everybody to run
		return nil, fmt.Errorf("make the folder of binaries: %w", err)
	}
	paths := map[string]string{}
	list := o.builds()
	for i, item := range list {
		paths[item.name] = filepath.Join(b.dir, item.name)
		if err := b.ensure(ctx, item, fmt.Sprintf("%d of %d", i+1, len(list))); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

type builder struct {
	root, dir string
	progress  progress
	// stamps holds what is known of each module's pins.
	stamps map[string]string
}

// ensure builds one binary unless it is there from the same pins. Processes that do so at the same time take turns.
func (b *builder) ensure(ctx context.Context, item build, position string) error {
	lock, err := waitLock(ctx, filepath.Join(b.dir, "."+item.name+".lock"), func() {
		b.progress.say("waiting for another process that builds %s", item.name)
	})
	if err != nil {
		return fmt.Errorf("wait for the lock of %s: %w", item.name, err)
	}
	buildErr := b.locked(ctx, item, position)
	return errors.Join(buildErr, lock.release())
}

func (b *builder) locked(ctx context.Context, item build, position string) error {
	target := filepath.Join(b.dir, item.name)
	stampFile := filepath.Join(b.dir, "."+item.name+".stamp")
	stamp := ""
	if item.stamped {
		var err error
		if stamp, err = b.stamp(ctx, item.module); err != nil {
			return err
		}
		if written, err := os.ReadFile(stampFile); err == nil && string(written) == stamp {
			if _, err := os.Stat(target); err == nil {
				return nil
			}
		}
	}
	flags := "-s -w"
	if item.kubernetes {
		version, err := b.version(ctx, item.module, "k8s.io/kubernetes")
		if err != nil {
			return err
		}
		flags += versionFlags(version)
	}
	if err := b.compile(ctx, item, target, flags, position); err != nil {
		return err
	}
	if !item.stamped {
		return nil
	}
	if err := os.WriteFile(stampFile, []byte(stamp), 0o600); err != nil {
		return fmt.Errorf("write the stamp of %s: %w", item.name, err)
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
			continue // only CoreDNS has one, which chooses its plugins
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

func (b *builder) version(ctx context.Context, module, of string) (string, error) {
	return goOutput(ctx, filepath.Join(b.root, module), "list", "-m", "-f", "{{.Version}}", of)
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
