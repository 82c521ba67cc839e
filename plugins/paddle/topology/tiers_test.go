// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTier(t *testing.T) {
	clustered := func(c *cluster, o Options) *Cache { return c.built(t, o) }
	hypers := clustered(ragged(), Options{}) // tiers 1, 2, 5
	labels := clustered(labelled(), Options{Labels: []string{"nowhere", rackKey, "also nowhere", blockKey}})
	flat := clustered(racks(0, 0).with("n1"), Options{Labels: []string{rackKey}})
	high := racks(1, 2)
	high.hyper("r1", 3, "", "n01", "n02")
	for _, test := range []struct {
		name   string
		n      *Cache
		number int
		want   int // placement tier: island 0, node 1, above 2 and up
		err    string
	}{
		{"a HyperNode's", hypers, 1, 2, ""},
		{"the next", hypers, 2, 3, ""},
		{"between two", hypers, 4, 3, ""},
		{"the highest", hypers, 5, 4, ""},
		{"above the highest", hypers, 6, 0, ""},
		{"below the lowest", hypers, 0, 0, "highestTierAllowed 0: the lowest tier is 1"},
		{"below a higher lowest", clustered(high, Options{}), 2, 0, "highestTierAllowed 2: the lowest tier is 3"},
		{"a label's", labels, 2, 2, ""},
		{"a label that no node has", labels, 3, 2, ""},
		{"the farthest label", labels, 4, 3, ""},
		{"above the labels", labels, 5, 0, ""},
		{"below all labels that nodes have", labels, 1, 0, "highestTierAllowed 1: the lowest tier is 2"},
		{"flat", flat, 1, 0, ""},
		{"flat, below the lowest", flat, 0, 0, "highestTierAllowed 0: the lowest tier is 1"},
		{"nothing seen yet", New(Options{}), 1, 0, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			tier, err := test.n.Tier(test.number)
			if test.err != "" {
				require.EqualError(t, err, test.err)
			} else {
				require.NoError(t, err)
			}
			require.Equal(t, test.want, tier)
		})
	}
}

func TestTier_Zero(t *testing.T) {
	c := racks(1, 2)
	c.hyper("r1", 0, "", "n01", "n02")
	n := c.built(t, Options{})
	tier, err := n.Tier(0)
	require.NoError(t, err)
	require.Equal(t, 2, tier)
	_, err = n.Tier(-1)
	require.EqualError(t, err, "highestTierAllowed -1: the lowest tier is 0")
}

func TestTierNamed(t *testing.T) {
	hypers := ragged()
	hypers.hyper("r2", 1, "edge", "n4") // beside leaf
	both := racks(1, 2)
	both.hypers["r1"].Spec.TierName = "same"
	both.hyper("b1", 2, "same", "n01", "n02")
	for _, test := range []struct {
		n    *Cache
		name string
		want int
		err  string
	}{
		{hypers.built(t, Options{}), "leaf", 2, ""},
		{hypers.built(t, Options{}), "edge", 2, ""},
		{hypers.built(t, Options{}), "tier 2", 3, ""},
		{hypers.built(t, Options{}), "spine", 4, ""},
		{hypers.built(t, Options{}), "rack", 0, `highestTierName "rack" is not known: there are edge, leaf, spine, tier 2`},
		{both.built(t, Options{}), "same", 2, ""},
		{both.built(t, Options{}), "same 2", 3, ""},
		{labelled().built(t, Options{Labels: []string{rackKey, blockKey}}), rackKey, 2, ""},
		{labelled().built(t, Options{Labels: []string{rackKey, blockKey}}), blockKey, 3, ""},
		{labelled().built(t, Options{Labels: []string{rackKey, blockKey}}), "block", 3, ""},
		{labelled().built(t, Options{Labels: []string{rackKey, zoneKey}}), zoneKey, 0,
			`highestTierName "topology.kubernetes.io/zone" is not known: there are rack, topology.x.com/rack`},
		{racks(0, 0).with("n1").built(t, Options{}), "rack", 0, `highestTierName "rack" is not known: the cluster has no tiers above its nodes`},
		{racks(0, 0).with("n1").built(t, Options{}), "island", 0, `highestTierName "island" is not known: the cluster has no tiers above its nodes`},
	} {
		tier, err := test.n.TierNamed(test.name)
		if test.err != "" {
			require.EqualError(t, err, test.err)
		} else {
			require.NoError(t, err, test.name)
		}
		require.Equal(t, test.want, tier, test.name)
	}
}

func TestCache_BeforeTheFirstSync(t *testing.T) {
	n := New(Options{})
	require.Nil(t, n.Topology())
	require.Nil(t, tierNames(n))
	require.Equal(t, SourceFlat, n.Source())
	require.Empty(t, n.warnings)
	_, ok := n.Node("n1")
	require.False(t, ok)
	require.Nil(t, n.Request(newCluster().pod("", "p", nil)))
	c := racks(1, 1)
	n.Refresh(c.session().Nodes["n01"])
	n.SetFuture(c.session().Nodes["n01"])
	require.Nil(t, n.Topology())
}
