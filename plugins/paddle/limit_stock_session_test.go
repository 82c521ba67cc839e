// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
)

// besides are configurations of network-topology-aware and the plugin, in both orders; without the plugin's own lines they
// are stock's.
var besides = map[string]string{
	"plugin first":           configuration(actionsAll, tier(1, "", ""), tier(2, withPaddle+withTopologyAware, "")),
	"plugin last":            configuration(actionsAll, tier(1, "", ""), tier(2, withTopologyAware, withPaddle)),
	"plugin in a later tier": configuration(actionsAll, tier(1, "", withTopologyAware), tier(2, "", withPaddle)),
	"plugin alone":           configuration(actionsAll, tier(1, "", withPaddle), tier(2, "", "")),
}

// Jobs that are not Paddle's get the nodes that they would get without the plugin, beside a Paddle job that has no capacity.
// Nodes are unequally loaded, so that Volcano's scores never tie: it would choose at random.
//
//	           b1                            b2
//	    r1           r2              r3              r4
//	n1  n2  n3   n4  n5  n6     n7  n8  n9      n10 n11 n12     8 GPUs each, 1 to 12 of 64 CPUs used
func TestOthersAreLeftToStock(t *testing.T) {
	stock := map[string]map[string]string{} // by configuration and job
	for _, name := range slices.Sorted(maps.Keys(besides)) {
		t.Run(name, func(t *testing.T) {
			configured := besides[name]
			without := strings.ReplaceAll(configured, withPaddle, "")
			require.NotEqual(t, configured, without)
			for _, job := range othersJobs {
				expected := stock[without+job.name]
				if expected == nil {
					expected = othersPlaced(t, without, job)
					stock[without+job.name] = expected
				}
				require.Len(t, expected, job.n)
				require.Equal(t, expected, othersPlaced(t, configured, job), job.name)
			}
		})
	}
}

type othersJob struct {
	name   string
	mode   scheduling.NetworkTopologyMode
	tier   any
	groups bool
	n      int
}

var othersJobs = []othersJob{
	{name: "no limit", n: 6},
	{name: "soft", mode: softMode, n: 6},
	{name: "hard, tier 1", mode: hardMode, tier: 1, n: 6},
	{name: "hard, tier name", mode: hardMode, tier: "rack", n: 6},
	{name: "hard, tier 2", mode: hardMode, tier: 2, n: 25},
	{name: "groups, hard, tier 1", mode: hardMode, tier: 1, groups: true, n: 6},
}

// othersPlaced is where the pods of a job that is not Paddle's go.
func othersPlaced(t *testing.T, configured string, job othersJob) map[string]string {
	t.Helper()
	c := newCluster(t, configured)
	racks, blocks := map[string][]string{}, map[string][]string{}
	for i := range 12 {
		name, rack, block := fmt.Sprintf("n%d", i+1), fmt.Sprintf("r%d", i/3+1), fmt.Sprintf("b%d", i/6+1)
		racks[rack], blocks[block] = append(racks[rack], name), append(blocks[block], name)
		load := plainPods("load"+name, "task", 1, resources{"cpu": strconv.Itoa((i*5)%12 + 1)})
		c.add(gpuNode(name, "", 8), started(podGroup("load"+name, 1, nil)), running(load, name))
	}
	var hypers []hyper
	for name, nodes := range racks {
		hypers = append(hypers, hyper{name, 1, "rack", nodes})
	}
	for name, nodes := range blocks {
		hypers = append(hypers, hyper{name, 2, "block", nodes})
	}
	c.hyperNodes(hypers...)

	large, ofLarge := ring("large", 97) // has no capacity anywhere
	c.add(ranked(large, "", 1), ofLarge)
	group := ranked(podGroup("o", int32(job.n), nil), "", 2)
	all := plainPods("o", "task", job.n, resources{"cpu": "3", "memory": "1Gi", "nvidia.com/gpu": "1"})
	switch {
	case job.groups:
		grouped(group, int32(job.n/2), job.mode, job.tier)
		inGroups(all, job.n/2)
	case job.mode != "":
		within(group, job.mode, job.tier)
	}
	c.add(group, all)
	c.session()
	if strings.Contains(configured, "paddle") {
		require.Empty(t, c.count("large"))
	}
	placed := c.nodes()
	maps.DeleteFunc(placed, func(pod, _ string) bool { return !strings.HasPrefix(pod, "o-") })
	return placed
}
