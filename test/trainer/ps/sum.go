// SPDX-License-Identifier: Apache-2.0

package ps

import (
	"slices"

	"github.com/paddle-volcano/paddle-volcano/test/trainer/model"
)

// complete takes the step, rank by rank.
func (s *Shard) complete() {
	var loss int64
	sums := make([]int64, s.high-s.low)
	for rank := range s.world {
		at := 0
		for _, push := range s.got[rank] {
			for _, value := range push.Sums {
				sums[at] += value
				at++
			}
			loss += push.Loss
		}
	}
	clicks := s.world * s.settings.Batch
	next := Version{Step: s.now.Step + 1, Params: slices.Clone(s.now.Params), Loss: model.Mean(loss, clicks), Worlds: s.now.Worlds}
	model.Apply(next.Params, s.low, sums, clicks)
	s.before, s.now = s.now, &next
	clear(s.got)
	s.change()
}

// overlap returns what of a part lies from low to high, none of it if the second is not above the first.
func overlap(part model.Part, low, high int) (from, to int) {
	partLow, partHigh := part.Range()
	from = min(max(low, partLow), partHigh)
	return from, max(from, min(high, partHigh))
}

// missing are the trainers whose gradients of the step are not whole yet.
func (s *Shard) missing() (ranks []int) {
	for rank := range s.world {
		if parts := s.got[rank]; parts == nil || slices.Contains(parts[:], nil) {
			ranks = append(ranks, rank)
		}
	}
	return ranks
}
