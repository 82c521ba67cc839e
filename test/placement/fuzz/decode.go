// SPDX-License-Identifier: Apache-2.0

// Package fuzz turns bytes into topologies and demands, valid ones and others, and holds the planner to its promises on
// them; `make fuzz-placement` looks for bytes that break one.
package fuzz

import (
	"fmt"
	"math"
	"strconv"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// reader hands out bytes; after the last one come zeros.
type reader struct{ data []byte }

func (r *reader) next() byte {
	if len(r.data) == 0 {
		return 0
	}
	b := r.data[0]
	r.data = r.data[1:]
	return b
}

// below n, from 0.
func (r *reader) below(n int) int { return int(r.next()) % n }

// rarely is true for 5 of 256 bytes.
func (r *reader) rarely() bool { return r.next() >= 251 }

func (r *reader) half() bool { return r.next()&1 == 1 }

// Case is what bytes say.
type Case struct {
	Spec    placement.TopologySpec
	Demand  func(t *placement.Topology) *placement.Demand
	Options placement.Options
}

// Decode bytes: any are a case, if not a valid one. The first byte tells whether odd values, which are no part of a valid
// input, may turn up.
func Decode(data []byte) *Case {
	r := &reader{data: data}
	d := &decoder{reader: r, odd: r.below(4) == 3}
	c := &Case{Spec: d.topology()}
	c.Options.Objective = placement.Objective(r.below(2))
	c.Options.NoExact = r.half()
	c.Options.Effort = r.below(3)
	rest := *r
	c.Demand = func(t *placement.Topology) *placement.Demand {
		again := rest
		return (&decoder{reader: &again, odd: d.odd}).demand(t)
	}
	return c
}

type decoder struct {
	*reader
	odd bool
}

// amount is small, or, where odd values may turn up, anything.
func (d *decoder) amount(n int) int64 {
	if d.odd && d.rarely() {
		return []int64{-1, math.MinInt64, math.MaxInt64, math.MaxInt64 / 1024, 1 << 40, 1 << 17}[d.below(6)]
	}
	return int64(d.below(n))
}

func (d *decoder) float(choices ...float64) float64 {
	if d.odd && d.rarely() {
		return []float64{math.NaN(), math.Inf(1), -1, 1e300, 1e-300, 1 << 20}[d.below(6)]
	}
	return choices[d.below(len(choices))]
}

func (d *decoder) topology() placement.TopologySpec {
	names := []string{"cpu", "gpu", "npu", "memory"}
	spec := placement.TopologySpec{Resources: names[:1+d.below(len(names))]}
	for i, name := range spec.Resources {
		if i > 0 && i < 3 && d.half() {
			spec.Accelerators = append(spec.Accelerators, name)
		}
	}
	above := []string{"rack", "block", "zone"}[:d.below(4)]
	spec.Tiers = placement.DefaultTiers(above...)
	for i := range spec.Tiers {
		if d.half() {
			spec.Tiers[i].Price = d.float(0, 0.25, 0.3, 1, 7, 16)
			spec.Tiers[i].Bandwidth = d.float(0, 0.5, 1, 25e9)
		}
	}
	for i := range 1 + d.below(24) {
		node := placement.NodeSpec{Name: fmt.Sprintf("n%d", i), Free: make([]int64, len(spec.Resources))}
		if d.odd && d.rarely() {
			node.Name = "n0"
		}
		for tier := range above {
			name := ""
			if d.below(16) > 0 {
				name = string(rune('a'+d.below(4))) + strconv.Itoa(tier)
			}
			node.Domains = append(node.Domains, name)
		}
		for r := range node.Free {
			node.Free[r] = d.amount(24)
		}
		node.Islands = d.islands(&spec, node.Free)
		spec.Nodes = append(spec.Nodes, node)
	}
	if d.rarely() {
		spec.Uplinks = append(spec.Uplinks, placement.Uplink{Tier: 1 + d.below(3), Path: "a0", Bandwidth: d.float(1, 2)})
	}
	return spec
}

// islands split the free GPUs of a node.
func (d *decoder) islands(spec *placement.TopologySpec, free []int64) []placement.Island {
	if d.half() {
		return nil
	}
	left := int64(0)
	for r, name := range spec.Resources {
		for _, accelerator := range spec.Accelerators {
			if name == accelerator {
				left += max(0, free[r])
			}
		}
	}
	if left > 100 {
		return nil
	}
	islands := make([]placement.Island, 1+d.below(4))
	for i := range islands {
		some := min(int(left), d.below(8))
		if i == len(islands)-1 {
			some = int(left)
		}
		left -= int64(some)
		islands[i] = placement.Island{Free: some, Size: some + d.below(3)}
	}
	if d.odd && d.rarely() {
		islands[0].Free++
	}
	return islands
}
