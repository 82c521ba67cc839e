// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox/programs"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/topology"
)

// DefaultStateDir is where the command keeps a sandbox, relative to the working folder.
const DefaultStateDir = "_output/sandbox"

// Options configure a sandbox. The zero value is the demo cluster with all components of this project.
type Options struct {
	// StateDir is the folder of everything that the sandbox writes: etcd's data, certificates, kubeconfigs, logs. Unset
	// means DefaultStateDir. A folder of an earlier sandbox is emptied.
	StateDir string
	// Topology is the simulated cluster; nil means [topology.Demo].
	Topology *topology.Topology
	// WorkerRunFor is how long pods of worker roles run that have no annotation; 0 means forever.
	WorkerRunFor time.Duration
	// Progress gets a line for each step, and the end of the log of a component that fails. Nil means that it is discarded.
	Progress io.Writer
	// StockScheduler runs Volcano's own scheduler with Volcano's own configuration and permissions instead of paddle-scheduler.
	StockScheduler bool
	// SchedulerConf replaces the text of volcano-scheduler.conf.
	SchedulerConf string
	// WithoutController leaves out paddlejob-controller and its manifests; the CRD is still installed.
	WithoutController bool
	// ControllerArgs are added to the arguments of paddlejob-controller, and win over those of its Deployment.
	ControllerArgs []string
	// Rivals prepares Volcano's own scheduler and kube-scheduler in addition to the one that runs, and starts neither:
	// StartComponent does, after Kill has stopped the other.
	Rivals bool
	// Real adds one real node, on which pods really run. Nil means that all nodes are simulated.
	Real *Real
	// Kubeadm prepares the further programs of kubeadm's clusters: kubeadm, kube-proxy and kube-scheduler. None is started.
	Kubeadm bool
	// Trainer adds Kubeflow Trainer and JobSet, which have the administrator's permissions.
	Trainer bool
	// Programs are built in addition. AddComponent makes components of them.
	Programs []programs.Program
	// APIServer is another kube-apiserver than that of hack/plane.
	APIServer *programs.Program
	// Args are added to the arguments of a component, by its name, and win over all others.
	Args map[string][]string

	// root is the clone whose binaries and manifests are used: the one that contains the working folder.
	root string
}

// complete fills in defaults, makes paths absolute, and checks what can be checked without starting anything.
func (o *Options) complete() error {
	var err error
	if o.root, err = programs.Root(); err != nil {
		return err
	}
	if o.StateDir, err = filepath.Abs(cmp.Or(o.StateDir, DefaultStateDir)); err != nil {
		return fmt.Errorf("find the absolute path of the state folder: %w", err)
	}
	if err := o.completeReal(); err != nil {
		return err
	}
	if o.Topology == nil {
		o.Topology = topology.Demo()
	}
	if err := o.Topology.Validate(); err != nil {
		return fmt.Errorf("topology: %w", err)
	}
	if o.WorkerRunFor < 0 {
		return fmt.Errorf("worker run time is %s: it must not be negative (0 means forever)", o.WorkerRunFor)
	}
	for name := range o.Args {
		if !isComponent(name) {
			return fmt.Errorf("arguments are given for %q, which is none of the components %s", name, strings.Join(Components(), ", "))
		}
	}
	return nil
}

func (o *Options) progress() progress {
	if o.Progress == nil {
		return progress{out: io.Discard, mu: &sync.Mutex{}}
	}
	return progress{out: o.Progress, mu: &sync.Mutex{}}
}

// progress writes whole lines, from any goroutine.
type progress struct {
	mu  *sync.Mutex
	out io.Writer
}

func (p progress) say(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.out, format+"\n", args...) //nolint:errcheck // progress is for information only
}
