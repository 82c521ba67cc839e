// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

func TestSync_RebuildsOnlyIfTheTreeChanges(t *testing.T) {
	replaced := func(c *cluster, change func(node *corev1.Node)) {
		c.nodes["n01"] = c.nodes["n01"].DeepCopy()
		change(c.nodes["n01"])
	}
	for _, test := range []struct {
		name    string
		change  func(c *cluster)
		rebuilt bool
	}{
		{"nothing", func(*cluster) {}, false},
		{"a pod", func(c *cluster) { c.pod("n01", "p", map[string]string{"cpu": "1", gpu: "2"}) }, false},
		{"another object of a node that says the same", func(c *cluster) { replaced(c, func(*corev1.Node) {}) }, false},
		{"a label that is not configured", func(c *cluster) { replaced(c, func(n *corev1.Node) { n.Labels = map[string]string{"x": "y"} }) }, false},
		{"a label that HyperNodes go before", func(c *cluster) { replaced(c, func(n *corev1.Node) { n.Labels = map[string]string{rackKey: "a"} }) }, false},
		{"fewer CPUs", func(c *cluster) { c.node("n01", map[string]string{"cpu": "1", gpu: "8"}, nil) }, false},
		{"fewer GPUs of one island", func(c *cluster) { c.node("n01", map[string]string{gpu: "4"}, nil) }, false},
		{"a resource that was requested already", func(c *cluster) { c.scalars = []string{gpu, "cpu", "pods"} }, false},
		{"a resource that no job requested before", func(c *cluster) { c.scalars = []string{"rdma/hca"} }, true},
		{"an accelerator that no node had", func(c *cluster) { c.node("n01", map[string]string{"kunlunxin.com/xpu": "8"}, nil) }, true},
		{"islands", func(c *cluster) {
			replaced(c, func(n *corev1.Node) { n.Labels = map[string]string{productLabel: "NVIDIA-L40S"} })
		}, true},
		{"an NVLink domain", func(c *cluster) {
			replaced(c, func(n *corev1.Node) { n.Labels = map[string]string{CliqueLabel: "u.1"} })
		}, true},
		{"a node more", func(c *cluster) { c.node("n00", nil, nil) }, true},
		{"a node less", func(c *cluster) {
			delete(c.nodes, "n04")
			c.members["r2"].Delete("n04")
		}, true},
		{"a node for another", func(c *cluster) {
			delete(c.nodes, "n04")
			c.members["r2"].Delete("n04")
			c.node("n05", nil, nil)
		}, true},
		{"two nodes change places", func(c *cluster) {
			c.hyper("r1", 1, "", "n01", "n03")
			c.hyper("r2", 1, "", "n02", "n04")
		}, true},
		{"a node leaves its HyperNode", func(c *cluster) { c.members["r2"].Delete("n04") }, true},
		{"a node is in a second HyperNode", func(c *cluster) { c.members["r2"].Insert("n01") }, true},
		{"a HyperNode more", func(c *cluster) { c.hyper("b1", 2, "", "n01", "n02") }, true},
		{"a HyperNode less", func(c *cluster) { delete(c.hypers, "r2"); delete(c.members, "r2") }, true},
		{"a HyperNode without nodes", func(c *cluster) { c.hyper("empty", 1, "") }, true},
		{"a HyperNode of another name", func(c *cluster) {
			delete(c.hypers, "r2")
			c.hyper("r3", 1, "", "n03", "n04")
		}, true},
		{"another tier", func(c *cluster) { c.hypers["r2"].Spec.Tier = 2 }, true},
		{"another name of a tier", func(c *cluster) { c.hypers["r1"].Spec.TierName = "rack" }, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := racks(2, 2)
			n := c.built(t, Options{Labels: []string{rackKey}, Accelerators: withGPUs().Accelerators})
			before := n.Topology()
			test.change(c)
			require.Equal(t, test.rebuilt, c.sync(t, n))
			require.Equal(t, test.rebuilt, before != n.Topology())
			requireLikeNew(t, c, n)
			require.False(t, c.sync(t, n), "and then it stays")
		})
	}
}

// requireLikeNew compares a network with one that sees the cluster for the first time.
func requireLikeNew(t *testing.T, c *cluster, n *Cache) {
	t.Helper()
	fresh := c.built(t, n.options)
	require.Equal(t, paths(fresh), paths(n))
	require.Equal(t, tierNames(fresh), tierNames(n))
	require.Equal(t, fresh.tree.names, n.tree.names)
	require.Equal(t, fresh.warnings, n.warnings)
	require.Equal(t, string(fresh.Source()), string(n.Source()))
	require.Equal(t, fresh.tree.hyperNodes, n.tree.hyperNodes)
	for d := range fresh.Topology().Root() + 1 {
		was, is := byName(fresh, fresh.Topology().Free(d)), byName(n, n.Topology().Free(d))
		for name, amount := range is {
			require.Equal(t, was[name], amount, "%s of %s; resources only grow", name, fresh.Topology().DomainName(d))
		}
	}
}

