// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"fmt"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

func (d *decoder) demand(t *placement.Topology) *placement.Demand {
	job := &placement.Demand{
		Pattern:         placement.Pattern(d.below(4)),
		ParameterBytes:  d.float(0, 1, 1e9, 3),
		ActivationBytes: d.float(0, 1, 1e6),
		GroupSize:       max(0, d.below(24)-12),
		GroupWeight:     d.below(3) * 16,
		HighestTier:     max(0, d.below(8)-4),
		Colocation:      placement.Colocation(d.below(3)),
		ColocationTier:  d.below(3),
	}
	if d.odd && d.rarely() {
		job.Pattern, job.GroupWeight = placement.Pattern(d.amount(6)), int(d.amount(2000))
	}
	for r := range 1 + d.below(4) {
		job.Roles = append(job.Roles, d.role(t, r))
	}
	return job
}

func (d *decoder) role(t *placement.Topology, number int) placement.Role {
	role := placement.Role{
		Name: fmt.Sprintf("role%d", number), Traffic: placement.Traffic(d.below(4)), Stage: 1 + d.below(3),
		Request: make([]int64, len(t.Resources())),
	}
	if d.odd && d.rarely() {
		role.Traffic, role.Stage = placement.Traffic(d.amount(9)), int(d.amount(90))
	}
	for r := range role.Request {
		role.Request[r] = d.amount(7)
	}
	d.members(t, &role)
	role.Minimum = len(role.Pending) + len(role.Placed)
	if d.half() {
		role.Minimum = d.below(1 + role.Minimum)
	}
	if d.odd && d.rarely() {
		role.Minimum = int(d.amount(99))
	}
	if d.below(4) == 0 {
		role.Eligible = placement.NewNodeSet(t)
		for n := range t.Nodes() {
			if d.half() {
				role.Eligible.Add(placement.NodeID(n))
			}
		}
	}
	if d.below(8) == 0 {
		role.Penalty = make([]int32, t.Nodes())
		for n := range role.Penalty {
			role.Penalty[n] = int32(d.amount(4))
		}
	}
	return role
}

func (d *decoder) members(t *placement.Topology, role *placement.Role) {
	index := 0
	for range d.below(20) {
		index += 1 + d.below(12)/11 // few gaps
		if d.below(5) > 0 {
			role.Pending = append(role.Pending, index)
			continue
		}
		role.Placed = append(role.Placed, placement.Placed{Index: index, Node: placement.NodeID(d.below(t.Nodes()))})
	}
	if d.odd && d.rarely() && index > 0 {
		role.Placed = append(role.Placed, placement.Placed{Index: d.below(index), Node: placement.NodeID(d.amount(99))})
	}
}
