// SPDX-License-Identifier: Apache-2.0

package trace

import (
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/opponents"
	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/site"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

// Names of Volcano's set-ups that are compared: as its user guides have them, and as an administrator would have them who knows what those
// lack.
const (
	taskTopology    = "task-topology"
	together        = "task-topology-together"
	networkTopology = "network-topology-aware"
	hardBlocks      = "network-topology-aware-hard"
	hardSized       = "network-topology-aware-hard-sized"
	hardAny         = "network-topology-aware-hard-any"
	hardPacked      = "network-topology-aware-hard+gpu-binpack"
	anyPacked       = "network-topology-aware-hard-any+gpu-binpack"
)

// Names of set-ups that are played only if asked for: more of Volcano's, and ours where nobody has said how wide the links are.
const (
	packedGPUs = "gpu-binpack"
	softPacked = "network-topology-aware+gpu-binpack"

	bytesUntold   = bytesFirst + "-untold"
	busiestUntold = busiestFirst + "-untold"
	// bytesPacked packs the pods of others, too: only Paddle's jobs are placed by the plugin.
	bytesPacked = bytesFirst + "+gpu-binpack"
)

// volcanos are the set-ups of Volcano that are compared.
func volcanos() []string {
	return []string{stock, taskTopology, together, networkTopology, hardBlocks, hardSized, hardAny, hardPacked, anyPacked}
}

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

// Tiers of HyperNodes. Volcano has a top of its own above the blocks, which holds all nodes.
const (
	blockTier = 2
	topTier   = 3
)

// setups of Volcano's scheduler by name.
func (s *Settings) setups() map[string]cluster.Setup {
	packed := func(setup cluster.Setup) cluster.Setup {
		setup.After += packing
		return setup
	}
	hard := func(highest func(*cluster.Job) int) cluster.Setup {
		setup := cluster.NetworkTopology()
		setup.Dress = func(job *cluster.Job, group *scheduling.PodGroup) {
			tier := highest(job)
			group.Spec.NetworkTopology = &scheduling.NetworkTopologySpec{Mode: scheduling.HardNetworkTopologyMode, HighestTierAllowed: &tier}
		}
		return setup
	}
	hosts := opponents.New(site.Cut(s.Hosts), nil)
	// At most one block: racks are tried first, and a job waits while no block has capacity for it.
	blocks := hard(func(*cluster.Job) int { return blockTier })
	// The lowest tier of which one HyperNode holds the job if nothing else runs; a job waits for it.
	sized := hard(func(job *cluster.Job) int { return max(1, hosts.Tier(job)) })
	// Racks first, then blocks, then all nodes: no job waits for a HyperNode.
	everywhere := hard(func(*cluster.Job) int { return topTier })
	return map[string]cluster.Setup{
		stock: cluster.Stock(), packedGPUs: packed(cluster.Stock()),
		taskTopology: cluster.TaskTopology(), together: cluster.TaskTopologyTogether(),
		networkTopology: cluster.NetworkTopology(), softPacked: packed(cluster.NetworkTopology()),
		hardBlocks: blocks, hardPacked: packed(blocks), hardSized: sized, hardAny: everywhere, anyPacked: packed(everywhere),
		bytesFirst: s.paddle("bytes"), busiestFirst: s.paddle("max-link-load"),
		bytesPacked: packed(cluster.Paddle(map[string]string{"objective": "bytes"})),
		bytesUntold: cluster.Paddle(map[string]string{"objective": "bytes"}), busiestUntold: cluster.Paddle(map[string]string{"objective": "max-link-load"}),
	}
}
