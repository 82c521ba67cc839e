// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"slices"

	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/guard"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// maxScore is what Volcano's node scores reach before weights (k8s.io/kube-scheduler/framework.MaxNodeScore).
const maxScore = 100

// score rates nodes for a task that has no plan to follow: by the network, and those on which a pod of the job failed
// come after all others.
func (c *course) score(task *api.TaskInfo, nodes []*api.NodeInfo) map[string]float64 {
	if c.arguments.Weight == 0 {
		return nil
	}
	var scores map[string]float64
	if of := (guard.Work{Part: metrics.PartScore, Job: task.Job}); c.guard.BackedOff(of) == nil {
		_ = c.guard.Run(of, func() error { // it is logged and counted
			scores = c.nearness(task, nodes)
			return nil
		})
	}
	past, _ := c.history.Get(task.Job)
	for _, node := range nodes {
		if slices.Contains(past.FailedNodes, node.Name) {
			if scores == nil {
				scores = map[string]float64{}
			}
			scores[node.Name] -= (maxScore + 1) * c.arguments.Weight
		}
	}
	return scores
}

// nearness rates nodes by what the job would send over the network with the task on each: the best gets 100 times the
// weight, the worst 0. All are equal as long as no member of the job has a node.
func (c *course) nearness(task *api.TaskInfo, nodes []*api.NodeInfo) map[string]float64 {
	job := c.ssn.Jobs[task.Job]
	t, err := c.topology()
	if err != nil {
		return nil
	}
	spec := c.spec(job)
	s := c.scopeOf(job, task)
	cast := newCast(job, c.gangs[job.UID], spec, c, func(other *api.TaskInfo) bool {
		return s.contains(other) && (other.Status != api.Pending || other.UID == task.UID)
	}, nil)
	role, index, ok := cast.only()
	if !ok {
		return nil
	}
	costs := make(map[string]float64, len(nodes))
	least, most := 0.0, 0.0
	known := map[placement.DomainID]float64{}
	near := around(t, &cast.demand)
	for _, node := range nodes {
		id, ok := c.network.Node(node.Name)
		if !ok {
			continue
		}
		cost, ok := known[near(id)]
		if !ok {
			evaluated, err := placement.Evaluate(t, &cast.demand, []placement.Assignment{{Role: role, Index: index, Node: id}})
			if err != nil {
				return nil
			}
			cost = c.price(&evaluated)
			known[near(id)] = cost
		}
		if len(costs) == 0 || cost < least {
			least = cost
		}
		most = max(most, cost)
		costs[node.Name] = cost
	}
	if most == least {
		return nil
	}
	for name, cost := range costs {
		costs[name] = maxScore * c.arguments.Weight * (most - cost) / (most - least)
	}
	return costs
}

// price is what the objective puts first.
func (c *course) price(cost *placement.Cost) float64 {
	if c.arguments.Objective == placement.BusiestFirst {
		return cost.BusiestSeconds
	}
	return cost.WeightedBytes
}

// only is the one pending member of a cast.
func (c *cast) only() (role, index int, ok bool) {
	for r := range c.demand.Roles {
		for _, i := range c.demand.Roles[r].Pending {
			return r, i, true
		}
	}
	return 0, 0, false
}

// around gives for a node the smallest domain around it that holds a member of the job. Nodes for which it is the same
// and which hold no member cost the same, as nothing but the border that traffic crosses tells them apart.
func around(t *placement.Topology, d *placement.Demand) func(placement.NodeID) placement.DomainID {
	holds := map[placement.DomainID]bool{}
	for r := range d.Roles {
		for _, placed := range d.Roles[r].Placed {
			for domain := placement.DomainID(placed.Node); domain != placement.NoDomain; domain = t.Parent(domain) {
				holds[domain] = true
			}
		}
	}
	return func(node placement.NodeID) placement.DomainID {
		domain := placement.DomainID(node)
		for domain != t.Root() && !holds[domain] {
			domain = t.Parent(domain)
		}
		return domain
	}
}
