// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/netip"
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

// Real asks for a real node: a kubelet and containerd, which run in one box together with all other components.
// [Start] returns a [*box.UnsupportedError] where the machine does not allow it.
type Real struct {
	// Images are archives of images (OCI or Docker's) that the node has from the start. It cannot pull any.
	Images []string
}

const (
	// RealNode is the real node's name.
	RealNode = "real-0"
	// realRack and realBlock are where it stands.
	realRack, realBlock = "real-rack", "real-block"
	// kwokNode is an annotation of simulated nodes, by which kwok knows its own.
	kwokNode, kwokNodeValue = "kwok.x-k8s.io/node", "fake"
)

// RealAllowed returns a [*box.UnsupportedError] with the reason if this machine does not allow a real node.
func RealAllowed() error {
	_, err := realMode()
	return err
}

// RealRootless reports whether a real node on this machine has only one user. The start barrier cannot run as that user.
func RealRootless() bool {
	mode, err := realMode()
	return err == nil && mode == box.Rootless
}

func realMode() (box.Mode, error) {
	machine, err := box.Probe(node.Tools()...)
	if err != nil {
		return 0, fmt.Errorf("look whether this machine allows a real node: %w", err)
	}
	return box.ModeFor(machine)
}

func (o *Options) allowed() error {
	if o.Real == nil {
		return nil
	}
	return RealAllowed()
}

func (o *Options) completeReal() error {
	if o.Real == nil {
		return nil
	}
	images := make([]string, len(o.Real.Images))
	for i, image := range o.Real.Images {
		path, err := filepath.Abs(image)
		if err == nil {
			_, err = os.Stat(path)
		}
		if err != nil {
			return fmt.Errorf("find the archive of images: %w", err)
		}
		images[i] = path
	}
	o.Real = &Real{Images: images}
	if o.Topology == nil {
		o.Topology = topology.Demo()
		for name, shape := range o.Topology.Shapes {
			shape.Taints = append(shape.Taints, corev1.Taint{Key: topology.TaintSimulated, Effect: corev1.TaintEffectNoSchedule})
			o.Topology.Shapes[name] = shape
		}
	}
	return nil
}

// simulatedNodes returns those of kwok. If there is also a real node, kwok knows its own by an annotation.
func (o *Options) simulatedNodes() []*corev1.Node {
	nodes := o.Topology.Nodes()
	if o.Real != nil {
		for _, n := range nodes {
			n.Annotations = map[string]string{kwokNode: kwokNodeValue}
		}
	}
	return nodes
}

// coreDNSUser is CoreDNS's name, to which coreDNSPermissions are bound.
const coreDNSUser = "paddle-sandbox:coredns"

// writeNodePKI writes the kubelet's own certificate, and the one with which the API server asks it for logs.
func (st *starter) writeNodePKI() error {
	kubelet, err := st.ca.Server("system:node:"+RealNode, []string{RealNode}, net.IP(node.Address.Addr().AsSlice()))
	if err != nil {
		return err
	}
	asker, err := st.ca.Client("kube-apiserver-kubelet-client", "system:masters")
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{
		"kubelet.crt": kubelet.Cert, "kubelet.key": kubelet.Key, "kubelet-client.crt": asker.Cert, "kubelet-client.key": asker.Key,
	} {
		if err := os.WriteFile(st.layout.pki(name), data, 0o600); err != nil {
			return fmt.Errorf("write the real node's certificates: %w", err)
		}
	}
	return nil
}

// realAPIServerArgs let the API server authorize the kubelet, and reach it.
func (st *starter) realAPIServerArgs() []string {
	if st.options.Real == nil {
		return nil
	}
	return launch.Flags{
		// In addition to RBAC, which is set already.
		"authorization-mode":         "Node",
		"kubelet-client-certificate": st.layout.pki("kubelet-client.crt"), "kubelet-client-key": st.layout.pki("kubelet-client.key"),
		"kubelet-certificate-authority": st.layout.pki("ca.crt"), "kubelet-preferred-address-types": "InternalIP",
	}.Args()
}

