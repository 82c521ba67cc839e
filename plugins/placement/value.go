// SPDX-License-Identifier: Apache-2.0

package placement

import "math"

// value is what a plan, or a part of one, costs. Bytes, penalty and harm of parts add up; of busiest uplinks the larger one
// counts.
type value struct {
	lonely  int64   // workers that must have a server near them and have none; no plan has any
	bytes   int64   // priced, in units of traffic and of prices
	busy    float64 // seconds of the busiest uplink
	penalty int64
	harm    int64
}

// impossible is more bytes than any plan has.
const impossible = math.MaxInt64

func (v value) plus(w value) value {
	return value{v.lonely + w.lonely, v.bytes + w.bytes, max(v.busy, w.busy), v.penalty + w.penalty, v.harm + w.harm}
}

// less orders plans: traffic by the objective, then preferences of the pods, then harm to what comes later.
func (v value) less(w value, byBusy bool) bool {
	if v.lonely != w.lonely {
		return v.lonely < w.lonely
	}
	if byBusy && v.busy != w.busy {
		return v.busy < w.busy
	}
	switch {
	case v.bytes != w.bytes:
		return v.bytes < w.bytes
	case v.busy != w.busy:
		return v.busy < w.busy
	case v.penalty != w.penalty:
		return v.penalty < w.penalty
	}
	return v.harm < w.harm
}

// uplink adds what the border of a domain costs that holds so many members of each class.
func (p *problem) uplink(d DomainID, tier int, row []int32) value {
	if p.unit == 0 || tier == len(p.t.tiers) {
		return value{}
	}
	load := p.traffic.load(d, row)
	if load == 0 {
		return value{}
	}
	return value{bytes: p.weights[tier] * load, busy: float64(load) * p.unit / p.t.bandwidth[d]}
}

// leaf is what the border of a node and the islands in it cost.
func (p *problem) leaf(node NodeID, row []int32) value {
	v := p.uplink(DomainID(node), NodeTier, row)
	if p.unit == 0 {
		return v
	}
	if sum, most := p.traffic.island(node, row, p.gpus); sum > 0 {
		v.bytes += p.weights[IslandTier] * sum
		v.busy = max(v.busy, float64(most)*p.unit/p.t.tiers[IslandTier].bandwidth())
	}
	return v
}
