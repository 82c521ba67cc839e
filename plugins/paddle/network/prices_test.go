// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPricesAndBandwidths(t *testing.T) {
	keys := []string{rackKey, "nowhere", blockKey}
	linked := func() *cluster {
		c := labelled()
		for name, clique := range map[string]string{"n1": "u.1", "n2": "u.1", "n3": "u.2", "n4": "u.2"} {
			c.nodes[name].Labels[cliqueLabel] = clique
		}
		delete(c.nodes["n2"].Labels, rackKey) // so that its racks are no NVLink domains
		return c
	}
	for _, test := range []struct {
		name       string
		cluster    *cluster
		options    Options
		prices     []float64 // island, node, [NVLink domain,] rack, block
		bandwidths []float64
		warning    string
	}{
		{"defaults", labelled(), Options{}, []float64{0.25, 1, 4, 16}, []float64{0, 0, 0, 0}, ""},
		{"all are given, labels that no node has keep their place", labelled(),
			Options{IntraNodeWeight: 0.5, Weights: []float64{1, 2, 100, 7, 9}, Bandwidths: []float64{10, 20, 30, 40, 50}},
			[]float64{0.5, 1, 2, 7}, []float64{0, 10, 20, 40}, ""},
		{"the most that a price may be", labelled(), Options{Weights: []float64{1 << 14}}, []float64{0.25, 1 << 14, 1 << 14, 1 << 14}, []float64{0, 0, 0, 0}, ""},
		{"the rest follows", labelled(), Options{Weights: []float64{2, 5}}, []float64{0.25, 2, 5, 20}, []float64{0, 0, 0, 0}, ""},
		{"a price of nothing", labelled(), Options{Weights: []float64{0, 0, 0, 0}}, []float64{0.25, 0, 0, 0}, []float64{0, 0, 0, 0}, ""},
		{"never above the limit", labelled(), Options{Weights: []float64{1 << 13}}, []float64{0.25, 1 << 13, 1 << 14, 1 << 14}, []float64{0, 0, 0, 0}, ""},
		{"NVLink domains by default", linked(), Options{}, []float64{0.25, 1, 4, 16, 64}, []float64{0, 0, 0, 0, 0}, ""},
		{"NVLink domains between given prices", linked(), Options{Weights: []float64{1, 9, 1, 50}, Bandwidths: []float64{10, 20, 30, 40}},
			[]float64{0.25, 1, 3, 9, 50}, []float64{0, 10, 20, 20, 40}, ""},
		{"NVLink domains above a given price", linked(), Options{Weights: []float64{2}}, []float64{0.25, 2, 8, 32, 128}, []float64{0, 0, 0, 0, 0}, ""},
		{"too few bandwidths", labelled(), Options{Bandwidths: []float64{10, 20, 30}}, []float64{0.25, 1, 4, 16}, []float64{0, 0, 0, 0},
			"3 bandwidths are too few, 4 are needed: all uplinks count as equally wide"},
		{"a wrong price", labelled(), Options{Weights: []float64{3, -1}}, []float64{0.25, 1, 4, 16}, []float64{0, 0, 0, 0},
			"weight -1 is not one from 0 to 16384, the default weights hold"},
		{"a price that is no number", labelled(), Options{Weights: []float64{math.NaN()}}, []float64{0.25, 1, 4, 16}, []float64{0, 0, 0, 0},
			"weight NaN is not one from 0 to 16384, the default weights hold"},
		{"a wrong price of islands", labelled(), Options{IntraNodeWeight: math.Inf(1)}, []float64{0.25, 1, 4, 16}, []float64{0, 0, 0, 0},
			"intra-node weight +Inf is not one from 0 to 16384, the default holds"},
		{"a wrong bandwidth", labelled(), Options{Bandwidths: []float64{10, 20, 0, 40}}, []float64{0.25, 1, 4, 16}, []float64{0, 0, 0, 0},
			"bandwidth 0 is not more than 0 bytes per second, all uplinks count as equally wide"},
		{"a bandwidth without end", labelled(), Options{Bandwidths: []float64{math.Inf(1), 20, 1, 40}}, []float64{0.25, 1, 4, 16}, []float64{0, 0, 0, 0},
			"bandwidth +Inf is not more than 0 bytes per second, all uplinks count as equally wide"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.options.Labels = keys
			n := test.cluster.built(t, test.options)
			var prices, bandwidths []float64
			for _, tier := range n.Topology().Tiers() {
				prices, bandwidths = append(prices, tier.Price), append(bandwidths, tier.Bandwidth)
			}
			require.Equal(t, test.prices, prices)
			require.Equal(t, test.bandwidths, bandwidths)
			if test.warning != "" {
				require.Contains(t, n.Warnings(), test.warning)
			}
		})
	}
}

func TestPricesOfHyperNodesGoByTheirOrder(t *testing.T) {
	n := ragged().built(t, Options{Weights: []float64{1, 2, 3, 4}, Bandwidths: []float64{1, 2, 3, 4}}) // tiers 1, 2, 5
	for i, tier := range n.Topology().Tiers()[1:] {
		require.InDelta(t, float64(i+1), tier.Price, 0)
		require.InDelta(t, float64(i+1), tier.Bandwidth, 0)
	}
}

func TestManyTiersHaveAPriceThatIsAllowed(t *testing.T) {
	c := racks(1, 1)
	for tier := range 14 {
		c.hyper(fmt.Sprint("h", tier), tier+1, "", "n01")
	}
	delete(c.hypers, "r1")
	n := c.built(t, Options{})
	require.Len(t, n.Topology().Tiers(), 16)
	require.InDelta(t, 1<<14, n.Topology().Tiers()[15].Price, 0)
	require.Empty(t, n.Warnings())
}

func TestLabelsThatAreNamedTwice(t *testing.T) {
	n := labelled().built(t, Options{Labels: []string{rackKey, "", blockKey, rackKey}})
	require.Equal(t, []string{"island", "node", "rack", "block"}, n.TierNames())
	require.Equal(t, []string{
		`label "" is empty or there twice, it counts where it is nearest`,
		`label "topology.x.com/rack" is empty or there twice, it counts where it is nearest`,
	}, n.Warnings())
}
