// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/topology"
)

const (
	stateDir = "../../_output/test-manifests"
	// workersRun leaves time to look at what runs, also on a busy machine.
	workersRun = 10 * time.Second
	// Each of tinyRacks has tinyNodes nodes that take tinyPods pods each, and only pods that ask for them by tinyLabel and
	// tolerate it as a taint.
	tinyNodes, tinyPods = 2, 2
	tinyLabel           = "test/tiny"
)

var tinyRacks = []string{"a", "b", "c", "d"}

// shared is the sandbox of every test that leaves it whole.
var shared *plane

// plane is a sandbox with a client for manifests.
type plane struct {
	*live.Plane
	config  *rest.Config
	objects *manifests.Client
}

func TestMain(m *testing.M) {
	live.SideBySide(24)
	os.Exit(live.Main(m, options(stateDir), func(p *live.Plane) (err error) {
		shared, err = newPlane(p)
		return err
	}))
}

func options(dir string) sandbox.Options {
	return sandbox.Options{
		StateDir: dir, Topology: demoAndTiny(), WorkerRunFor: workersRun, Progress: os.Stderr,
		// A claim that is seen before its volume is looked at again only after this time, by default 15 seconds.
		Args: map[string][]string{sandbox.ControllerManager: {"--pvclaimbinder-sync-period=1s"}},
	}
}

func newPlane(connected *live.Plane) (*plane, error) {
	p := &plane{Plane: connected, config: connected.RESTConfig()}
	p.config.WarningHandler = rest.NoWarnings{}
	var err error
	p.objects, err = manifests.NewClient(p.config)
	return p, err
}

// demoAndTiny returns the demo's cluster and some racks of nodes that take few pods.
func demoAndTiny() *topology.Topology {
	t := topology.Demo()
	t.Shapes["tiny"] = topology.Shape{
		CPU: "8", Memory: "16Gi", Pods: ptr.To(tinyPods),
		Taints: []corev1.Taint{{Key: tinyLabel, Effect: corev1.TaintEffectNoSchedule}},
	}
	tiny := topology.Block{}
	for _, rack := range tinyRacks {
		tiny.Racks = append(tiny.Racks, topology.Rack{
			Labels: map[string]string{tinyLabel: rack},
			Nodes:  []topology.NodeGroup{{Shape: "tiny", Count: ptr.To(tinyNodes)}},
		})
	}
	t.Blocks = append(t.Blocks, tiny)
	return t
}
