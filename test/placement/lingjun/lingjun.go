// SPDX-License-Identifier: Apache-2.0

// Package lingjun holds the topology of a production GPU cluster, 847 hosts in a three-layer Clos network.
//
// README.md says where the data comes from and what is assumed beyond it. Nothing is planned here but in tests.
package lingjun

import (
	_ "embed" // the data
	"encoding/csv"
	"fmt"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

//go:embed lingjun_topo.csv
var data string

// The capacity of each host. It is not in the data: these are the sizes of a usual host of 8 GPUs on one NVSwitch.
const (
	GPUs        = 8
	milliCPUs   = 128_000
	memoryBytes = 1 << 40
	pods        = 110
)

// Spec returns the whole cluster, with nothing on it: 847 hosts in 119 racks of 3 blocks under one core. Resources are thousandths of
// a CPU, bytes, pods and GPUs. A rack is a pair of psw and asw: equal asw below two psw are two racks. Prices are the planner's
// defaults; bandwidths are not in the data.
func Spec() placement.TopologySpec {
	rows, err := csv.NewReader(strings.NewReader(data)).ReadAll()
	if err != nil {
		panic(fmt.Sprintf("the embedded topology is broken: %v", err)) // a test reads it
	}
	spec := placement.TopologySpec{
		Resources: []string{"cpu", "memory", "pods", "nvidia.com/gpu"}, Accelerators: []string{"nvidia.com/gpu"},
		Tiers: placement.DefaultTiers("rack", "block", "core"),
	}
	for _, row := range rows[1:] { // host, dsw, psw, asw
		spec.Nodes = append(spec.Nodes, placement.NodeSpec{
			Name: row[0], Domains: []string{row[3], row[2], row[1]},
			Free: []int64{milliCPUs, memoryBytes, pods, GPUs}, Islands: []placement.Island{{Size: GPUs, Free: GPUs}},
		})
	}
	return spec
}
