// SPDX-License-Identifier: Apache-2.0

package gangs_test

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	vcclient "volcano.sh/apis/pkg/client/clientset/versioned"

	paddleclient "github.com/paddle-volcano/paddle-volcano/controller/client/clientset/versioned"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

const (
	namespace    = "gangs"
	blocks       = 10
	racksInBlock = 5
	nodesInRack  = 10
	gpusOfNode   = 8
)

// topology is 500 nodes of 8 GPUs.
//
//	                      cluster
//	      block-0                          ...  block-9
//	rack-0       ...  rack-4               ...  rack-45 ...  rack-49
//	10 x 8 GPUs       10 x 8 GPUs               10 x 8 GPUs  10 x 8 GPUs
func topology() *sandbox.Topology {
	return &sandbox.Topology{
		Shapes: map[string]sandbox.Shape{"gpu": {CPU: "96", Memory: "1Ti", GPUs: gpusOfNode, Product: "NVIDIA-A100-SXM4-80GB"}},
		Blocks: []sandbox.Block{{Count: ptr.To(blocks), Racks: []sandbox.Rack{{
			Count: ptr.To(racksInBlock), Nodes: []sandbox.NodeGroup{{Shape: "gpu", Count: ptr.To(nodesInRack)}},
		}}}},
	}
}

// plane is a sandbox with the clients that the test needs.
type plane struct {
	*sandbox.Sandbox
	kube    kubernetes.Interface
	volcano vcclient.Interface
	paddle  paddleclient.Interface
	nodes   []corev1.Node
}

func startPlane(t *testing.T) *plane {
	t.Helper()
	s, err := sandbox.Start(t.Context(), sandbox.Options{
		StateDir: "../../_output/test-gangs", Progress: os.Stderr, Topology: topology(),
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	p := &plane{Sandbox: s}
	config := s.RESTConfig()
	config.WarningHandler = rest.NoWarnings{}
	p.kube, err = kubernetes.NewForConfig(config)
	require.NoError(t, err)
	p.volcano, err = vcclient.NewForConfig(config)
	require.NoError(t, err)
	p.paddle, err = paddleclient.NewForConfig(config)
	require.NoError(t, err)
	nodes, err := p.kube.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	p.nodes = nodes.Items
	require.Len(t, p.nodes, blocks*racksInBlock*nodesInRack)
	p.makeNamespace(t)
	return p
}

// makeNamespace makes the namespace of all jobs. No pod is admitted there before the service account exists.
func (p *plane) makeNamespace(t *testing.T) {
	t.Helper()
	_, err := p.kube.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	accounts, err := p.kube.CoreV1().ServiceAccounts(namespace).Watch(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	defer accounts.Stop()
	for event := range accounts.ResultChan() {
		if account, ok := event.Object.(*corev1.ServiceAccount); ok && account.Name == "default" {
			return
		}
	}
	require.FailNow(t, "namespace "+namespace+" got no service account", "logs in %s", p.StateDir())
}
