// SPDX-License-Identifier: Apache-2.0

package quality

import (
	"fmt"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/instances"
	"github.com/paddle-volcano/paddle-volcano/test/placement/legal"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

// Outcome is what one set-up made of one instance.
type Outcome struct {
	// Placed reports whether the whole gang was bound; the rest is 0 if not.
	Placed bool
	// Cost is the priced cost, Rack the bytes across borders of racks, in model sizes per step.
	Cost, Rack float64
}

// everyNode is the percentage of nodes that every set-up looks at here: clusters are small, and sampling would hide from
// the baselines what they could find.
const everyNode = 100

// Stage is one scheduler for each set-up, on which instances run one after the other.
type Stage struct {
	Setups     []cluster.Setup
	schedulers []*cluster.Scheduler
}

// NewStage starts the schedulers.
func NewStage(setups ...cluster.Setup) (*Stage, error) {
	stage := &Stage{}
	for _, setup := range setups {
		setup.Percentage = everyNode
		scheduler, err := cluster.New(setup)
		if err != nil {
			stage.Close()
			return nil, err
		}
		stage.Setups = append(stage.Setups, setup)
		stage.schedulers = append(stage.schedulers, scheduler)
	}
	return stage, nil
}

// Close stops the schedulers.
func (s *Stage) Close() {
	for _, scheduler := range s.schedulers {
		scheduler.Close()
	}
}

// Play places the job of an instance with every set-up, one session each.
func (s *Stage) Play(in *Instance) ([]Outcome, error) {
	outcomes := make([]Outcome, len(s.schedulers))
	t, err := Topology(in.Fleet)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in, err)
	}
	for i, scheduler := range s.schedulers {
		plan, err := place(scheduler, t, in)
		if err == nil && plan != nil {
			outcomes[i], err = weigh(t, in, plan)
		}
		if err != nil {
			return nil, fmt.Errorf("%s, set-up %s: %w", in, s.Setups[i].Name, err)
		}
	}
	return outcomes, nil
}

// place runs one session over an instance; the plan is nil if the gang was not placed.
func place(scheduler *cluster.Scheduler, t *placement.Topology, in *Instance) ([]placement.Assignment, error) {
	scheduler.Reset()
	if err := scheduler.AddFleet(in.Fleet, in.Seed+uint64(in.Index)); err != nil {
		return nil, err
	}
	scheduler.AddJob(&in.Job)
	if _, err := scheduler.Session(); err != nil {
		return nil, err
	}
	bound := scheduler.Bound(&in.Job)
	switch len(bound) {
	case 0:
		return nil, nil
	case in.Job.Pods():
		return Assignments(t, &in.Job, bound)
	default:
		return nil, fmt.Errorf("%d of %d pods of the gang are bound", len(bound), in.Job.Pods())
	}
}

// weigh checks a plan against what is free, and counts its cost.
func weigh(t *placement.Topology, in *Instance, plan []placement.Assignment) (Outcome, error) {
	d := Demand(&in.Job)
	if err := legal.Check(t, d, plan); err != nil {
		return Outcome{}, err
	}
	cost, err := placement.Evaluate(t, d, plan)
	if err != nil {
		return Outcome{}, err
	}
	return Outcome{Placed: true, Cost: cost.WeightedBytes, Rack: cost.Tiers[rackTier].Bytes}, nil
}

// fitting returns how many pods of a request fit into free, up to a number.
func fitting(free, request cluster.Amounts, most int) int {
	for _, pair := range [][2]int64{{free.CPU, request.CPU}, {free.Memory, request.Memory}, {free.GPU, request.GPU}} {
		if pair[1] > 0 {
			most = min(most, int(max(0, pair[0])/pair[1]))
		}
	}
	return most
}

// times returns n pods of a request.
func times(request cluster.Amounts, n int) cluster.Amounts {
	k := int64(n)
	return cluster.Amounts{CPU: request.CPU * k, Memory: request.Memory * k, GPU: request.GPU * k}
}

// holdsJob reports whether the nodes hold all pods of a job of one or two roles. It is exact: most[n] is how many pods of the
// first role fit together with n of the last, at best.
func holdsJob(nodes cluster.Fleet, job *cluster.Job) bool {
	last := &job.Roles[len(job.Roles)-1]
	first := &cluster.Role{}
	if len(job.Roles) > 1 {
		first = &job.Roles[0]
	}
	const none = -1
	most := make([]int, last.Pods+1)
	for n := range most {
		most[n] = none
	}
	most[0] = 0
	for i := range nodes {
		free := nodes[i].Free()
		here := fitting(free, last.Request, last.Pods)
		if here == 0 && fitting(free, first.Request, first.Pods) == 0 {
			continue
		}
		together := make([]int, here+1)
		for n := range together {
			together[n] = fitting(free.Minus(times(last.Request, n)), first.Request, first.Pods)
		}
		for n := last.Pods; n >= 0; n-- {
			best := none
			for k := 0; k <= min(n, here); k++ {
				if most[n-k] != none {
					best = max(best, min(first.Pods, most[n-k]+together[k]))
				}
			}
			most[n] = best
		}
	}
	return most[last.Pods] >= first.Pods
}

// rackTier is the tier above the node.
const rackTier = placement.NodeTier + 1

func vector(a cluster.Amounts) []int64 { return []int64{a.CPU, a.Memory, a.GPU} }

// Topology returns a fleet as the planner sees it, built without the plugin.
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

// Demand returns a job as the planner sees it. Its model has one unit of bytes: costs are in sizes of the model, per step.
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
