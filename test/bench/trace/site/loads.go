// SPDX-License-Identifier: Apache-2.0

package site

import "github.com/paddle-volcano/paddle-volcano/plugins/placement"

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
