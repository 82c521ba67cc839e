// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWeightsAndBandwidths(t *testing.T) {
	keys := []string{rackKey, "nowhere", blockKey}
	linked := func() *cluster {
		c := labelled()
		for name, clique := range map[string]string{"n1": "u.1", "n2": "u.1", "n3": "u.2", "n4": "u.2"} {
			c.nodes[name].Labels[CliqueLabel] = clique
		}
		delete(c.nodes["n2"].Labels, rackKey) // so that its racks are no NVLink domains
		return c
	}
	for _, test := range []struct {
		name       string
		cluster    *cluster
		options    Options
		weights    []float64 // island, node, [NVLink domain,] rack, block
		bandwidths []float64
		warning    string
	}{
		{"defaults", labelled(), Options{}, []float64{0.25, 1, 4, 16}, []float64{0, 0, 0, 0}, ""},
		{"all are given, labels that no node has keep their place", labelled(),
			Options{IntraNodeWeight: 0.5, Weights: []float64{1, 2, 100, 7, 9}, Bandwidths: []float64{10, 20, 30, 40, 50}},
			[]float64{0.5, 1, 2, 7}, []float64{0, 10, 20, 40}, ""},
		{"the most that a weight may be", labelled(), Options{Weights: []float64{1 << 14}}, []float64{0.25, 1 << 14, 1 << 14, 1 << 14}, []float64{0, 0, 0, 0}, ""},
		{"the rest follows", labelled(), Options{Weights: []float64{2, 5}}, []float64{0.25, 2, 5, 20}, []float64{0, 0, 0, 0}, ""},
		{"a weight of nothing", labelled(), Options{Weights: []float64{0, 0, 0, 0}}, []float64{0.25, 0, 0, 0}, []float64{0, 0, 0, 0}, ""},
		{"never above the limit", labelled(), Options{Weights: []float64{1 << 13}}, []float64{0.25, 1 << 13, 1 << 14, 1 << 14}, []float64{0, 0, 0, 0}, ""},
		{"NVLink domains by default", linked(), Options{}, []float64{0.25, 1, 4, 16, 64}, []float64{0, 0, 0, 0, 0}, ""},
		{"NVLink domains between given weights", linked(), Options{Weights: []float64{1, 9, 1, 50}, Bandwidths: []float64{10, 20, 30, 40}},
			[]float64{0.25, 1, 3, 9, 50}, []float64{0, 10, 20, 20, 40}, ""},
		{"NVLink domains above a given weight", linked(), Options{Weights: []float64{2}}, []float64{0.25, 2, 8, 32, 128}, []float64{0, 0, 0, 0, 0}, ""},
		{"too few bandwidths", labelled(), Options{Bandwidths: []float64{10, 20, 30}}, []float64{0.25, 1, 4, 16}, []float64{0, 0, 0, 0},
			"3 bandwidths are too few, 4 are needed: all uplinks count as equally wide"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.options.Labels = keys
			n := test.cluster.built(t, test.options)
			var weights, bandwidths []float64
			for _, tier := range n.Topology().Tiers() {
				weights, bandwidths = append(weights, tier.Weight), append(bandwidths, tier.Bandwidth)
			}
			require.Equal(t, test.weights, weights)
			require.Equal(t, test.bandwidths, bandwidths)
			if test.warning != "" {
				require.Contains(t, n.warnings, test.warning)
			}
		})
	}
}

func TestWeights_HyperNodesByOrder(t *testing.T) {
	n := ragged().built(t, Options{Weights: []float64{1, 2, 3, 4}, Bandwidths: []float64{1, 2, 3, 4}}) // tiers 1, 2, 5
	for i, tier := range n.Topology().Tiers()[1:] {
		require.InDelta(t, float64(i+1), tier.Weight, 0)
		require.InDelta(t, float64(i+1), tier.Bandwidth, 0)
	}
}

func TestWeights_ManyTiers(t *testing.T) {
	c := racks(1, 1)
	for tier := range 14 {
		c.hyper(fmt.Sprint("h", tier), tier+1, "", "n01")
	}
	delete(c.hypers, "r1")
	n := c.built(t, Options{})
	require.Len(t, n.Topology().Tiers(), 16)
	require.InDelta(t, 1<<14, n.Topology().Tiers()[15].Weight, 0)
	require.Empty(t, n.warnings)
}
