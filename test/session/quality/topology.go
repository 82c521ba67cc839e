// SPDX-License-Identifier: Apache-2.0

package quality

import (
	"fmt"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/instances"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

// rackTier is the tier above the node.
const rackTier = placement.NodeTier + 1

func vector(a cluster.Amounts) []int64 { return []int64{a.CPU, a.Memory, a.GPU} }

// Topology is a fleet as the planner sees it, built without the plugin.
func Topology(fleet cluster.Fleet) (*placement.Topology, error) {
	spec := placement.TopologySpec{
		Resources: []string{"cpu", "memory", "gpu"}, Accelerators: []string{"gpu"}, Tiers: placement.DefaultTiers("rack", "block"),
	}
	for i := range fleet {
		n := &fleet[i]
		spec.Nodes = append(spec.Nodes, placement.NodeSpec{Name: n.Name, Domains: []string{n.Rack, n.Block}, Free: vector(n.Free())})
	}
	t, err := placement.NewTopology(spec)
	if err != nil {
		return nil, fmt.Errorf("build the topology of a fleet: %w", err)
	}
	return t, nil
}

// Demand is a job as the planner sees it. Its model has one unit of bytes: costs are in sizes of the model, per step.
func Demand(job *cluster.Job) *placement.Demand {
	last := &job.Roles[len(job.Roles)-1]
	d := instances.Ring(last.Pods, vector(last.Request))
	if job.Roles[0].Task == cluster.ServerTask {
		d = instances.Servers(job.Roles[0].Pods, last.Pods, vector(job.Roles[0].Request), vector(last.Request))
	}
	d.ParameterBytes = 0
	return d
}

// Assignments of a placed job, from the node of each pod by name.
func Assignments(t *placement.Topology, job *cluster.Job, bound map[string]string) ([]placement.Assignment, error) {
	all := make([]placement.Assignment, 0, job.Pods())
	for r := range job.Roles {
		for index := range job.Roles[r].Pods {
			pod := job.PodName(job.Roles[r].Task, index)
			node, ok := t.Node(bound[pod])
			if !ok {
				return nil, fmt.Errorf("read a placement: pod %s is on node %q, which is not in the fleet", pod, bound[pod])
			}
			all = append(all, placement.Assignment{Role: r, Index: index, Node: node})
		}
	}
	return all, nil
}
