// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The nodes of a plan are cordoned one after another, as they are about to be taken: what is left to ordinary scoring
// keeps the limits as well, or nothing starts.
//
//	       r1                     r2
//	n1   n2   n3   n4      n5   n6   n7   n8   n9
//	      1 GPU each            1 GPU each
func TestFallbackKeepsLimits(t *testing.T) {
	nodes := map[string]place{
		"n1": {"r1", "b", 1}, "n2": {"r1", "b", 1}, "n3": {"r1", "b", 1}, "n4": {"r1", "b", 1},
		"n5": {"r2", "b", 1}, "n6": {"r2", "b", 1}, "n7": {"r2", "b", 1}, "n8": {"r2", "b", 1}, "n9": {"r2", "b", 1},
	}
	const arguments = withPaddle + "    arguments:\n      topology-labels: "
	byLabels := configuration(actionsAll, tier(1, "", arguments+"rack\n"), tier(2, "", withProbe))
	byHyperNodes := configuration(actionsAll, tier(1, "", arguments+"\"\"\n"), tier(2, "", withProbe))
	aware := configuration(actionsAll, tier(1, "", arguments+"\"\"\n"), tier(2, withTopologyAware, withProbe))
	for _, test := range []struct {
		name, configuration string
		colocation          bool
	}{
		{"networkTopology, labels", byLabels, false},
		{"networkTopology, HyperNodes", byHyperNodes, false},
		{"networkTopology, HyperNodes and topology-aware", aware, false},
		{"colocation, labels", byLabels, true},
		{"colocation, HyperNodes", byHyperNodes, true},
	} {
		for _, cordons := range []int{1, 2} {
			t.Run(test.name+" "+map[int]string{1: "one cordon", 2: "two cordons"}[cordons], func(t *testing.T) {
				cordoning(cordons, "j-worker-0", "j-worker-1", "j-worker-2")
				group, workers := ring("j", 3)
				within(group, hardMode, 1)
				if test.colocation {
					group, workers = oneServer(3)
					colocated(group, "Required")
				}
				c := newCluster(t, test.configuration, group, workers)
				c.places(test.configuration == byLabels, nodes)
				counts := planned(t, c.session)
				require.InDelta(t, cordons, counts.refused, 0)
				if cordons == 2 {
					require.InDelta(t, 1, counts.fallback, 0, "left to ordinary scoring after the second refusal")
					require.Empty(t, c.bound(), "two nodes of r1 are left")
					c.session()
					require.Subset(t, []string{"n5", "n6", "n7", "n8", "n9"}, c.on("j"))
				} else {
					require.Subset(t, []string{"n1", "n2", "n3", "n4"}, c.on("j"))
				}
				require.Len(t, c.bound(), len(workers))
			})
		}
	}
}

// Without a limit, what is left to ordinary scoring goes near the rest all the same: our rating outweighs Volcano's, which
// would fill the node that is nearly full.
//
//	             r1                       r2
//	n1   n2   n3   n4   n5   n6       n7           n8
//	      1 GPU each             1 free of 8  1 free of 8
func TestFallbackGoesNearTheOthers(t *testing.T) {
	cordoning(2, "j-worker-0", "j-worker-1")
	load := running(plainPods("o", "task", 2, resources{"cpu": "60", "memory": "500Gi", "nvidia.com/gpu": "7"}), "n7", "n8")
	group, workers := ring("j", 3)
	c := newCluster(t, racked("", withProbe), gpuNode("n1", "r1", 1), gpuNode("n2", "r1", 1), gpuNode("n3", "r1", 1),
		gpuNode("n4", "r1", 1), gpuNode("n5", "r1", 1), gpuNode("n6", "r1", 1), gpuNode("n7", "r2", 8), gpuNode("n8", "r2", 8),
		started(podGroup("o", 2, nil)), load, group, workers)
	counts := planned(t, c.session)
	require.InDelta(t, 2, counts.refused, 0)
	require.InDelta(t, 1, counts.fallback, 0)
	require.Len(t, c.on("j"), 3)
	require.Subset(t, []string{"n1", "n2", "n3", "n4", "n5", "n6"}, c.on("j"))
}
