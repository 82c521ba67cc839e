// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// cliques returns a rack of four nodes, labelled with the NVLink domains that are given.
func cliques(of ...string) *cluster {
	c := racks(1, 4)
	for i, name := range sortedKeys(c.nodes) {
		if of[i] != "" {
			c.nodes[name].Labels = map[string]string{CliqueLabel: of[i]}
		}
	}
	return c
}

func TestNVLink_TierBelowTheRack(t *testing.T) {
	for _, test := range []struct {
		name  string
		of    []string
		tiers []string
		paths []string
		named int // what nvlink-domain means, 0 for nothing
	}{
		{"two domains in a rack", []string{"u.1", "u.1", "u.2", "u.2"},
			[]string{"island", "node", "NVLink domain", "tier 1"}, []string{"r1/u.1/n01", "r1/u.1/n02", "r1/u.2/n03", "r1/u.2/n04"}, 2},
		{"not on all nodes", []string{"u.1", "u.1", "", ""},
			[]string{"island", "node", "NVLink domain", "tier 1"}, []string{"r1/(n03)/n03", "r1/(n04)/n04", "r1/u.1/n01", "r1/u.1/n02"}, 2},
		{"the rack is the domain", []string{"u.1", "u.1", "u.1", "u.1"},
			[]string{"island", "node", "tier 1"}, []string{"r1/n01", "r1/n02", "r1/n03", "r1/n04"}, 2},
		{"each node is a domain", []string{"u.1", "u.2", "", "u.4"},
			[]string{"island", "node", "tier 1"}, []string{"r1/n01", "r1/n02", "r1/n03", "r1/n04"}, 1},
		{"none", []string{"", "", "", ""},
			[]string{"island", "node", "tier 1"}, []string{"r1/n01", "r1/n02", "r1/n03", "r1/n04"}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := cliques(test.of...)
			n := c.built(t, Options{})
			require.Equal(t, test.tiers, tierNames(n))
			require.Equal(t, test.paths, paths(n))
			require.Empty(t, n.warnings)
			require.False(t, c.sync(t, n))
			tier, err := n.TierNamed("nvlink-domain")
			require.Equal(t, test.named == 0, err != nil)
			require.Equal(t, test.named, tier)
			tier, err = n.Tier(1)
			require.NoError(t, err)
			require.Equal(t, "tier 1", tierNames(n)[tier], "numbers do not shift")
			_, err = n.Tier(0)
			require.EqualError(t, err, "highestTierAllowed 0: the lowest tier is 1")
		})
	}
}

func TestNVLink_DomainsAcrossRacks(t *testing.T) {
	c := racks(2, 2)
	for _, name := range []string{"n02", "n03"} {
		c.nodes[name].Labels = map[string]string{CliqueLabel: "u.1"}
	}
	n := c.built(t, Options{})
	require.Equal(t, []string{"r1/(n01)/n01", "r1/u.1/n02", "r2/(n04)/n04", "r2/u.1/n03"}, paths(n))
	require.Equal(t, []string{"NVLink domains whose nodes are not all in one domain of the tier tier 1, the parts count as apart: 1 (u.1)"}, n.warnings)
	require.Empty(t, n.HyperNode(n.Topology().Parent(1)))
}

func TestNVLink_FlatCluster(t *testing.T) {
	c := cliques("u.1", "u.1", "u.2", "u.2")
	delete(c.hypers, "r1")
	n := c.built(t, Options{})
	require.Equal(t, "flat", string(n.Source()))
	require.Equal(t, []string{"u.1/n01", "u.1/n02", "u.2/n03", "u.2/n04"}, paths(n))
	tier, err := n.Tier(1)
	require.NoError(t, err)
	require.Zero(t, tier, "no limit")
}

func TestSamePartition(t *testing.T) {
	for _, test := range []struct {
		a, b []string
		want bool
	}{
		{[]string{"a", "a", "b"}, []string{"x", "x", "y"}, true},
		{[]string{"a", "a", "b"}, []string{"x", "y", "y"}, false},
		{[]string{"a", "a", "b"}, []string{"x", "x", "x"}, false},
		{[]string{"a", "b", "b"}, []string{"x", "x", "x"}, false},
		{[]string{"a", "", ""}, []string{"x", "", ""}, true},
		{[]string{"a", "", ""}, []string{"x", "y", ""}, false},
	} {
		require.Equal(t, test.want, samePartition(test.a, test.b), "%v %v", test.a, test.b)
		require.Equal(t, test.want, samePartition(test.b, test.a), "%v %v", test.b, test.a)
	}
}
