// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	rackKey  = "topology.x.com/rack"
	blockKey = "topology.x.com/block"
	zoneKey  = "topology.kubernetes.io/zone"
)

// labelled returns a cluster of nodes with a rack and a block each.
//
//	east: a (n1 n2), b (n3)    west: a (n4)
func labelled() *cluster {
	c := newCluster()
	for name, at := range map[string][2]string{"n1": {"a", "east"}, "n2": {"a", "east"}, "n3": {"b", "east"}, "n4": {"a", "west"}} {
		c.node(name, nil, map[string]string{rackKey: at[0], blockKey: at[1]})
	}
	return c
}

func TestLabels_Tiers(t *testing.T) {
	n := labelled().built(t, Options{Labels: []string{rackKey, blockKey}})
	require.Equal(t, "labels", string(n.Source()))
	require.Equal(t, []string{"island", "node", "rack", "block"}, tierNames(n))
	require.Equal(t, []string{"east/a/n1", "east/a/n2", "east/b/n3", "west/a/n4"}, paths(n), "racks of one name in two blocks are two")
	require.Empty(t, n.warnings)
	require.Empty(t, n.HyperNode(n.Topology().Parent(0)))
}

func TestLabels_Missing(t *testing.T) {
	keys := []string{rackKey, blockKey, zoneKey}
	for _, test := range []struct {
		name     string
		spoil    func(c *cluster)
		source   string
		tiers    []string
		paths    []string
		warnings []string
	}{
		{
			"on some nodes", func(c *cluster) { delete(c.nodes["n1"].Labels, rackKey) }, "labels",
			[]string{"island", "node", "rack", "block"},
			[]string{"east/(n1)/n1", "east/a/n2", "east/b/n3", "west/a/n4"},
			[]string{
				"nodes without the label topology.x.com/rack, each counts as apart from all others: 1 of 4 (n1)",
				"labels that no node has, their tiers are left out: 1 of 3 (topology.kubernetes.io/zone)",
			},
		},
		{
			"empty on some nodes", func(c *cluster) { c.nodes["n2"].Labels[blockKey] = "" }, "labels",
			[]string{"island", "node", "rack", "block"},
			[]string{"(a)/a/n2", "east/a/n1", "east/b/n3", "west/a/n4"},
			[]string{
				"nodes without the label topology.x.com/block, each counts as apart from all others: 1 of 4 (n2)",
				"labels that no node has, their tiers are left out: 1 of 3 (topology.kubernetes.io/zone)",
			},
		},
		{
			"on all nodes but one", func(c *cluster) {
				for _, name := range []string{"n1", "n2", "n3", "n4"} {
					c.node(name, nil, map[string]string{zoneKey: "z"})
				}
				delete(c.nodes["n4"].Labels, zoneKey)
			}, "labels",
			[]string{"island", "node", "zone"},
			[]string{"(n4)/n4", "z/n1", "z/n2", "z/n3"},
			[]string{
				"nodes without the label topology.kubernetes.io/zone, each counts as apart from all others: 1 of 4 (n4)",
				"labels that no node has, their tiers are left out: 2 of 3 (topology.x.com/rack, topology.x.com/block)",
			},
		},
		{
			"on all nodes", func(c *cluster) {
				for name := range c.nodes {
					c.node(name, nil, nil)
				}
			}, "flat",
			[]string{"island", "node"},
			[]string{"n1", "n2", "n3", "n4"},
			[]string{"labels that no node has, their tiers are left out: 3 of 3 (topology.x.com/rack, topology.x.com/block, topology.kubernetes.io/zone)"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := labelled()
			test.spoil(c)
			n := c.built(t, Options{Labels: keys})
			require.Equal(t, test.source, string(n.Source()))
			require.Equal(t, test.tiers, tierNames(n))
			require.Equal(t, test.paths, paths(n))
			require.Equal(t, test.warnings, n.warnings)
			require.False(t, c.sync(t, n))
		})
	}
}

func TestWarnings_CountAndThreeExamples(t *testing.T) {
	c := newCluster()
	c.node("n0", nil, map[string]string{rackKey: "a"})
	for _, name := range []string{"n5", "n4", "n3", "n2", "n1"} {
		c.node(name, nil, nil)
	}
	n := c.built(t, Options{Labels: []string{rackKey}})
	require.Equal(t, []string{
		"nodes without the label topology.x.com/rack, each counts as apart from all others: 5 of 6 (n1, n2, n3 and 2 more)",
	}, n.warnings)
}

func TestFlatCluster(t *testing.T) {
	c := newCluster()
	c.node("n1", nil, nil)
	n := c.built(t, Options{})
	require.Equal(t, "flat", string(n.Source()))
	require.Equal(t, []string{"island", "node"}, tierNames(n))
	require.Empty(t, n.warnings)
}

func TestTierNames_AreUnique(t *testing.T) {
	c := newCluster()
	keys := []string{"a.com/rack", "b.com/rack", "node", "c.com/node", "island"}
	labels := map[string]string{}
	for _, key := range keys {
		labels[key] = "x"
	}
	c.node("n1", nil, labels)
	n := c.built(t, Options{Labels: keys})
	require.Equal(t, []string{"island", "node", "rack", "b.com/rack", "node 2", "c.com/node", "island 2"}, tierNames(n))
}
