// SPDX-License-Identifier: Apache-2.0

package flows

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRates(t *testing.T) {
	flow := func(count float64, links ...int32) Flow { return Flow{Links: links, Count: count} }
	for _, c := range []struct {
		name   string
		widths []float64
		flows  []Flow
		want   []float64
	}{
		{"none", []float64{1}, nil, []float64{}},
		{"one takes the narrowest of its links", []float64{10, 4}, []Flow{flow(1, 0, 1)}, []float64{4}},
		{"equal parts", []float64{10}, []Flow{flow(1, 0), flow(4, 0)}, []float64{2, 2}},
		// Link 1 gives 4/3 to each of three; what that leaves of link 0 is for the first flow.
		{"what one cannot use is for others", []float64{10, 4}, []Flow{flow(1, 0), flow(1, 0, 1), flow(2, 1)}, []float64{26.0 / 3, 4.0 / 3, 4.0 / 3}},
		// Link 2 fills first, at 1; then link 1, at (5-1)/1; then link 0, at 12-4.
		{
			"three bottlenecks", []float64{12, 5, 2},
			[]Flow{flow(1, 0), flow(1, 0, 1), flow(1, 1, 2), flow(1, 2)}, []float64{8, 4, 1, 1},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.InDeltaSlice(t, c.want, Rates(c.widths, c.flows), 1e-9)
		})
	}
}

// Rates are max-min fair if and only if every flow has a link that is full, and on which no flow gets more.
func TestEveryFlowHasABottleneck(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		widths := make([]float64, 1+random.IntN(8))
		for i := range widths {
			widths[i] = float64(1+random.IntN(8)) / 2
		}
		all := make([]Flow, 1+random.IntN(12))
		for i := range all {
			all[i].Count = float64(1 + random.IntN(4))
			for _, link := range random.Perm(len(widths))[:1+random.IntN(len(widths))] {
				all[i].Links = append(all[i].Links, int32(link))
			}
		}
		rates := Rates(widths, all)
		carried, most := make([]float64, len(widths)), make([]float64, len(widths))
		for i := range all {
			require.Positive(t, rates[i])
			for _, link := range all[i].Links {
				carried[link] += all[i].Count * rates[i]
				most[link] = max(most[link], rates[i])
			}
		}
		for link := range widths {
			require.LessOrEqual(t, carried[link], widths[link]*(1+1e-6))
		}
		for i := range all {
			bottleneck := false
			for _, link := range all[i].Links {
				bottleneck = bottleneck || carried[link] >= widths[link]*(1-1e-6) && rates[i] >= most[link]*(1-1e-6)
			}
			require.True(t, bottleneck, "flow %d of %+v at %v on %v", i, all, rates, widths)
		}
	}
}
