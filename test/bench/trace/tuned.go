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

// Names of set-ups that are played only if asked for: more of Volcano's, and the plugin without bandwidths.
const (
	packedGPUs = "gpu-binpack"
	softPacked = "network-topology-aware+gpu-binpack"

	bytesUntold   = bytesFirst + "-untold"
	busiestUntold = busiestFirst + "-untold"
	// bytesUnpacked has Volcano's default of binpack, which does not count GPUs.
	bytesUnpacked = bytesFirst + "-without-gpu-binpack"
)

// volcanos are the set-ups of Volcano that are compared.
func volcanos() []string {
	return []string{stock, taskTopology, together, networkTopology, hardBlocks, hardSized, hardAny, hardPacked, anyPacked}
}

// Tiers of HyperNodes. Volcano has a top of its own above the blocks, which holds all nodes.
const (
	blockTier = 2
	topTier   = 3
)

// setups of Volcano's scheduler by name.
func (s *Settings) setups() map[string]cluster.Setup {
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
		stock: cluster.Stock(), packedGPUs: cluster.Stock().PackGPUs(),
		taskTopology: cluster.TaskTopology(), together: cluster.TaskTopologyTogether(),
		networkTopology: cluster.NetworkTopology(), softPacked: cluster.NetworkTopology().PackGPUs(),
		hardBlocks: blocks, hardPacked: blocks.PackGPUs(), hardSized: sized, hardAny: everywhere, anyPacked: everywhere.PackGPUs(),
		bytesFirst: s.paddle("bytes").PackGPUs(), busiestFirst: s.paddle("max-link-load").PackGPUs(), bytesUnpacked: s.paddle("bytes"),
		bytesUntold:   cluster.Paddle(map[string]string{"objective": "bytes"}).PackGPUs(),
		busiestUntold: cluster.Paddle(map[string]string{"objective": "max-link-load"}).PackGPUs(),
	}
}
