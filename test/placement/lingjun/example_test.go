// SPDX-License-Identifier: Apache-2.0

package lingjun_test

import (
	"fmt"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/lingjun"
)

// A plan of 64 GPUs: one rack has as many.
func ExampleSpec() {
	topology, err := placement.NewTopology(lingjun.Spec())
	if err != nil {
		panic(err)
	}
	plan, err := placement.Solve(topology, collective(8), placement.Options{})
	if err != nil {
		panic(err)
	}
	for _, tier := range plan.Cost.Tiers[placement.NodeTier:] {
		fmt.Printf("%s: %d used, %.0f GB cross\n", tier.Tier.Name, tier.Domains, tier.Bytes/1e9)
	}
	// Output:
	// node: 8 used, 220 GB cross
	// rack: 1 used, 0 GB cross
	// block: 1 used, 0 GB cross
	// core: 1 used, 0 GB cross
}
