// SPDX-License-Identifier: Apache-2.0

package site

import (
	"fmt"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/fluid"
	"github.com/paddle-volcano/paddle-volcano/test/placement/instances"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
	"github.com/paddle-volcano/paddle-volcano/test/session/quality"
)

// Tiers that have uplinks, from the node upwards.
const (
	Node = iota
	Rack
	Block
	Tiers
)

// Gbps of one direction of an uplink of each tier.
type Gbps [Tiers]float64

// Usual are the NIC of such a machine, and racks and blocks whose uplinks are about a third of what is below them: 8 hosts in a
// rack, 6 racks in a block.
var Usual = Gbps{100, 250, 500}

// bytesPerSecond of 1 Gbps.
const bytesPerSecond = 1e9 / 8

// Site is a fleet with its links and what is free on it.
type Site struct {
	Fleet    cluster.Fleet
	rings    Rings
	topology *placement.Topology
	links    []float64
}

// New has nothing running.
func New(fleet cluster.Fleet, gbps Gbps, rings Rings) (*Site, error) {
	if err := rings.check(); err != nil {
		return nil, err
	}
	t, err := quality.Topology(fleet)
	if err != nil {
		return nil, err
	}
	s := &Site{Fleet: fleet, rings: rings, topology: t, links: make([]float64, t.Root())}
	for d := range s.links {
		s.links[d] = gbps[s.tier(placement.DomainID(d))] * bytesPerSecond
	}
	return s, nil
}

// Links are the bandwidths of all uplinks, in bytes per second.
func (s *Site) Links() []float64 { return s.links }

// GPUs of the whole site.
func (s *Site) GPUs() int { return len(s.Fleet) * int(Machine.GPU) }

func (s *Site) tier(d placement.DomainID) int { return s.topology.TierOf(d) - placement.NodeTier }

// Placed is a job on its nodes.
type Placed struct {
	// Loads are what a step sends over each uplink; Bytes the same by tier.
	Loads  []fluid.Load
	Bytes  [Tiers]float64
	claims []placement.Claim
}

// Place lets a job's pods hold what they ask for, and counts what its steps send, for a
// model of so many bytes. Bound is the node of each pod.
func (s *Site) Place(job *cluster.Job, modelBytes float64, bound map[string]string) (*Placed, error) {
	assignments, err := quality.Assignments(s.topology, job, bound)
	if err != nil {
		return nil, err
	}
	demand := quality.Demand(job)
	demand.ParameterBytes = modelBytes
	p := &Placed{}
	for domain, bytes := range s.loads(demand, s.ring(job, assignments)) {
		if bytes > 0 {
			p.Loads = append(p.Loads, fluid.Load{Link: domain, Bytes: bytes})
			p.Bytes[s.tier(placement.DomainID(domain))] += bytes
		}
	}
	for _, a := range assignments {
		claim, err := s.topology.Take(a.Node, demand.Roles[a.Role].Request)
		if err != nil {
			return nil, fmt.Errorf("place job %s: %w", job.Name, err)
		}
		p.claims = append(p.claims, claim)
	}
	return p, nil
}

// Leave gives back what a job held.
func (s *Site) Leave(p *Placed) {
	for _, claim := range p.claims {
		instances.Give(s.topology, claim)
	}
}

// loads returns what a step of a job sends over each uplink, by domain, in bytes of one direction: the formulas of
// plugins/placement/README.md, link by link. A test holds them to what Evaluate counts by tier.
func (s *Site) loads(d *placement.Demand, assignments []placement.Assignment) []float64 {
	if d.Pattern == placement.Collective {
		return s.ringLoads(d, assignments)
	}
	return s.serverLoads(d, assignments)
}

// ringLoads counts the ends of the runs of ranks in each domain: an end carries (N-1)/N of the model.
func (s *Site) ringLoads(d *placement.Demand, assignments []placement.Assignment) []float64 {
	t := s.topology
	loads := make([]float64, t.Root())
	ranks := float64(len(assignments)) * float64(max(1, t.GPUs(d.Roles[0].Request)))
	end := (ranks - 1) / ranks * d.ParameterBytes
	for i, a := range assignments {
		next := assignments[(i+1)%len(assignments)]
		for u, v := placement.DomainID(a.Node), placement.DomainID(next.Node); u != v; u, v = t.Parent(u), t.Parent(v) {
			loads[u] += end
			loads[v] += end
		}
	}
	return loads
}

// serverLoads counts the servers and workers inside and outside each domain: each pair that it parts exchanges a server's part
// of the model.
func (s *Site) serverLoads(d *placement.Demand, assignments []placement.Assignment) []float64 {
	t := s.topology
	inside := make([][2]float64, t.Root()+1)
	for _, a := range assignments {
		for v := placement.DomainID(a.Node); v != placement.NoDomain; v = t.Parent(v) {
			inside[v][a.Role]++
		}
	}
	all := inside[t.Root()]
	loads := make([]float64, t.Root())
	for v := range loads {
		servers, workers := inside[v][0], inside[v][1]
		loads[v] = d.ParameterBytes / all[0] * (servers*(all[1]-workers) + workers*(all[0]-servers))
	}
	return loads
}
