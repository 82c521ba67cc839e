// SPDX-License-Identifier: Apache-2.0

package collective

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/trainer/model"
)

func TestOnlyTheRankBeforeIsLetIn(t *testing.T) {
	own := hello{From: 1, Endpoints: []string{"a:1", "b:1", "c:1"}, Round: 7, Settings: model.Settings{Seed: 1, Batch: 2}, Steps: 9}
	good := own
	good.From = 0
	require.NoError(t, good.fits(own, 0))
	for want, spoil := range map[string]func(*hello){
		"wrong round: 6, and this is 7":                                    func(h *hello) { h.Round = 6 },
		"wrong world size: rank 0 reckons with 2 ranks, and rank 1 with 3": func(h *hello) { h.Endpoints = h.Endpoints[:2] },
		"wrong world: rank 0 knows [b:1 a:1 c:1], and rank 1 [a:1 b:1 c:1]": func(h *hello) {
			h.Endpoints = []string{"b:1", "a:1", "c:1"}
		},
		"wrong rank: 2 comes to rank 1, where 0 belongs": func(h *hello) { h.From = 2 },
		"wrong training: rank 0 has {Seed:1 Batch:3}":    func(h *hello) { h.Settings.Batch = 3 },
		"and 8 steps, and rank 1":                        func(h *hello) { h.Steps = 8 },
	} {
		bad := good
		spoil(&bad)
		require.ErrorContains(t, bad.fits(own, 0), want)
	}
}
