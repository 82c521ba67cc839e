// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox/box"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/filelock"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/launch"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/node"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/topology"
)

// partsDir returns where Debian's packages are unpacked, in the clone.
func partsDir(root string) string { return filepath.Join(root, "_output", "node") }

// prepareNode gets the node's parts and writes its files.
func (st *starter) prepareNode(ctx context.Context, mode box.Mode) error {
	ports, err := st.takeBoxPorts(1)
	if err != nil {
		return err
	}
	n := node.Node{
		Name: RealNode, Dir: filepath.Join(st.StateDir(), "node"), Parts: partsDir(st.options.root), DNSReady: ports[0],
		CA: st.layout.pki("ca.crt"), Cert: st.layout.pki("kubelet.crt"), Key: st.layout.pki("kubelet.key"),
	}
	if mode == box.Root {
		n.Cgroup = st.layout.cgroup()
	}
	st.real.node, st.parts = n, n.Parts
	if err := st.unpack(ctx); err != nil {
		return err
	}
	files, err := n.Files()
	if err != nil {
		return err
	}
	for path, text := range files {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("write the real node's files: %w", err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil { //nolint:gosec // one is a script
			return fmt.Errorf("write the real node's files: %w", err)
		}
	}
	if err := st.writeImages(mode); err != nil {
		return err
	}
	return st.writeNodePKI()
}

// writeImages packs the images that pods need in addition to their own.
func (st *starter) writeImages(mode box.Mode) error {
	pause := filepath.Join(st.real.node.Dir, "pause.tar")
	st.real.images = []string{pause}
	if err := node.WritePause(st.binaries[programBox.Name], pause); err != nil || st.manifests.operator == nil {
		return err
	}
	if mode == box.Rootless {
		// The barrier must not run as user 0, and no other exists there.
		st.options.ControllerArgs = append([]string{barrierFlag}, st.options.ControllerArgs...)
		return nil
	}
	d, err := st.manifests.operator.Deployment("")
	if err != nil {
		return err
	}
	name := barrierImage(append(launch.CommandOf(d, nil).Args, st.options.ControllerArgs...))
	if name == "" {
		return nil
	}
	barrier := filepath.Join(st.real.node.Dir, "barrier.tar")
	st.real.images = append(st.real.images, barrier)
	return node.WriteBarrier(st.binaries[programBarrier.Name], name, barrier)
}

// barrierFlag names, in the controller's arguments, the image that pods run first.
const barrierFlag = "--barrier-image="

// barrierImage returns the image in the controller's arguments; the last one counts.
func barrierImage(args []string) (name string) {
	for _, arg := range args {
		if value, ok := strings.CutPrefix(arg, barrierFlag); ok {
			name = value
		}
	}
	return name
}

// unpack gets Debian's packages; processes that do so at the same time take turns.
func (st *starter) unpack(ctx context.Context) error {
	dir := partsDir(st.options.root)
	lock, err := filelock.Wait(ctx, dir+".lock", func() { st.progress.say("waiting for another process that downloads packages") })
	if err != nil {
		return fmt.Errorf("wait for the packages: %w", err)
	}
	return errors.Join(node.Unpack(ctx, dir, st.progress.say), lock.Release())
}

// startRuntime starts containerd and imports images into it, while the rest of the control plane starts.
func (st *starter) startRuntime(ctx context.Context) error {
	n := st.real.node
	if err := st.add(component{name: Containerd, binary: n.Containerd(), args: n.ContainerdArgs(), env: n.Env()}); err != nil {
		return err
	}
	st.real.imported = make(chan error, 1)
	go func() {
		st.real.imported <- st.importImages(ctx, append(st.real.images, st.options.Real.Images...))
	}()
	return nil
}

// importImages waits for containerd if it is not there yet.
func (s *Sandbox) importImages(ctx context.Context, archives []string) error {
	n := node.Node{Parts: s.parts}
	for _, archive := range archives {
		log := s.Logs("import")
		if err := until(ctx, "the import of "+archive, func(ctx context.Context) error {
			p, err := s.box.Run(box.Command{Path: n.Ctr(), Args: node.ImportArgs(archive), Env: environ(n.Env()), Dir: s.StateDir(), Log: log})
			if err != nil {
				return err
			}
			select {
			case <-p.Done:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			if p.Err != nil {
				return fmt.Errorf("%w:\n%s", p.Err, tail(log))
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// startNode starts the kubelet and CoreDNS, once the API server takes requests.
func (st *starter) startNode(ctx context.Context) error {
	if st.options.Real == nil {
		return nil
	}
	n := st.real.node
	for _, user := range []struct {
		path, name string
		groups     []string
	}{
		{st.layout.kubeconfig(Kubelet), "system:node:" + RealNode, []string{"system:nodes"}},
		{n.CoreDNSKubeconfig(), coreDNSUser, nil},
	} {
		id, err := st.ca.Client(user.name, user.groups...)
		if err != nil {
			return err
		}
		if err := writeKubeconfig(user.path, st.server, st.ca.PEM, "", credentials{identity: id}); err != nil {
			return err
		}
	}
	if err := st.add(component{name: CoreDNS, binary: st.binaries[programCoreDNS.Name], args: n.CoreDNSArgs(), env: n.Env()}); err != nil {
		return err
	}
	select {
	case err := <-st.real.imported:
		if err != nil {
			return err
		}
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := until(ctx, "containerd to be ready", func(context.Context) error {
		log, err := os.ReadFile(st.Logs(Containerd))
		if err == nil && !bytes.Contains(log, []byte(node.RuntimeReady)) {
			err = errors.New("it has not said so in its log")
		}
		return err
	}); err != nil {
		return err
	}
	return st.add(component{
		name: Kubelet, binary: st.binaries[programKubelet.Name], env: n.Env(),
		args: n.KubeletArgs(st.layout.kubeconfig(Kubelet), map[string]string{
			topology.LabelRack: realRack, topology.LabelBlock: realBlock, corev1.LabelTopologyRegion: "sandbox", corev1.LabelTopologyZone: "zone-0",
		}),
	})
}

// realReady waits until pods can run on the real node and find each other.
func (st *starter) realReady(ctx context.Context) error {
	if st.options.Real == nil {
		return nil
	}
	if err := until(ctx, "the real node to be ready", func(ctx context.Context) error {
		got, err := st.cluster.kube.CoreV1().Nodes().Get(ctx, RealNode, metav1.GetOptions{})
		if err == nil && !nodeReady(got) {
			err = errors.New("it is not ready yet")
		}
		return err
	}); err != nil {
		return err
	}
	return until(ctx, "CoreDNS to know the cluster", func(ctx context.Context) error {
		return healthy(ctx, "http://"+address(st.real.node.DNSReady)+"/ready")
	})
}

// realPermissions let CoreDNS see what has a name. The kubelet has its own from the API server.
func (st *starter) realPermissions() []*unstructured.Unstructured {
	if st.options.Real == nil {
		return nil
	}
	return coreDNSPermissions()
}
