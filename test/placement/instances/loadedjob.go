// SPDX-License-Identifier: Apache-2.0

package instances

import (
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// draw tries jobs until one fits, smaller ones as time goes by. One of three is about the largest that fits.
func (c *cluster) draw() {
	largest := chance(c.Rand, 0.33)
	for tries := 0; ; tries++ {
		smaller := min(tries/4, 5)
		if !largest {
			smaller = max(smaller, c.IntN(6))
		}
		if chance(c.Rand, 0.5) {
			c.Demand = c.drawServers(smaller)
		} else {
			c.Demand = c.drawRing(smaller)
		}
		for r := range c.Demand.Roles {
			c.Demand.Roles[r].Minimum = len(c.Demand.Roles[r].Pending)
		}
		if c.fits() || tries > 1000 {
			return
		}
	}
}

func (c *cluster) drawServers(smaller int) *placement.Demand {
	servers := max(2, 16>>smaller)
	workers := servers * (2 + c.IntN(3))
	return Servers(servers, workers, []int64{2 + c.Int64N(7), 8 * (1 + c.Int64N(4)), 0},
		[]int64{4 + c.Int64N(7), 16 * (1 + c.Int64N(2)), pick[int64](c.Rand, 0, 1, 1, 2)})
}

func (c *cluster) drawRing(smaller int) *placement.Demand {
	gpus := max(8, 256>>smaller)
	per := pick(c.Rand, 1, 2, 4, 8)
	d := Ring(max(2, gpus/per), []int64{int64(per) * (4 + c.Int64N(7)), 16 * int64(per), int64(per)})
	if chance(c.Rand, 0.3) {
		d.GroupSize = pick(c.Rand, 4, 8, 16)
	}
	return d
}

// Servers is a job of so many servers and workers.
func Servers(servers, workers int, server, worker []int64) *placement.Demand {
	return &placement.Demand{Pattern: placement.ParameterServer, ParameterBytes: 1e9, Roles: []placement.Role{
		{Name: "server", CommRole: placement.Server, Request: server, Pending: upTo(servers), Minimum: servers},
		{Name: "worker", CommRole: placement.Worker, Request: worker, Pending: upTo(workers), Minimum: workers},
	}}
}

// Ring is a collective job of so many pods.
func Ring(pods int, request []int64) *placement.Demand {
	return &placement.Demand{Pattern: placement.Collective, ParameterBytes: 1e9, Roles: []placement.Role{
		{Name: "worker", CommRole: placement.Worker, Request: request, Pending: upTo(pods), Minimum: pods},
	}}
}

// fits says whether the job has room when its roles take the first nodes with room, in either order. A job that has room
// otherwise only is drawn again.
func (c *cluster) fits() bool {
	forth := make([]int, len(c.Demand.Roles))
	for r := range forth {
		forth[r] = r
	}
	back := slices.Clone(forth)
	slices.Reverse(back)
	return c.fitsInOrder(forth) || c.fitsInOrder(back)
}

func (c *cluster) fitsInOrder(roles []int) bool {
	mark := c.Topology.Begin()
	defer c.Topology.Rollback(mark)
	for _, r := range roles {
		role := &c.Demand.Roles[r]
		left := len(role.Pending)
		for n := 0; n < c.Topology.Nodes() && left > 0; {
			if !c.room(n, role.Request) {
				n++
				continue
			}
			c.take(n, role.Request)
			left--
		}
		if left > 0 {
			return false
		}
	}
	return true
}