func TestSync_LabelsCountOnlyWithoutHyperNodes(t *testing.T) {
	c := labelled()
	n := c.built(t, Options{Labels: []string{rackKey, blockKey}})
	c.nodes["n1"] = c.nodes["n1"].DeepCopy()
	c.nodes["n1"].Labels[rackKey] = "b"
	require.True(t, c.sync(t, n))
	require.Equal(t, []string{"east/a/n2", "east/b/n1", "east/b/n3", "west/a/n4"}, paths(n))
	c.hyper("r1", 1, "", "n1")
	require.True(t, c.sync(t, n))
	require.Equal(t, "hypernodes", string(n.Source()))
	c.nodes["n1"] = c.nodes["n1"].DeepCopy()
	c.nodes["n1"].Labels[rackKey] = "a"
	require.False(t, c.sync(t, n))
	delete(c.hypers, "r1")
	require.True(t, c.sync(t, n))
	require.Equal(t, []string{"east/a/n1", "east/a/n2", "east/b/n3", "west/a/n4"}, paths(n), "labels that changed meanwhile")
}

// A HyperNode's member that is no node of the session may be replaced by one that is.
func TestSync_HyperNodeMembersThatAreNoNodes(t *testing.T) {
	c := racks(1, 2)
	c.hyper("r2", 1, "", "elsewhere")
	c.with("n03")
	n := c.built(t, Options{})
	require.False(t, c.sync(t, n), "not rebuilt each time")
	c.hyper("r2", 1, "", "n03")
	require.True(t, c.sync(t, n), "as many members as before, one of them a node now")
	c.hyper("r1", 1, "", "n01", "n02", "elsewhere")
	require.True(t, c.sync(t, n))
	c.hyper("r1", 1, "", "n01", "n02", "n03")
	require.True(t, c.sync(t, n))
	c.hyper("r3", 1, "", "elsewhere")
	require.True(t, c.sync(t, n))
	require.False(t, c.sync(t, n))
	delete(c.hypers, "r3")
	require.True(t, c.sync(t, n))
	require.Equal(t, []string{"r1/n01", "r1/n02", "r1/n03"}, paths(n))
}

func TestSync_EmptyHyperNodeThatGetsNodes(t *testing.T) {
	c := racks(1, 2).with("n03")
	c.hyper("r2", 1, "")
	n := c.built(t, Options{})
	require.False(t, c.sync(t, n))
	c.hyper("r2", 1, "", "n03")
	require.True(t, c.sync(t, n))
	require.Equal(t, []string{"r1/n01", "r1/n02", "r2/n03"}, paths(n))
	delete(c.hypers, "r2")
	c.hyper("r4", 1, "")
	c.hyper("r3", 1, "", "n03")
	require.True(t, c.sync(t, n))
	delete(c.hypers, "r4")
	c.hyper("r5", 1, "")
	require.True(t, c.sync(t, n), "as many, but others")
}

func TestSync_NodeReplacedInAFlatCluster(t *testing.T) {
	c := newCluster().with("n1", "n2")
	n := c.built(t, Options{})
	delete(c.nodes, "n2")
	c.with("n3")
	require.True(t, c.sync(t, n))
	require.Equal(t, []string{"n1", "n3"}, paths(n))
	_, ok := n.Node("n2")
	require.False(t, ok)
}

func TestSync_WithoutNodes(t *testing.T) {
	c := newCluster()
	n := New(withGPUs())
	require.False(t, c.sync(t, n))
	c.node("n1", nil, nil)
	require.True(t, c.sync(t, n))
	delete(c.nodes, "n1")
	require.True(t, c.sync(t, n))
	require.Nil(t, n.Topology())
	require.Equal(t, "flat", string(n.Source()))
	require.Empty(t, n.warnings)
	c.node("n1", nil, nil)
	require.True(t, c.sync(t, n))
	require.False(t, c.sync(t, n))
}

