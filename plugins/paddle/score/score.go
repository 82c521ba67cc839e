// SPDX-License-Identifier: Apache-2.0

// Package score scores nodes for tasks of gangs that follow no plan: by the traffic of the job with the task on each node, and
// by the failures of the job's pods.
package score

import (
	"slices"

	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/guard"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/history"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/planner"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// Scorer scores nodes in one session.
type Scorer struct {
	Planner *planner.Planner
	History *history.History
	Guard   *guard.Guard
	Weight  float64 // the argument weight
}

// Planned returns the scores of a task for which a new plan has a node.
func (s *Scorer) Planned(node string) map[string]float64 {
	return map[string]float64{node: planned * s.Weight}
}

// Scores returns the scores of nodes, by name, for a task that has no plan to follow. Nodes without a score count as 0.
func (s *Scorer) Scores(task *api.TaskInfo, nodes []*api.NodeInfo) map[string]float64 {
	if s.Weight == 0 {
		return nil
	}
	scores := map[string]float64{}
	if of := (guard.Work{Part: metrics.PartScore, Job: task.Job}); s.Guard.BackedOff(of) == nil {
		_ = s.Guard.Run(of, func() error { // it is logged and counted
			s.addTraffic(scores, task, nodes)
			return nil
		})
	}
	past, _ := s.History.Get(task.Job)
	for _, node := range nodes {
		if slices.Contains(past.FailedNodes, node.Name) {
			scores[node.Name] += failed * s.Weight
		}
	}
	return scores
}

// addTraffic adds scores by the traffic of the job with the task on each node, in proportion between the least and the most.
// They are all 0 as long as no member of the job has a node.
func (s *Scorer) addTraffic(scores map[string]float64, task *api.TaskInfo, nodes []*api.NodeInfo) {
	t, err := s.Planner.Topology()
	if err != nil {
		return
	}
	c, ok := s.Planner.CandidateOf(task)
	if !ok {
		return
	}
	costs := make(map[string]float64, len(nodes))
	least, most := 0.0, 0.0
	known := map[placement.DomainID]float64{}
	nearest := nearestMembers(t, c.Demand)
	for _, node := range nodes {
		id, ok := s.Planner.Node(node.Name)
		if !ok {
			continue
		}
		cost, ok := known[nearest(id)]
		if !ok {
			evaluated, err := placement.Evaluate(t, c.Demand, []placement.Assignment{{Role: c.Role, Index: c.Index, Node: id}})
			if err != nil {
				return
			}
			cost = s.Planner.FirstCost(&evaluated)
			known[nearest(id)] = cost
		}
		if len(costs) == 0 || cost < least {
			least = cost
		}
		most = max(most, cost)
		costs[node.Name] = cost
	}
	if most == least {
		return
	}
	for name, cost := range costs {
		scores[name] = best * s.Weight * (most - cost) / (most - least)
	}
}

// nearestMembers returns a function that returns the smallest domain around a node that holds a member of the job. Nodes that
// hold no member cost the same if it is the same domain, because traffic crosses the same borders.
func nearestMembers(t *placement.Topology, d *placement.Demand) func(placement.NodeID) placement.DomainID {
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

// Scores of nodes, in units of the argument weight. Volcano adds those of all plugins.
const (
	// best is the score of the best node by traffic, the most that a plugin of Volcano gives before weights
	// (k8s.io/kube-scheduler/framework.MaxNodeScore). The worst node by traffic has 0.
	best = 100
	// planned is the score of the node that a new plan has for the task.
	planned = best
	// failed is the score of a node on which a pod of the job failed, in addition: it comes after all others.
	failed = -(best + 1)
)
