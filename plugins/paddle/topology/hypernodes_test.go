// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// ragged returns a cluster in which n5 is in no HyperNode, n3 in none of tier 1, and r2 in none of tier 2.
//
//	s1 (tier 5, spine)
//	├── b1 (tier 2)
//	│   ├── r1 (tier 1, leaf): n1 n2
//	│   └── n3
//	└── r2 (tier 1, leaf): n4
func ragged() *cluster {
	c := newCluster()
	for i := range 5 {
		c.node(fmt.Sprint("n", i+1), nil, nil)
	}
	c.hyper("r1", 1, "leaf", "n1", "n2")
	c.hyper("r2", 1, "leaf", "n4")
	c.hyper("b1", 2, "", "n1", "n2", "n3")
	c.hyper("s1", 5, "spine", "n1", "n2", "n3", "n4")
	return c
}

func TestHyperNodes_Tiers(t *testing.T) {
	n := ragged().built(t, Options{Labels: []string{"rack"}})
	require.Equal(t, "hypernodes", string(n.Source()))
	require.Equal(t, []string{"island", "node", "leaf", "tier 2", "spine"}, tierNames(n))
	require.Equal(t, []string{
		"(n5)/(n5)/(n5)/n5",
		"s1/(r2)/r2/n4",
		"s1/b1/(n3)/n3",
		"s1/b1/r1/n1",
		"s1/b1/r1/n2",
	}, paths(n))
	require.Equal(t, []string{"nodes in no HyperNode, each counts as apart from all others: 1 of 5 (n5)"}, n.warnings)
}

func TestHyperNode(t *testing.T) {
	n := ragged().built(t, Options{})
	topology := n.Topology()
	got := map[string]string{}
	for d := range topology.Root() + 1 {
		got[topology.DomainName(d)] = n.HyperNode(d)
	}
	require.Equal(t, map[string]string{
		"(n5)/(n5)/(n5)/n5": "", "(n5)/(n5)/(n5)": "", "(n5)/(n5)": "", "(n5)": "",
		"s1/(r2)/r2/n4": "", "s1/(r2)/r2": "r2", "s1/(r2)": "", "s1": "s1",
		"s1/b1/(n3)/n3": "", "s1/b1/(n3)": "", "s1/b1": "b1",
		"s1/b1/r1/n1": "", "s1/b1/r1/n2": "", "s1/b1/r1": "r1",
		"cluster": "",
	}, got)
	require.Empty(t, n.HyperNode(-1))
	require.Empty(t, n.HyperNode(topology.Root()+1))
	require.Empty(t, New(Options{}).HyperNode(0))
}

func TestHyperNode_FirstDomainAboveTheNodes(t *testing.T) {
	n := racks(2, 2).built(t, Options{})
	require.Equal(t, "r1", n.HyperNode(4))
	require.Equal(t, "r2", n.HyperNode(5))
	require.Empty(t, n.HyperNode(6))
}

func TestHyperNodes_Contradictory(t *testing.T) {
	for _, test := range []struct {
		name  string
		spoil func(c *cluster)
		paths []string
		want  string
	}{
		{
			"a node in two racks", func(c *cluster) { c.members["r2"].Insert("n01") },
			[]string{"r1/n01", "r1/n02", "r2/n03", "r2/n04"},
			"nodes in two HyperNodes of one tier, the first by name counts: 1 (n01 in r1 and r2)",
		},
		{
			"two nodes of a rack are not in the rack's block", func(c *cluster) {
				c.hyper("r1", 1, "", "n01", "n02", "n03")
				c.hyper("r2", 1, "", "n04")
				c.hyper("b1", 2, "", "n01")
			},
			[]string{"(r1)/r1/n02", "(r1)/r1/n03", "(r2)/r2/n04", "b1/r1/n01"},
			"HyperNodes of tier 1 whose nodes are not all in one of tier 2, the parts count as apart: 1 (r1)",
		},
		{
			"a tier with two names", func(c *cluster) { c.hypers["r1"].Spec.TierName, c.hypers["r2"].Spec.TierName = "rack", "leaf" },
			[]string{"r1/n01", "r1/n02", "r2/n03", "r2/n04"},
			"tiers with several tier names, the first by name is shown: 1 (tier 1: leaf, rack)",
		},
		{
			"two tiers with one name", func(c *cluster) {
				c.hypers["r1"].Spec.TierName = "rack"
				c.hyper("b1", 2, "rack", "n01", "n02", "n03", "n04")
				c.hyper("s1", 3, "rack", "n01", "n02", "n03", "n04")
			},
			[]string{"s1/b1/r1/n01", "s1/b1/r1/n02", "s1/b1/r2/n03", "s1/b1/r2/n04"},
			"tier names of two tiers, they mean the lower one: 2 (rack of tiers 1 and 2, rack of tiers 1 and 3)",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := racks(2, 2)
			test.spoil(c)
			n := c.built(t, Options{})
			require.Equal(t, test.paths, paths(n))
			require.Equal(t, []string{test.want}, n.warnings)
			require.False(t, c.sync(t, n), "what is contradictory stays so")
		})
	}
}

func TestHyperNodes_NamesAreEscaped(t *testing.T) {
	c := racks(1, 2)
	c.hyper("room/1%", 2, "", "n01", "n02")
	n := c.built(t, Options{})
	require.Equal(t, []string{"room%2F1%25/r1/n01", "room%2F1%25/r1/n02"}, paths(n))
	require.Equal(t, "room/1%", n.HyperNode(n.Topology().Ancestor(0, placement.NodeTier+2)))
}

func TestHyperNodes_WithoutNodes(t *testing.T) {
	c := newCluster()
	c.node("n1", nil, map[string]string{"rack": "r1"})
	c.hyper("empty", 1, "")
	c.hyper("elsewhere", 2, "", "n7")
	n := c.built(t, Options{Labels: []string{"rack"}})
	require.Equal(t, "labels", string(n.Source()))
	require.Empty(t, n.warnings)
	require.False(t, c.sync(t, n))
}

func TestHyperNodes_WithoutAnObject(t *testing.T) {
	c := racks(1, 2)
	v := c.session()
	v.HyperNodes["r1"].HyperNode = nil
	v.HyperNodes["r2"] = nil
	n := New(Options{})
	_, err := n.Sync(v)
	require.NoError(t, err)
	require.Equal(t, []string{"r1/n01", "r1/n02"}, paths(n))
	require.Equal(t, []string{"island", "node", "tier 1"}, tierNames(n))
}
