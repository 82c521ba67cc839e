// SPDX-License-Identifier: Apache-2.0

package site

import (
	"fmt"

	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/flows"
	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/fluid"
	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/workload"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

// Tiers that have uplinks, from the node upwards.
const (
	Node  = flows.NIC
	Rack  = flows.Rack
	Block = flows.Block
	Tiers = flows.Tiers
)

// Gbps of one direction of an uplink of each tier.
type Gbps [Tiers]float64

// Usual are the NIC of such a machine, and racks and blocks whose uplinks are about a third of what is below them: 8 hosts in a
// rack, 6 racks in a block.
var Usual = Gbps{100, 250, 500}

// bytesPerSecond of 1 Gbps.
const bytesPerSecond = 1e9 / 8

// Site is a fleet with its network and what is free on it.
type Site struct {
	Fleet   cluster.Fleet
	Network *flows.Network
	hosts   map[string]int
	free    []cluster.Amounts
}

// New returns a site on which nothing runs.
func New(fleet cluster.Fleet, gbps Gbps) *Site {
	s := &Site{Fleet: fleet, hosts: map[string]int{}}
	var racks, blocks []string
	for i := range fleet {
		s.hosts[fleet[i].Name] = i
		s.free = append(s.free, fleet[i].Free())
		racks, blocks = append(racks, fleet[i].Rack), append(blocks, fleet[i].Block)
	}
	var widths [Tiers]float64
	for tier := range gbps {
		widths[tier] = gbps[tier] * bytesPerSecond
	}
	s.Network = flows.NewNetwork(racks, blocks, widths)
	return s
}

// Links returns the bandwidths of all uplinks, in bytes per second.
func (s *Site) Links() []float64 {
	links := make([]float64, len(s.Network.Widths)/2)
	for i := range links {
		links[i] = s.Network.Widths[2*i]
	}
	return links
}

// GPUs of the whole site.
func (s *Site) GPUs() int { return len(s.Fleet) * int(Machine.GPU) }

// Placed is a job on its nodes.
type Placed struct {
	// Flows of a step, and the bytes of them that leave a node, a rack and a block.
	Flows  []flows.Flow
	Bytes  [Tiers]float64
	claims []claim
}

// claim is what a pod holds of a host.
type claim struct {
	host   int
	amount cluster.Amounts
}

// Place lets a job's pods hold what they ask for, and says what flows in each of its steps. Bound is the node of each pod.
func (s *Site) Place(job *workload.Job, bound map[string]string) (*Placed, error) {
	p := &Placed{}
	pods := make([][]int, len(job.Roles)) // hosts by role
	for r := range job.Roles {
		role := &job.Roles[r]
		for index := range role.Pods {
			pod := job.PodName(role.Task, index)
			host, ok := s.hosts[bound[pod]]
			if !ok {
				s.Leave(p)
				return nil, fmt.Errorf("place job %s: pod %s is on node %q, which is not in the fleet", job.Name, pod, bound[pod])
			}
			if !s.free[host].Holds(role.Request) {
				s.Leave(p)
				return nil, fmt.Errorf("place job %s: pod %s asks for %+v, and node %s has %+v", job.Name, pod, role.Request, bound[pod], s.free[host])
			}
			s.free[host] = s.free[host].Minus(role.Request)
			p.claims = append(p.claims, claim{host, role.Request})
			pods[r] = append(pods[r], host)
		}
	}
	p.Flows = s.Network.Flows(exchanges(job, pods))
	p.Bytes = s.Network.Crossing(p.Flows)
	return p, nil
}

// exchanges of a job whose pods are on these hosts.
func exchanges(job *workload.Job, pods [][]int) []flows.Exchange {
	if job.Mode == cluster.PS {
		return flows.ParameterServers(pods[0], pods[1], job.ModelBytes)
	}
	var ranks []int // hosts
	for _, host := range pods[0] {
		for range max(1, job.Roles[0].Request.GPU) {
			ranks = append(ranks, host)
		}
	}
	if job.Hybrid.Tensor > 0 {
		return job.Hybrid.Exchanges(ranks)
	}
	return flows.Ring(ranks, job.ModelBytes)
}

// Leave frees what a job held.
func (s *Site) Leave(p *Placed) {
	for _, c := range p.claims {
		s.free[c.host] = s.free[c.host].Plus(c.amount)
	}
}

// Loads returns what flows send over each uplink, out of its domain, by position in Links: what the formula of package fluid counts.
func Loads(all []flows.Flow) []fluid.Load {
	var loads []fluid.Load
	at := map[int32]int{}
	for i := range all {
		for _, link := range all[i].Links {
			if !flows.Up(link) {
				continue
			}
			if _, ok := at[link]; !ok {
				at[link] = len(loads)
				loads = append(loads, fluid.Load{Link: int(link) / 2})
			}
			loads[at[link]].Bytes += all[i].Count * all[i].Bytes
		}
	}
	return loads
}
