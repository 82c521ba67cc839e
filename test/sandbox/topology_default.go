// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	_ "embed"
	"fmt"
)

// demoTopology is what `paddle-sandbox up` starts with, and an example of the format.
//
//go:embed demo.yaml
var demoTopology []byte

const (
	nodesPerRack  = 4
	racksPerBlock = 4
)

// Demo returns the default cluster: 16 nodes in 4 racks of 2 blocks, 4 of the nodes with 8 GPUs.
func Demo() *Topology {
	t, err := ParseTopology(demoTopology)
	if err != nil {
		panic(fmt.Sprintf("the embedded demo.yaml is broken: %v", err))
	}
	return t
}

// Uniform returns the given number of nodes of 16 cores and 64Gi, in racks of 4 and blocks of 4 racks. The last rack
// and the last block hold what is left over.
func Uniform(nodes int) *Topology {
	t := &Topology{Shapes: map[string]Shape{"standard": {CPU: "16", Memory: "64Gi"}}}
	for nodes > 0 {
		block := Block{}
		for range racksPerBlock {
			if nodes <= 0 {
				break
			}
			n := min(nodes, nodesPerRack)
			block.Racks = append(block.Racks, Rack{Nodes: []NodeGroup{{Shape: "standard", Count: &n}}})
			nodes -= n
		}
		t.Blocks = append(t.Blocks, block)
	}
	return t
}
