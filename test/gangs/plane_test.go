// SPDX-License-Identifier: Apache-2.0

package gangs_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

const (
	namespace    = "gangs"
	racksInBlock = 5
	nodesInRack  = 10
	gpusOfNode   = 8
)

// parts is by how much the 10 blocks and 200 jobs are divided: by 5, unless everything is tested.
func parts() int {
	if live.All() {
		return 1
	}
	return 5
}

func blocks() int { return 10 / parts() }

// topology is 500 nodes of 8 GPUs, or a fifth of them.
//
//	                      cluster
//	      block-0                          ...  block-9
//	rack-0       ...  rack-4               ...  rack-45 ...  rack-49
//	10 x 8 GPUs       10 x 8 GPUs               10 x 8 GPUs  10 x 8 GPUs
func topology() *sandbox.Topology {
	return &sandbox.Topology{
		Shapes: map[string]sandbox.Shape{"gpu": {CPU: "96", Memory: "1Ti", GPUs: gpusOfNode, Product: "NVIDIA-A100-SXM4-80GB"}},
		Blocks: []sandbox.Block{{Count: ptr.To(blocks()), Racks: []sandbox.Rack{{
			Count: ptr.To(racksInBlock), Nodes: []sandbox.NodeGroup{{Shape: "gpu", Count: ptr.To(nodesInRack)}},
		}}}},
	}
}

// plane is a sandbox with what the test needs to know of it.
type plane struct {
	*live.Plane
	nodes []corev1.Node
}

func startPlane(t *testing.T) *plane {
	t.Helper()
	s, err := sandbox.Start(t.Context(), sandbox.Options{
		StateDir: "../../_output/test-gangs", Progress: os.Stderr, Topology: topology(),
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	connected, err := live.Connect(s)
	require.NoError(t, err)
	nodes, err := connected.Kube.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, nodes.Items, blocks()*racksInBlock*nodesInRack)
	connected.NamespaceNamed(t, namespace)
	return &plane{Plane: connected, nodes: nodes.Items}
}
