// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox/box"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/node"
)

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

// cgroup is the name of the box's cgroup, which a later sandbox in the same folder finds again.
func (l layout) cgroup() string {
	sum := sha256.Sum256([]byte(l))
	return "paddle-sandbox-" + hex.EncodeToString(sum[:4])
}

// takeBoxPorts takes ports that lead into the box under the same numbers, so that all addresses are the same here and there.
func (st *starter) takeBoxPorts(n int) ([]int, error) {
	if st.real.ports == nil {
		var err error
		if st.real.ports, err = st.takeFreePorts(boxPorts); err != nil {
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

// startBox makes the box, in which all components will run, and has containerd come up while the others do.
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
	made, err := box.Start(st.binaries[buildBox.name], st.Logs("box"), mode, box.Settings{
		Name: st.real.node.Cgroup, Hostname: RealNode, Keep: keep, Sysctls: node.Sysctls(),
		Bridge: node.Bridge, Address: node.Address, Aliases: []netip.Addr{node.API}, Ports: st.real.ports,
		// Clients in pods are told this address, at which without kube-proxy nobody listens.
		Forward: map[string]string{netip.AddrPortFrom(node.API, 443).String(): address(api)},
	}, st.lock.file)
	if err != nil {
		return err
	}
	st.mu.Lock()
	st.box = made
	st.mu.Unlock()
	return st.startRuntime(ctx)
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

// environ is this process's environment with variables of a component in place of its own.
func environ(more []string) []string {
	return (&exec.Cmd{Env: append(os.Environ(), more...)}).Environ()
}