func TestSync_FallsBackToTheNextSource(t *testing.T) {
	for _, test := range []struct {
		tiers  int // more of them fail
		source string
		want   []string
	}{
		{4, "hypernodes", nil},
		{3, "labels", []string{"no tree can be built from hypernodes, the next source is used: too many tiers"}},
		{2, "flat", []string{
			"no tree can be built from hypernodes, the next source is used: too many tiers",
			"no tree can be built from labels, the next source is used: too many tiers",
		}},
	} {
		c := ragged()
		for name := range c.nodes {
			c.nodes[name].Labels = map[string]string{rackKey: "a"}
		}
		delete(c.hypers, "s1")
		n := New(Options{Labels: []string{rackKey}})
		n.build = func(spec placement.TopologySpec) (*placement.Topology, error) {
			if len(spec.Tiers) > test.tiers {
				return nil, errors.New("too many tiers")
			}
			return placement.NewTopology(spec)
		}
		require.True(t, c.sync(t, n))
		require.Equal(t, test.source, string(n.Source()))
		require.Subset(t, n.warnings, test.want)
		require.False(t, c.sync(t, n), "not tried again until something changes")
	}
}

func TestSync_ErrorKeepsTheTree(t *testing.T) {
	c := racks(1, 2)
	n := c.built(t, withGPUs())
	was := *n
	n.build = func(placement.TopologySpec) (*placement.Topology, error) { return nil, errors.New("no") }
	c.node("n03", nil, nil)
	rebuilt, err := n.Sync(c.session())
	require.EqualError(t, err, "build the network of 3 nodes: from hypernodes: no\nfrom flat: no")
	require.False(t, rebuilt)
	require.Same(t, was.topology, n.Topology())
	require.Equal(t, was.nodes, n.nodes)
	n.build = placement.NewTopology
	require.True(t, c.sync(t, n))
}

func TestSync_DoesNotChangeTheView(t *testing.T) {
	c := ragged()
	c.pod("n1", "p", map[string]string{"cpu": "1"})
	v, same := c.session(), c.session()
	n := New(Options{})
	for range 2 {
		_, err := n.Sync(v)
		require.NoError(t, err)
		require.Equal(t, same.Members, v.Members)
		require.Equal(t, same.HyperNodes, v.HyperNodes)
		for name, info := range v.Nodes {
			require.Equal(t, same.Nodes[name].Idle, info.Idle)
		}
	}
}

// An unchanged cluster is followed with a handful of allocations, however large it is.
func TestSync_AllocatesLittle(t *testing.T) {
	c := large(1000)
	n := c.built(t, withGPUs())
	v := c.session()
	require.Less(t, testing.AllocsPerRun(5, func() { _, _ = n.Sync(v) }), 10.0)
	c.pod("n0500", "p", map[string]string{gpu: "1"})
	other := c.session()
	both := testing.AllocsPerRun(5, func() {
		_, _ = n.Sync(other)
		_, _ = n.Sync(v)
	})
	require.Less(t, both, 60.0, "only nodes on which something changed cost more")
}

// large returns a cluster of nodes with 8 GPUs, 32 in a rack, 16 racks in a block, and half of the GPUs taken.
func large(nodes int) *cluster {
	c := newCluster()
	c.scalars = []string{"pods", gpu, "rdma/hca"}
	members := map[string][]string{}
	tiers := map[string]int{}
	for i := range nodes {
		name := fmt.Sprintf("n%04d", i)
		c.node(name, map[string]string{"cpu": "96", "memory": "1Ti", gpu: "8", "rdma/hca": "8", "pods": "110"}, map[string]string{productLabel: "NVIDIA-L40S"})
		c.pod(name, fmt.Sprint("p", i), map[string]string{"cpu": "8", gpu: "4"})
		for tier, hyper := range []string{fmt.Sprintf("r%03d", i/32), fmt.Sprintf("b%02d", i/512), "s"} {
			members[hyper] = append(members[hyper], name)
			tiers[hyper] = tier + 1
		}
	}
	for hyper, of := range members {
		c.hyper(hyper, tiers[hyper], "", of...)
	}
	return c
}

func TestSync_TenThousandNodes(t *testing.T) {
	c := large(10_000)
	n := c.built(t, withGPUs())
	require.Equal(t, []string{"island", "node", "tier 1", "tier 2", "tier 3"}, tierNames(n))
	require.EqualValues(t, 40_000, n.Topology().FreeGPUs(n.Topology().Root()))
	require.False(t, c.sync(t, n))
	c.pod("n9999", "last", map[string]string{gpu: "3"})
	require.False(t, c.sync(t, n))
	require.EqualValues(t, 39_997, n.Topology().FreeGPUs(n.Topology().Root()))
	require.Equal(t, []int{1, 0}, freeIslands(t, n, "n9999"))
	delete(c.nodes, "n0000")
	for _, hyper := range []string{"r000", "b00", "s"} {
		c.members[hyper].Delete("n0000")
	}
	require.True(t, c.sync(t, n))
	require.Equal(t, 9_999, n.Topology().Nodes())
	require.EqualValues(t, 39_993, n.Topology().FreeGPUs(n.Topology().Root()))
	require.Equal(t, []int{1, 0}, freeIslands(t, n, "n9999"))
}
