// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"testing"

	"github.com/stretchr/testify/require"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
)

// Two ranks on two nodes of one rack: per step each sends the model of 3 GB over its node's border, and nothing leaves the
// rack.
//
//	     r1
//	 n1      n2
//	1 GPU   1 GPU
func TestWhatAPlacedGangSendsIsCountedOnce(t *testing.T) {
	const node = `volcano_paddle_predicted_crossing_bytes_total{tier="node"}`
	group := podGroup("j", 2, map[string]int32{"worker": 2})
	group.Annotations = map[string]string{paddlejob.ParameterSizeAnnotation: "3e9"}
	c := newCluster(t, labelled(""), gpuNode("n1", "r1", 1), gpuNode("n2", "r1", 1), group, pods("j", "worker", 2, onGPU))
	changes := added(t, func() { c.sessions(1, "j-worker-0", "j-worker-1") })
	require.InDelta(t, 6e9, changes[node], 0)
	require.Zero(t, changes[`volcano_paddle_predicted_crossing_bytes_total{tier="rack"}`])
	c.run()
	changes = added(t, func() { c.sessions(2, "j-worker-0", "j-worker-1") })
	require.NotContains(t, changes, node)
}
