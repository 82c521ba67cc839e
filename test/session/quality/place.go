// SPDX-License-Identifier: Apache-2.0

package quality

import (
	"fmt"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/legal"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

// Outcome is what one set-up made of one instance.
type Outcome struct {
	// Placed says whether the whole gang was bound; the rest is 0 if not.
	Placed bool
	// Cost is the priced cost, Rack the bytes across borders of racks, in model sizes per step.
	Cost, Rack float64
}

// everyNode is the percentage of nodes that every set-up looks at here: clusters are small, and sampling would hide from
// the baselines what they could find.
const everyNode = 100

// Stage is one scheduler for each set-up, on which instances are played one after the other.
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
