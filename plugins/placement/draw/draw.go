// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"errors"
	"fmt"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// Options of a drawing.
type Options struct {
	// Title of the drawing, for example the job's name. "" means "Plan of one job".
	Title string
	// GPUs that a node has, free or not. It is asked for nodes that the topology knows no islands of; with nil, GPUs that
	// other jobs hold on such nodes are not drawn.
	GPUs func(placement.NodeID) int
}

// SVG draws a plan on the topology before the plan is taken. It is a whole SVG file, the same bytes for the same input.
// The plan's costs are shown as they are (Evaluate fills those of a plan made by hand) and need not be good: neither
// capacities nor limits are checked.
func SVG(t *placement.Topology, d *placement.Demand, plan *placement.Plan, o Options) ([]byte, error) {
	if plan == nil {
		return nil, errors.New("draw a plan: there is none; where a job does not fit, there is nothing to draw")
	}
	if len(plan.Cost.Tiers) != len(t.Tiers()) {
		return nil, fmt.Errorf("draw a plan: its cost has %d tiers and the topology %d; set Plan.Cost with Evaluate",
			len(plan.Cost.Tiers), len(t.Tiers()))
	}
	s, err := newScene(t, d, plan, o)
	if err != nil {
		return nil, fmt.Errorf("draw a plan: %w", err)
	}
	return s.paint(), nil
}
