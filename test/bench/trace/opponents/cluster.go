// SPDX-License-Identifier: Apache-2.0

// Package opponents has placement rules of schedulers other than Volcano, and two references: a search with full knowledge, and what
// no scheduler can be better than. Rules are pure functions. A Queue asks one of them for job after job in the order of Volcano's
// sessions, so that schedulers differ in placement only.
package opponents

import (
	"cmp"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/workload"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

// Cluster is the input of a rule.
type Cluster struct {
	// Fleet has the hosts. Those of a rack follow each other, and so do the racks of a block.
	Fleet cluster.Fleet
	// Free is what each host has left.
	Free []cluster.Amounts
	// Running are the jobs that hold hosts, in the order of their starts.
	Running []Running
	Network Network

	tree [levels][]*domain
}

// Running is a job with its pods on hosts.
type Running struct {
	Job     *workload.Job
	Traffic Traffic
}

// Network answers what the judge of the trace knows.
type Network interface {
	// At returns what a job sends in each step with its pods at a placement.
	At(job *workload.Job, at Placement) (Traffic, error)
	// Steps returns the seconds that a step of each job takes while all of them run.
	Steps(all []Traffic) []float64
	// Left returns how many steps a job has still to do.
	Left(job *workload.Job) float64
}

// Traffic is what one job sends in each step.
type Traffic interface {
	// Busy returns for how long a step keeps each of the job's links busy if no other job sends.
	Busy() []Busy
}

// Busy is the seconds for which a link is in use.
type Busy struct {
	Link    int
	Seconds float64
}

// Placement has the host of each pod, by role and by index.
type Placement [][]int

// Rule places a job on a cluster. No placement means that the job waits.
type Rule func(c *Cluster, job *workload.Job) (Placement, error)

// Levels of domains.
const (
	host = iota
	rack
	block
	root
	levels
)

// domain is the hosts from first to before end.
type domain struct {
	level, first, end int
	children          []*domain
}

// New returns a cluster with nothing on it but what the fleet has.
func New(fleet cluster.Fleet, network Network) *Cluster {
	c := &Cluster{Fleet: fleet, Network: network}
	for i := range fleet {
		c.Free = append(c.Free, fleet[i].Free())
	}
	names := [levels]func(*cluster.Node) string{
		host:  func(n *cluster.Node) string { return n.Name },
		rack:  func(n *cluster.Node) string { return n.Rack },
		block: func(n *cluster.Node) string { return n.Block },
		root:  func(*cluster.Node) string { return "" },
	}
	for level, name := range names {
		for i := range fleet {
			if i > 0 && name(&fleet[i]) == name(&fleet[i-1]) {
				last := c.tree[level][len(c.tree[level])-1]
				last.end++
				continue
			}
			c.tree[level] = append(c.tree[level], &domain{level: level, first: i, end: i + 1})
		}
		if level == host {
			continue
		}
		for _, parent := range c.tree[level] {
			for _, child := range c.tree[level-1] {
				if parent.first <= child.first && child.end <= parent.end {
					parent.children = append(parent.children, child)
				}
			}
		}
	}
	return c
}

// many is more pods than any host holds.
const many = 1 << 20

// fit returns how many pods of a request a host with so much left holds.
func fit(free, request cluster.Amounts) int {
	n := int64(many)
	for _, pair := range [][2]int64{{free.CPU, request.CPU}, {free.Memory, request.Memory}, {free.GPU, request.GPU}} {
		if pair[1] > 0 {
			n = min(n, max(0, pair[0])/pair[1])
		}
	}
	return int(n)
}

// empty returns what hosts have left where nothing runs but what the fleet has.
func (c *Cluster) empty() []cluster.Amounts {
	free := make([]cluster.Amounts, len(c.Fleet))
	for i := range c.Fleet {
		free[i] = c.Fleet[i].Free()
	}
	return free
}

// Tier returns the lowest tier of which one domain holds all pods of a job where nothing runs: 0 for a host, 1 for a rack, 2 for a
// block, and 3 for all hosts.
func (c *Cluster) Tier(job *cluster.Job) int {
	free := c.empty()
	for level := range c.tree {
		for _, d := range c.tree[level] {
			if pack(d, free, job, false) != nil {
				return level
			}
		}
	}
	return root
}

// pack returns a placement of all pods of a job in a domain, none if it finds none. Roles with more GPUs come first. Each fills the
// hosts that hold most of its pods, the last one is the tightest that holds the rest. If apart, a role without GPUs takes the hosts
// of the job in turn as long as they have capacity, one pod each.
func pack(d *domain, free []cluster.Amounts, job *cluster.Job, apart bool) Placement {
	left := slices.Clone(free[d.first:d.end])
	placement := make(Placement, len(job.Roles))
	var used []int
	for _, r := range byGPUs(job) {
		role := &job.Roles[r]
		var hosts []int
		if apart && role.Request.GPU == 0 && len(used) > 0 {
			hosts = inTurn(used, left, role)
		}
		if hosts == nil {
			hosts = fill(left, role)
		}
		if hosts == nil {
			return nil
		}
		slices.Sort(hosts)
		for i, h := range hosts {
			left[h] = left[h].Minus(role.Request)
			if role.Request.GPU > 0 && (i == 0 || h != hosts[i-1]) {
				used = append(used, h)
			}
		}
		for i := range hosts {
			hosts[i] += d.first
		}
		placement[r] = hosts
	}
	return placement
}

// byGPUs returns the roles of a job, those whose pods have more GPUs first.
func byGPUs(job *cluster.Job) []int {
	order := make([]int, len(job.Roles))
	for r := range order {
		order[r] = r
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(job.Roles[b].Request.GPU, job.Roles[a].Request.GPU) })
	return order
}

// fill returns a host for each pod of a role: those that hold most first, the last one as tight as can be.
func fill(left []cluster.Amounts, role *cluster.Role) (hosts []int) {
	type capacity struct{ host, pods int }
	capacities := make([]capacity, len(left))
	for h := range left {
		capacities[h] = capacity{h, fit(left[h], role.Request)}
	}
	slices.SortStableFunc(capacities, func(a, b capacity) int { return cmp.Compare(b.pods, a.pods) })
	for i := 0; i < len(capacities) && capacities[i].pods > 0; i++ {
		pods, chosen := role.Pods-len(hosts), capacities[i]
		for _, r := range capacities[i:] {
			if r.pods >= pods && r.pods < chosen.pods {
				chosen = r
			}
		}
		for range min(pods, chosen.pods) {
			hosts = append(hosts, chosen.host)
		}
		if len(hosts) == role.Pods {
			return hosts
		}
	}
	return nil
}

// inTurn returns a host for each pod of a role, of some hosts in turn.
func inTurn(some []int, left []cluster.Amounts, role *cluster.Role) (hosts []int) {
	for round := 1; len(hosts) < role.Pods; round++ {
		before := len(hosts)
		for _, h := range some {
			if len(hosts) < role.Pods && fit(left[h], role.Request) >= round {
				hosts = append(hosts, h)
			}
		}
		if len(hosts) == before {
			return nil
		}
	}
	return hosts
}
