// SPDX-License-Identifier: Apache-2.0

// Package fuzz turns bytes into topologies and demands, valid ones and others, and holds the planner to its promises on
// them; `make fuzz-placement` looks for bytes that break one.
package fuzz

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/legal"
)

// errInvalid is what promises returns for inputs that the planner refuses, as it may.
var errInvalid = errors.New("the input is not valid")

// promises of the planner on what bytes say.
func promises(data []byte) error {
	in, err := decode(data)
	if err != nil {
		return errInvalid
	}
	return kept(in.Options, func() (*placement.Topology, *placement.Demand, error) {
		again, err := decode(data)
		if err != nil {
			return nil, nil, fmt.Errorf("the topology is valid the first time only: %w", err)
		}
		return again.Topology, again.Demand, nil
	})
}

// kept returns an error if a guarantee for any input is violated. There is no panic. The answer is the same twice and on a fresh
// topology. Every capacity and limit is kept. The cost is that of Evaluate. The topology is unchanged.
func kept(o placement.Options, build func() (*placement.Topology, *placement.Demand, error)) error {
	t, d, err := build()
	if err != nil {
		return err
	}
	fresh, sameDemand, err := build()
	if err != nil {
		return err
	}
	before := picture(t)
	plan, err := placement.Solve(t, d, o)
	again, errAgain := placement.Solve(t, d, o)
	if !reflect.DeepEqual(plan, again) || fmt.Sprint(err) != fmt.Sprint(errAgain) {
		return fmt.Errorf("two runs differ: %v, %w; %v, %w", plan, err, again, errAgain)
	}
	again, errAgain = placement.Solve(fresh, sameDemand, o)
	if !reflect.DeepEqual(plan, again) || fmt.Sprint(err) != fmt.Sprint(errAgain) {
		return fmt.Errorf("a fresh topology gives another plan: %v, %w; %v, %w", plan, err, again, errAgain)
	}
	if err == nil || errors.Is(err, placement.ErrNoFit) {
		if err := explains(t, d, o, plan); err != nil {
			return err
		}
	}
	switch {
	case err == nil:
		err = holds(t, d, plan)
	case errors.Is(err, placement.ErrNoFit):
		err = nil
	default:
		err = errInvalid
	}
	if after := picture(t); !reflect.DeepEqual(before, after) {
		return fmt.Errorf("the topology changed: %v, was %v", after, before)
	}
	return err
}

// holds reports whether a plan keeps all capacities and limits, costs what it says and can be taken.
func holds(t *placement.Topology, d *placement.Demand, plan *placement.Plan) error {
	if err := legal.Check(t, d, plan.Assignments); err != nil {
		return err
	}
	cost, err := placement.Evaluate(t, d, plan.Assignments)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(cost, plan.Cost) {
		return fmt.Errorf("the plan costs %v and says %v", cost, plan.Cost)
	}
	pending := 0
	for r := range d.Roles {
		pending += len(d.Roles[r].Pending)
	}
	if len(plan.Assignments)+len(plan.Left) != pending {
		return fmt.Errorf("%d members are placed and %d left, of %d", len(plan.Assignments), len(plan.Left), pending)
	}
	mark := t.Begin()
	defer t.Rollback(mark)
	for _, a := range plan.Assignments {
		if _, err := t.Take(a.Node, d.Roles[a.Role].Request); err != nil {
			return fmt.Errorf("take the plan: %w", err)
		}
	}
	return nil
}

// explains reports whether an explanation agrees with the plan, and its relaxations have plans.
func explains(t *placement.Topology, d *placement.Demand, o placement.Options, plan *placement.Plan) error {
	e, err := placement.Diagnose(t, d, o)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(e.Plan, plan) {
		return fmt.Errorf("the explanation has the plan %v, and Solve %v", e.Plan, plan)
	}
	for i := range e.Suggestions {
		if _, err := e.Suggestions[i].Try(t, d, o); err != nil {
			return fmt.Errorf("relaxation %d: %w", i, err)
		}
	}
	return nil
}

// picture returns all that can be seen of what is free.
func picture(t *placement.Topology) (seen []any) {
	for v := placement.DomainID(0); v <= t.Root(); v++ {
		seen = append(seen, append([]int64(nil), t.Free(v)...))
	}
	for n := range t.Nodes() {
		seen = append(seen, t.Islands(placement.NodeID(n)))
	}
	return seen
}
