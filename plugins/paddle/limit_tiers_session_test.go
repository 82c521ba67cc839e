// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
)

const withTopologyAware = "  - name: network-topology-aware\n"

// tiersOf are the arguments by which a job of 6 is cheapest where tier 2 does not hold it (each border costs as much).
const tiersOf = withPaddle + "    arguments:\n      tier-weights: 1, 1, 1\n      topology-labels: "

// topologies are the sources of the network, and the places of network-topology-aware.
var topologies = map[string]string{
	"labels":                           configuration(actionsAll, tier(1, "", tiersOf+"rack, fabric/block\n"), tier(2, "", "")),
	"labels, topology-aware":           configuration(actionsAll, tier(1, "", tiersOf+"rack, fabric/block\n"), tier(2, "", withTopologyAware)),
	"hypernodes":                       configuration(actionsAll, tier(1, "", tiersOf+"\"\"\n"), tier(2, "", "")),
	"hypernodes, topology-aware after": configuration(actionsAll, tier(1, "", tiersOf+"\"\"\n"), tier(2, "", withTopologyAware)),
	"hypernodes, topology-aware before": configuration(actionsAll, tier(1, "", withTopologyAware+tiersOf+"\"\"\n"),
		tier(2, "", "")),
	"hypernodes, topology-aware in an earlier tier": configuration(actionsAll, "- plugins:\n"+withTopologyAware, tier(1, "", ""),
		tier(2, "", tiersOf+"\"\"\n")),
	"hypernodes, plugin first": configuration(actionsAll, "- plugins:\n"+tiersOf+"\"\"\n", tier(1, "", ""), tier(2, withTopologyAware, "")),
}

// inEveryTopology runs a test once per source in this cluster:
//
//	         b1                b2      b3
//	    r1        r2           r3      r4
//	n1 n2 n3   n4 n5 n6        n7      n8
//	1 GPU each                5 GPUs  1 GPU
func inEveryTopology(t *testing.T, test func(t *testing.T, c *cluster)) {
	for _, name := range slices.Sorted(maps.Keys(topologies)) {
		t.Run(name, func(t *testing.T) {
			labels := strings.HasPrefix(name, "labels")
			c := newCluster(t, topologies[name])
			racks := map[string][]string{"r1": {"n1", "n2", "n3"}, "r2": {"n4", "n5", "n6"}, "r3": {"n7"}, "r4": {"n8"}}
			blocks := map[string]string{"r1": "b1", "r2": "b1", "r3": "b2", "r4": "b3"}
			nodes := map[string][]string{}
			var hypers []hyper
			for _, rack := range slices.Sorted(maps.Keys(racks)) {
				for _, name := range racks[rack] {
					gpus := 1
					if name == "n7" {
						gpus = 5
					}
					n := gpuNode(name, "", gpus)
					if labels {
						marked(n, "rack", rack, "fabric/block", blocks[rack])
					}
					c.add(n)
				}
				nodes[blocks[rack]] = append(nodes[blocks[rack]], racks[rack]...)
				hypers = append(hypers, hyper{rack, 1, "rack", racks[rack]})
			}
			for _, block := range slices.Sorted(maps.Keys(nodes)) {
				hypers = append(hypers, hyper{block, 2, "fabric/block", nodes[block]})
			}
			if !labels {
				c.hyperNodes(hypers...)
			}
			test(t, c)
		})
	}
}

var inBlock = map[string]int{"n1": 1, "n2": 1, "n3": 1, "n4": 1, "n5": 1, "n6": 1}

// A job of 6 is cheapest with 5 workers on n7 and one elsewhere. A limit is kept, by number or by name, and without one
// the cheapest is taken.
func TestLimitOfTiers(t *testing.T) {
	inEveryTopology(t, func(t *testing.T, c *cluster) {
		for i, test := range []struct {
			name string
			mode scheduling.NetworkTopologyMode
			tier any
			n    int
			want map[string]int // nil: the cheapest; empty: none
			why  string
		}{
			{name: "no limit", n: 6},
			{name: "soft", mode: softMode, tier: 1, n: 6},
			{name: "soft without a tier", mode: softMode, n: 6},
			{name: "hard, tier 2", mode: hardMode, tier: 2, n: 6, want: inBlock},
			{name: "hard, tier name of tier 2", mode: hardMode, tier: "fabric/block", n: 6, want: inBlock},
			{name: "hard, tier 1", mode: hardMode, tier: 1, n: 6, want: map[string]int{}, why: "networkTopology hard, tier 1"},
			{name: "hard, tier name of tier 1", mode: hardMode, tier: "rack", n: 6, want: map[string]int{}, why: "networkTopology hard, tier 1"},
			{name: "hard, tier 1, fits", mode: hardMode, tier: 1, n: 5, want: map[string]int{"n7": 5}},
			{name: "hard, tier above all", mode: hardMode, tier: 3, n: 6},
			{name: "hard, unknown tier name", mode: hardMode, tier: "pod", n: 2, want: map[string]int{}, why: `highestTierName "pod" is not known`},
			{name: "hard, tier below all", mode: hardMode, tier: 0, n: 2, want: map[string]int{}, why: "highestTierAllowed 0"},
		} {
			t.Run(test.name, func(t *testing.T) {
				job := fmt.Sprintf("j%02d", i)
				group, workers := ring(job, test.n)
				if test.mode != "" {
					within(group, test.mode, test.tier)
				}
				c.add(group, workers)
				counts := planned(t, c.session)
				require.Zero(t, counts.refused)
				require.Zero(t, counts.fallback)
				if test.want != nil {
					require.Equal(t, test.want, c.count(job))
				} else {
					require.Equal(t, 5, c.count(job)["n7"])
					require.Len(t, c.bound(), test.n)
				}
				require.Contains(t, c.condition(job).Message, test.why)
				before := c.nodes()
				c.session() // a job that waits goes on waiting
				require.Equal(t, before, c.nodes())
				for _, pod := range workers {
					c.remove(pod.Name)
				}
				c.cache.DeletePodGroupV1beta1(group)
			})
		}
	})
}

// The reason says which limit it is, and what would help.
func TestLimitIsExplained(t *testing.T) {
	inEveryTopology(t, func(t *testing.T, c *cluster) {
		group, workers := ring("j", 6)
		c.add(within(group, hardMode, 1), workers)
		c.session()
		require.Regexp(t, `of 6 workers do(es)? not fit: .*of the 6 GPUs that the workers need \(networkTopology hard, tier 1\); it fits with tier 2`,
			c.condition("j").Message)
	})
}

// A flat network has no tiers: a name is not known, and a number is no limit, as in Volcano without HyperNodes.
//
//	 n1      n2      n3
//	1 GPU   1 GPU   1 GPU
func TestLimitInAFlatNetwork(t *testing.T) {
	for _, test := range []struct {
		tier any
		n    int
		why  string
	}{
		{tier: 1, n: 3}, {tier: 2, n: 3},
		{tier: "rack", why: `highestTierName "rack" is not known: the cluster has no tiers above its nodes`},
		{tier: 0, why: "highestTierAllowed 0"},
	} {
		t.Run(fmt.Sprint(test.tier), func(t *testing.T) {
			group, workers := ring("j", 3)
			c := newCluster(t, shipped, gpuNode("n1", "", 1), gpuNode("n2", "", 1), gpuNode("n3", "", 1),
				within(group, hardMode, test.tier), workers)
			c.session()
			c.session()
			require.Len(t, c.bound(), test.n)
			require.Contains(t, c.condition("j").Message, test.why)
		})
	}
}
