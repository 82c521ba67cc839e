// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	volcanoclient "volcano.sh/apis/pkg/client/clientset/versioned"

	paddleclient "github.com/paddle-volcano/paddle-volcano/controller/client/clientset/versioned"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
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

var tinyRacks = []string{"a", "b", "c", "d", "e"}

// shared is the sandbox of every test that leaves it whole.
var shared *plane

// plane is a sandbox with the clients that tests need.
type plane struct {
	*sandbox.Sandbox
	config  *rest.Config
	kube    kubernetes.Interface
	volcano volcanoclient.Interface
	paddle  paddleclient.Interface
	objects *manifests.Client
	// metrics is the address of the scheduler's metrics.
	metrics string
}

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

// sideBySide is how many tests run at a time. They wait, so that the number of cores does not matter.
const sideBySide = "24"

func run(m *testing.M) (code int) {
	flag.Parse()
	err := flag.Set("test.parallel", sideBySide)
	if err == nil {
		shared, err = startPlane(stateDir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "start the shared sandbox:", err)
		return 1
	}
	defer func() {
		if err := shared.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stop the shared sandbox:", err)
			code = 1
		}
	}()
	return m.Run()
}

func startPlane(dir string) (*plane, error) {
	metrics, err := freeAddress()
	if err != nil {
		return nil, err
	}
	s, err := sandbox.Start(context.Background(), sandbox.Options{
		StateDir: dir, Topology: topology(), WorkerRunFor: workersRun, Progress: os.Stderr,
		Args: map[string][]string{
			sandbox.Scheduler: {"--enable-metrics=true", "--listen-address=" + metrics},
			// A claim that is seen before its volume is looked at again only after this time, by default 15 seconds.
			sandbox.ControllerManager: {"--pvclaimbinder-sync-period=1s"},
		},
	})
	if err != nil {
		return nil, err
	}
	p := &plane{Sandbox: s, config: s.RESTConfig(), metrics: metrics}
	p.config.WarningHandler = rest.NoWarnings{}
	if p.kube, err = kubernetes.NewForConfig(p.config); err != nil {
		return nil, err
	}
	if p.volcano, err = volcanoclient.NewForConfig(p.config); err != nil {
		return nil, err
	}
	if p.paddle, err = paddleclient.NewForConfig(p.config); err != nil {
		return nil, err
	}
	if p.objects, err = manifests.NewClient(p.config); err != nil {
		return nil, err
	}
	return p, nil
}

// topology is the demo's cluster and some racks of nodes that take few pods.
func topology() *sandbox.Topology {
	t := sandbox.Demo()
	t.Shapes["tiny"] = sandbox.Shape{
		CPU: "8", Memory: "16Gi", Pods: ptr.To(tinyPods),
		Taints: []corev1.Taint{{Key: tinyLabel, Effect: corev1.TaintEffectNoSchedule}},
	}
	tiny := sandbox.Block{}
	for _, rack := range tinyRacks {
		tiny.Racks = append(tiny.Racks, sandbox.Rack{
			Labels: map[string]string{tinyLabel: rack},
			Nodes:  []sandbox.NodeGroup{{Shape: "tiny", Count: ptr.To(tinyNodes)}},
		})
	}
	t.Blocks = append(t.Blocks, tiny)
	return t
}

func freeAddress() (string, error) {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}
