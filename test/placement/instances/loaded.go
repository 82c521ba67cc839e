// SPDX-License-Identifier: Apache-2.0

package instances

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// Loaded is one job on a cluster where others run already.
type Loaded struct {
	Instance
	// Capacity of each node, free or not.
	Capacity [][]int64
	// Load is the share of all GPUs that others have.
	Load float64
}

// gpusPerNode of all nodes of large clusters.
const gpusPerNode = 8

// Cluster draws a cluster of 64 to 512 nodes of 8 GPUs in racks and blocks, and a job that fits. Jobs of varying size, some of which
// have left again, load it to 30 to 85 percent. The job has from 2 servers and 4 workers to 16 and 64, or is a ring of 8 to 256 GPUs
// in pods of 1, 2, 4 or 8.
func Cluster(seed, index uint64) *Loaded {
	rng := source(seed, index)
	nodes := int(64 * math.Pow(8, rng.Float64()))
	c := &cluster{Rand: rng, Loaded: &Loaded{}}
	c.build(nodes)
	c.fill(0.3 + 0.55*rng.Float64())
	c.draw()
	return c.Loaded
}

// cluster is a loaded cluster while it is drawn.
type cluster struct {
	*rand.Rand
	*Loaded
	running [][]placement.Claim // by job
}

func (c *cluster) build(nodes int) {
	spec := placement.TopologySpec{Resources: Resources(), Accelerators: []string{"nvidia.com/gpu"}, Tiers: placement.DefaultTiers("rack", "block")}
	if chance(c.Rand, 0.5) {
		spec.Tiers[1].Bandwidth, spec.Tiers[2].Bandwidth, spec.Tiers[3].Bandwidth = 50e9, 200e9, 400e9
	}
	halves := pick(c.Rand, 0, 0.5, 1) // share of nodes with 2 islands of 4 GPUs
	cpus := pick(c.Rand, []int64{96}, []int64{64, 96, 128}, []int64{128})
	rackSize, perBlock := pick(c.Rand, 8, 16, 32), 2+c.IntN(5)
	rack, left := 0, 0
	for i := range nodes {
		if left == 0 {
			rack++
			left = rackSize - c.IntN(rackSize/2)
		}
		left--
		node := placement.NodeSpec{
			Name:    fmt.Sprintf("node-%04d", i),
			Domains: []string{fmt.Sprintf("rack-%03d", rack), fmt.Sprintf("block-%02d", rack/perBlock)},
			Free:    []int64{pick(c.Rand, cpus...), 8 * pick(c.Rand, cpus...), gpusPerNode},
		}
		if chance(c.Rand, halves) {
			node.Islands = []placement.Island{{Size: 4, Free: 4}, {Size: 4, Free: 4}}
		}
		spec.Nodes = append(spec.Nodes, node)
	}
	c.Topology = build(spec)
	for n := range nodes {
		c.Capacity = append(c.Capacity, append([]int64(nil), c.Topology.Free(placement.DomainID(n))...))
	}
}

// fill adds jobs until more than the load is used, removes some of them, and adds small ones until the load is reached.
func (c *cluster) fill(load float64) {
	c.arriveUntil(min(0.95, load+0.25*c.Float64()), 6)
	for c.taken() > load && len(c.running) > 0 {
		i := c.IntN(len(c.running))
		for _, claim := range c.running[i] {
			Give(c.Topology, claim)
		}
		c.running[i] = c.running[len(c.running)-1]
		c.running = c.running[:len(c.running)-1]
	}
	c.arriveUntil(load, 2)
	c.Load = c.taken()
}

// taken returns the share of all GPUs that jobs have.
func (c *cluster) taken() float64 {
	return 1 - float64(c.Topology.FreeGPUs(c.Topology.Root()))/float64(gpusPerNode*len(c.Capacity))
}

// arriveUntil adds jobs of up to 2^doublings pods until a share is used.
func (c *cluster) arriveUntil(share, doublings float64) {
	for tries := 0; c.taken() < share && tries < 4*len(c.Capacity); tries++ {
		c.arrive(doublings)
	}
}

// arrive places one earlier job as some scheduler may have: from some node on, or pod by pod anywhere.
func (c *cluster) arrive(doublings float64) {
	pods := int(math.Pow(2, doublings*c.Float64()))
	gpus := pick(c.Rand, 0, 1, 1, 2, 4, 8, 8)
	request := []int64{int64(max(1, gpus)) * (2 + c.Int64N(8)), 16 * int64(max(1, gpus)), int64(gpus)}
	together := chance(c.Rand, 0.6)
	node := c.IntN(len(c.Capacity))
	var claims []placement.Claim
	for range pods {
		tried := 0
		for ; tried < len(c.Capacity) && !c.holds(node, request); tried++ {
			node = (node + 1) % len(c.Capacity)
		}
		if tried == len(c.Capacity) {
			break
		}
		claims = append(claims, c.take(node, request))
		if !together {
			node = c.IntN(len(c.Capacity))
		}
	}
	c.running = append(c.running, claims)
}

func (c *cluster) holds(node int, request []int64) bool {
	return Fits(c.Topology.Free(placement.DomainID(node)), request, 1) == 1
}

func (c *cluster) take(node int, request []int64) placement.Claim {
	claim, err := c.Topology.Take(placement.NodeID(node), request)
	if err != nil {
		panic(fmt.Errorf("a node that fits has no free capacity: %w", err))
	}
	return claim
}

// Give releases a claim.
func Give(t *placement.Topology, claim placement.Claim) {
	free, islands := slices.Clone(t.Free(placement.DomainID(claim.Node))), t.Islands(claim.Node)
	for r, amount := range claim.Amounts {
		free[r] += amount
	}
	for _, i := range claim.Islands {
		islands[i].Free++
	}
	if err := t.SetFree(claim.Node, free, islands); err != nil {
		panic(fmt.Errorf("what a claim took does not fit back: %w", err))
	}
}

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

// Servers returns a parameter-server job.
func Servers(servers, workers int, server, worker []int64) *placement.Demand {
	return &placement.Demand{Pattern: placement.ParameterServer, ParameterBytes: 1e9, Roles: []placement.Role{
		{Name: "server", CommRole: placement.Server, Request: server, Pending: upTo(servers), Minimum: servers},
		{Name: "worker", CommRole: placement.Worker, Request: worker, Pending: upTo(workers), Minimum: workers},
	}}
}

// Ring returns a collective job.
func Ring(pods int, request []int64) *placement.Demand {
	return &placement.Demand{Pattern: placement.Collective, ParameterBytes: 1e9, Roles: []placement.Role{
		{Name: "worker", CommRole: placement.Worker, Request: request, Pending: upTo(pods), Minimum: pods},
	}}
}

// fits reports whether the job fits when its roles take the first nodes that fit, in either order. A job that fits
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
			if !c.holds(n, role.Request) {
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
