// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// place is a node of a test: its rack, block and GPUs.
type place struct {
	rack, block string
	gpus        int
}

// inBothTopologies runs a test with racks and blocks from labels and from HyperNodes.
func inBothTopologies(t *testing.T, nodes map[string]place, test func(t *testing.T, c *cluster)) {
	for _, source := range []string{"labels", "hypernodes", "hypernodes, topology-aware before"} {
		t.Run(source, func(t *testing.T) {
			c := newCluster(t, topologies[source])
			c.places(source == "labels", nodes)
			test(t, c)
		})
	}
}

// places adds nodes with labels, or with all that the cluster then has of HyperNodes.
func (c *cluster) places(byLabels bool, nodes map[string]place) {
	racks, blocks := map[string][]string{}, map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		at := nodes[name]
		n := gpuNode(name, "", at.gpus)
		if byLabels {
			marked(n, "rack", at.rack, "fabric/block", at.block)
		}
		c.add(n)
		racks[at.rack] = append(racks[at.rack], name)
		blocks[at.block] = append(blocks[at.block], name)
	}
	if byLabels {
		return
	}
	var hypers []hyper
	for tier, domains := range []map[string][]string{racks, blocks} {
		for _, name := range slices.Sorted(maps.Keys(domains)) {
			hypers = append(hypers, hyper{name, tier + 1, "", domains[name]})
		}
	}
	c.hyperNodes(hypers...)
}

// racksOf are the racks, or with another label the domains, of pods that have one value of label "group".
func racksOf(c *cluster, pods []*corev1.Pod, nodes map[string]place, domain func(place) string) map[string][]string {
	found := map[string][]string{}
	bound := c.nodes()
	for _, pod := range pods {
		if node, ok := bound[pod.Name]; ok {
			at := domain(nodes[node])
			if group := pod.Labels["group"]; !slices.Contains(found[group], at) {
				found[group] = append(found[group], at)
			}
		}
	}
	return found
}

func rackOf(at place) string { return at.rack }

// Two groups of 3: there is capacity for 6 pods, but for only one group in one rack. Nothing starts; then a rack is added.
//
//	 b1             b2
//	 r1       r2        r3 (comes later)
//	 n1       n2      n3   n4   n5
//	5 GPUs   1 GPU     1 GPU each
func TestEachGroupInARackOfItsOwn(t *testing.T) {
	nodes := map[string]place{"n1": {"r1", "b1", 5}, "n2": {"r2", "b2", 1}}
	more := map[string]place{"n3": {"r3", "b2", 1}, "n4": {"r3", "b2", 1}, "n5": {"r3", "b2", 1}}
	maps.Copy(more, nodes)
	for _, source := range []string{"labels", "hypernodes"} {
		t.Run(source, func(t *testing.T) {
			group, workers := ring("j", 6)
			c := newCluster(t, topologies[source], grouped(group, 3, hardMode, 1), inGroups(workers, 3))
			c.places(source == "labels", nodes)
			c.sessions(2)
			require.Contains(t, c.condition("j").Message, "networkTopology hard, tier 1")

			c.places(source == "labels", more)
			c.session()
			require.Equal(t, map[string]int{"n1": 3, "n3": 1, "n4": 1, "n5": 1}, c.count("j"))
			for _, racks := range racksOf(c, workers, more, rackOf) {
				require.Len(t, racks, 1)
			}
		})
	}
}

// The same with a soft limit starts at once, across the racks.
func TestGroupsWithASoftLimit(t *testing.T) {
	inBothTopologies(t, map[string]place{"n1": {"r1", "b1", 5}, "n2": {"r2", "b2", 1}}, func(t *testing.T, c *cluster) {
		group, workers := ring("j", 6)
		c.add(grouped(group, 3, softMode, 1), inGroups(workers, 3))
		c.session()
		require.Equal(t, map[string]int{"n1": 5, "n2": 1}, c.count("j"))
	})
}

// The groups keep to racks and the job to a block: where one group goes binds the other, although it would be cheapest on
// the one node in the other block.
//
//	        b1                 b2
//	 r1         r2             r3
//	 n1      n2     n3         n4
//	3 GPUs  2 GPUs  1 GPU     3 GPUs
func TestGroupsInRacksAndTheJobInABlock(t *testing.T) {
	nodes := map[string]place{"n1": {"r1", "b1", 3}, "n2": {"r2", "b1", 2}, "n3": {"r2", "b1", 1}, "n4": {"r3", "b2", 3}}
	inBothTopologies(t, nodes, func(t *testing.T, c *cluster) {
		group, workers := ring("j", 6)
		c.add(within(grouped(group, 3, hardMode, 1), hardMode, 2), inGroups(workers, 3))
		c.session()
		c.session()
		require.Equal(t, map[string]int{"n1": 3, "n2": 2, "n3": 1}, c.count("j"))
	})
}

// No block holds both groups: nothing starts, although each group has a rack.
//
//	        b1                 b2
//	 r1         r2             r3
//	 n1         n2             n4
//	3 GPUs     2 GPUs         3 GPUs
func TestGroupsThatFitRacksButNoBlock(t *testing.T) {
	nodes := map[string]place{"n1": {"r1", "b1", 3}, "n2": {"r2", "b1", 2}, "n4": {"r3", "b2", 3}}
	inBothTopologies(t, nodes, func(t *testing.T, c *cluster) {
		group, workers := ring("j", 6)
		c.add(within(grouped(group, 3, hardMode, 1), hardMode, 2), inGroups(workers, 3))
		c.sessions(2)
		require.Contains(t, c.condition("j").Message, "networkTopology")
	})
}

// The groups say nothing, and the job must be in one rack: so must each group, in the same one.
//
//	        b1                 b2
//	 r1         r2             r3
//	 n1      n2     n3         n4
//	3 GPUs  4 GPUs  2 GPUs    4 GPUs
func TestGroupsWithoutALimitKeepTheJobs(t *testing.T) {
	nodes := map[string]place{"n1": {"r1", "b1", 3}, "n2": {"r2", "b1", 4}, "n3": {"r2", "b1", 2}, "n4": {"r3", "b2", 4}}
	inBothTopologies(t, nodes, func(t *testing.T, c *cluster) {
		group, workers := ring("j", 6)
		grouped(group, 3, "", nil)
		group.Spec.SubGroupPolicy[0].NetworkTopology = nil
		c.add(within(group, hardMode, 1), inGroups(workers, 3))
		c.session()
		c.session()
		require.Equal(t, map[string]int{"n2": 4, "n3": 2}, c.count("j"))
	})
}

// Servers are in no group: they go near the groups, and the job's own limit binds them.
//
//	        b1                 b2
//	 r1         r2             r3
//	 n1         n2             n4
//	2 GPUs     2 GPUs         8 CPUs, no GPU
func TestServersBesideGroups(t *testing.T) {
	nodes := map[string]place{"n1": {"r1", "b1", 2}, "n2": {"r2", "b1", 2}, "n4": {"r3", "b2", 2}}
	inBothTopologies(t, nodes, func(t *testing.T, c *cluster) {
		group := podGroup("j", 6, map[string]int32{"ps": 2, "worker": 4})
		c.add(within(grouped(group, 2, hardMode, 1), hardMode, 2), pods("j", "ps", 2, onCPU), inGroups(pods("j", "worker", 4, onGPU), 2))
		c.session()
		c.session()
		require.Len(t, c.bound(), 6)
		require.NotContains(t, c.on("j"), "n4")
	})
}