// realKwokArgs keep kwok from playing the real kubelet.
func (st *starter) realKwokArgs() []string {
	if st.options.Real == nil {
		return nil
	}
	return launch.Flags{"manage-all-nodes": "false", "manage-nodes-with-annotation-selector": kwokNode + "=" + kwokNodeValue}.Args()
}

func coreDNSPermissions() []*unstructured.Unstructured {
	rule := func(group string, resources ...string) map[string]any {
		return map[string]any{"apiGroups": []any{group}, "resources": anys(resources), "verbs": []any{"list", "watch"}}
	}
	return []*unstructured.Unstructured{
		{Object: map[string]any{
			"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": map[string]any{"name": coreDNSUser},
			"rules": []any{rule("", "services", "endpoints", "pods", "namespaces"), rule("discovery.k8s.io", "endpointslices")},
		}},
		{Object: map[string]any{
			"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": map[string]any{"name": coreDNSUser},
			"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": coreDNSUser},
			"subjects": []any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": coreDNSUser}},
		}},
	}
}

// realStart is what is known of the box and the real node only while a sandbox starts.
type realStart struct {
	node node.Node
	// ports are all that lead into the box, and free are those of them that no component has.
	ports, free []int
	// images are archives that the sandbox has packed itself.
	images []string
	// imported gets the outcome of the import of the images.
	imported chan error
}

// boxPorts are enough for all components: the ports of a box are opened before it is made.
const boxPorts = 12

// cgroup returns the name of the box's cgroup, which a later sandbox in the same folder finds again.
func (l layout) cgroup() string {
	sum := sha256.Sum256([]byte(l))
	return "paddle-sandbox-" + hex.EncodeToString(sum[:4])
}

// takeBoxPorts takes ports that lead into the box under the same numbers, so that all addresses are the same here and there.
func (st *starter) takeBoxPorts(n int) ([]int, error) {
	if st.real.ports == nil {
		var err error
		if st.real.ports, err = st.TakePorts(boxPorts); err != nil {
			return nil, err
		}
		st.real.free = st.real.ports
	}
	if len(st.real.free) < n {
		return nil, fmt.Errorf("the box has no more than %d ports", boxPorts)
	}
	taken := st.real.free[:n]
	st.real.free = st.real.free[n:]
	return taken, nil
}

// startBox creates the box, in which all components will run, and has containerd come up while the others do.
func (st *starter) startBox(ctx context.Context, api int) error {
	if st.options.Real == nil {
		return nil
	}
	mode, err := realMode()
	if err != nil {
		return err
	}
	if err := st.prepareNode(ctx, mode); err != nil {
		return err
	}
	st.progress.say("making namespaces for a real node (%s)", mode)
	keep := []string{st.options.root, st.StateDir()}
	for _, path := range st.binaries {
		keep = append(keep, filepath.Dir(path))
	}
	for _, path := range st.options.Real.Images {
		keep = append(keep, filepath.Dir(path))
	}
	made, err := box.Start(st.binaries[programBox.Name], st.Logs("box"), mode, box.Settings{
		Name: st.real.node.Cgroup, Hostname: RealNode, Keep: keep, Sysctls: node.Sysctls(),
		Bridge: node.Bridge, Address: node.Address, Aliases: []netip.Addr{node.API}, Ports: st.real.ports,
		// Clients in pods use this address, on which no process listens without kube-proxy.
		Forward: map[string]string{netip.AddrPortFrom(node.API, 443).String(): address(api)},
	}, st.lock.File())
	if err != nil {
		return err
	}
	st.mu.Lock()
	st.box = made
	st.mu.Unlock()
	return st.startRuntime(ctx)
}

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

// stopBox ends everything in the box at once: nothing in it is worth a grace period.
func (s *Sandbox) stopBox(processes map[string]*process) error {
	if s.box == nil {
		return nil
	}
	for _, p := range processes {
		p.expect()
	}
	return s.box.Stop()
}
