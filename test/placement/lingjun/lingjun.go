// SPDX-License-Identifier: Apache-2.0

package lingjun

import (
	_ "embed" // the data
	"fmt"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

//go:embed lingjun_topo.csv
var data string

// What each host has. The data says nothing of it; these are the sizes of a usual host of 8 GPUs on one NVSwitch.
const (
	GPUs        = 8
	MilliCPUs   = 128_000
	MemoryBytes = 1 << 40
	Pods        = 110
)

// Resources in the order of every vector of amounts: thousandths of a CPU, bytes, pods, GPUs.
func Resources() []string { return []string{"cpu", "memory", "pods", "nvidia.com/gpu"} }

// Tiers of the cluster: island and node, then rack (a pair of psw and asw), block (psw) and core (dsw). Prices are the
// planner's defaults; bandwidths are not in the data and left alone.
func Tiers() []placement.Tier { return placement.DefaultTiers("rack", "block", "core") }

// Spec is the whole cluster, with nothing on it: 847 hosts in 119 racks of 3 blocks under one core.
func Spec() placement.TopologySpec {
	spec, err := Read(strings.NewReader(data))
	if err != nil {
		panic(fmt.Sprintf("the embedded topology is broken: %v", err)) // a test reads it
	}
	return spec
}
