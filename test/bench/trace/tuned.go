// SPDX-License-Identifier: Apache-2.0

package trace

import (
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

// Names of Volcano's set-ups as somebody would have them who knows what the defaults lack, and of ours where nobody has said how
// wide the links are. They are no part of the comparison that has bars.
const (
	packedGPUs = "gpu-binpack"
	hardBlocks = "network-topology-aware-hard"
	hardPacked = "network-topology-aware-hard+gpu-binpack"
	softPacked = "network-topology-aware+gpu-binpack"
	together   = "task-topology-together"

	bytesUntold   = bytesFirst + "-untold"
	busiestUntold = busiestFirst + "-untold"
	// bytesPacked packs the pods of others, too: only Paddle's jobs are placed by the plugin.
	bytesPacked = bytesFirst + "+gpu-binpack"
)

// packing lets the plugin binpack count GPUs, which it does not by default, and more than anything else does. The plugin is in
// stock's configuration already: the arguments that are read last count, and what it says is added up for each time that it is
// named. So weight 5 is one of 10.
const packing = `  - name: binpack
    arguments:
      binpack.weight: 5
      binpack.cpu: 1
      binpack.memory: 1
      binpack.resources: nvidia.com/gpu
      binpack.resources.nvidia.com/gpu: 10
`

// tuned set-ups by name.
func tuned() map[string]cluster.Setup {
	packed, soft, hard := cluster.Stock(), cluster.NetworkTopology(), cluster.NetworkTopology()
	hard.Dress = inOneBlock
	packed.After += packing
	softAndPacked, hardAndPacked, ours := soft, hard, cluster.Paddle(map[string]string{"objective": "bytes"})
	ours.After += packing
	softAndPacked.After += packing
	hardAndPacked.After += packing
	return map[string]cluster.Setup{
		packedGPUs: packed, hardBlocks: hard, hardPacked: hardAndPacked, softPacked: softAndPacked, bytesPacked: ours,
		together:      cluster.TaskTopologyTogether(),
		bytesUntold:   cluster.Paddle(map[string]string{"objective": "bytes"}),
		busiestUntold: cluster.Paddle(map[string]string{"objective": "max-link-load"}),
	}
}

// inOneBlock asks for one block at most. Volcano tries racks first then, which it does not where a job asks softly; a job waits
// while no block has room for it.
func inOneBlock(_ *cluster.Job, group *scheduling.PodGroup) {
	const block = 2
	highest := block
	group.Spec.NetworkTopology = &scheduling.NetworkTopologySpec{Mode: scheduling.HardNetworkTopologyMode, HighestTierAllowed: &highest}
}
