// SPDX-License-Identifier: Apache-2.0

package load

import "github.com/paddle-volcano/paddle-volcano/test/sandbox"

const (
	nodesOfRack  = 16
	racksOfBlock = 8
	// mostUsed is how much of the cluster a load may take, so that no scheduler has to solve a puzzle.
	mostUsed = 0.8
)

// Cluster is so many nodes of 8 GPUs, in racks of 16 and blocks of 8 racks; the last ones hold what is left over.
func Cluster(nodes int) *sandbox.Topology {
	t := &sandbox.Topology{Shapes: map[string]sandbox.Shape{"gpu": {CPU: "96", Memory: "768Gi", GPUs: GPUsOfNode}}}
	for nodes > 0 {
		var block sandbox.Block
		for range racksOfBlock {
			if nodes <= 0 {
				break
			}
			n := min(nodes, nodesOfRack)
			block.Racks = append(block.Racks, sandbox.Rack{Nodes: []sandbox.NodeGroup{{Shape: "gpu", Count: &n}}})
			nodes -= n
		}
		t.Blocks = append(t.Blocks, block)
	}
	return t
}

// Fit is how many gangs of what size are submitted to a cluster where gangs x gang pods were asked for: scale times as many
// pods, and no more than four fifths of the cluster's GPUs. There are fewer gangs rather than smaller ones; of one gang
// alone, the size is scaled.
func Fit(gangs, gang, nodes int, scale float64) (int, int) {
	pods := max(1, min(int(float64(gangs*gang)*scale), int(float64(nodes*GPUsOfNode)*mostUsed)))
	if gangs == 1 || gang > pods {
		return 1, min(gang, pods)
	}
	return pods / gang, gang
}
