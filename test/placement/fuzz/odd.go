// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"math"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/instances"
)

// limits of what bytes say; one in four cases has odd values.
var limits = instances.Limits{Nodes: 24, Pods: 40, Varied: true}

// bytes hands out the bytes of a fuzzer as numbers; after the last one come zeros.
func bytes(data []byte) instances.Source {
	return func(n int) int {
		if len(data) == 0 {
			return 0
		}
		b := int(data[0])
		data = data[1:]
		return b % n
	}
}

// decode returns the case that bytes say, if it has a topology.
func decode(data []byte) (*instances.Instance, error) {
	draw := bytes(data)
	odd := draw(4) == 3
	effort := draw(3)
	in := instances.Small(draw, limits)
	in.Options.Effort = effort
	if odd {
		for range 1 + draw(3) {
			spoil(in, draw)
		}
	}
	var err error
	in.Topology, err = placement.NewTopology(in.Spec)
	return in, err
}

// spoil gives a field a value that is no part of a valid input, or at its edge.
func spoil(in *instances.Instance, draw instances.Source) {
	amount := []int64{-1, 0, math.MinInt64, math.MaxInt64, math.MaxInt64 / 1024, 1 << 40, 1 << 17}[draw(7)]
	float := []float64{math.NaN(), math.Inf(1), -1, 1e300, 1e-300, 1 << 20}[draw(6)]
	node := &in.Spec.Nodes[draw(len(in.Spec.Nodes))]
	tier := &in.Spec.Tiers[draw(len(in.Spec.Tiers))]
	role := &in.Demand.Roles[draw(len(in.Demand.Roles))]
	switch draw(15) {
	case 0:
		node.Name = "n0"
	case 1:
		node.Free[draw(len(node.Free))] = amount
	case 2:
		node.Islands = []placement.Island{{Size: 4, Free: int(amount)}}
	case 3:
		if len(node.Domains) > 0 {
			node.Domains[draw(len(node.Domains))] = ""
		}
	case 4:
		tier.Weight = float
	case 5:
		tier.Bandwidth = float
	case 6:
		in.Demand.ColocationTier = int(amount)
	case 7:
		in.Demand.ParameterBytes = float
	case 8:
		in.Demand.Pattern = placement.Pattern(amount)
	case 9:
		in.Demand.GroupSize = int(amount)
	case 10:
		role.CommRole, role.Stage = placement.CommRole(draw(9)), draw(90)
	case 11:
		role.Request[draw(len(role.Request))] = amount
	case 12:
		role.Minimum = int(amount)
	case 13:
		role.Placed = append(role.Placed, placement.Placed{Index: draw(9), Node: placement.NodeID(draw(99))})
	case 14:
		if role.Penalty != nil {
			role.Penalty[0] = int32(amount)
		}
	}
}
