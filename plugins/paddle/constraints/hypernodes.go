// SPDX-License-Identifier: Apache-2.0

package constraints

import (
	"errors"

	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/guard"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/planner"
)

// Gradient is the HyperNodes in which allocate tries a job, in groups: Volcano takes the first group that holds the job. nil is none.
type Gradient = [][]*api.HyperNodeInfo

// HyperNodesForJob returns the HyperNodes below top in which allocate tries a job. For a gang with a hard networkTopology that is
// the smallest one that contains its plan. For jobs that are not gangs it is what the session has without the plugin.
func (c *Constraints) HyperNodesForJob(job *api.JobInfo, top *api.HyperNodeInfo) Gradient {
	stock := func() Gradient { return c.Session.HyperNodeGradientForJobFn(job, top) }
	if _, ok := c.Gangs[job.UID]; !ok {
		return c.withoutPlugin(stock)
	}
	return c.hyperNodes(planner.Scope{Job: job}, top, stock)
}

// HyperNodesForSubJob is HyperNodesForJob for a sub-job of a SubGroupPolicy.
func (c *Constraints) HyperNodesForSubJob(sub *api.SubJobInfo, top *api.HyperNodeInfo) Gradient {
	stock := func() Gradient { return c.Session.HyperNodeGradientForSubJobFn(sub, top) }
	job := c.Session.Jobs[sub.Job]
	if _, ok := c.Gangs[sub.Job]; !ok || job == nil {
		return c.withoutPlugin(stock)
	}
	if !job.ContainsSubJobPolicy() {
		return Gradient{{top}}
	}
	return c.hyperNodes(planner.Scope{Job: job, SubJob: sub.UID}, top, stock)
}

func (c *Constraints) hyperNodes(s planner.Scope, top *api.HyperNodeInfo, stock func() Gradient) Gradient {
	if _, err := c.Planner.Topology(); err != nil {
		return c.withoutPlugin(stock)
	}
	tier, err := c.Planner.HighestTier(s)
	if err != nil {
		c.Rejected(s.Job, nil, err)
		return nil
	}
	if tier == 0 {
		return Gradient{{top}}
	}
	plan := c.Planner.Plan(s)
	switch {
	case plan.Found():
		smallest := top
		if err := c.Planner.Run(guard.Work{Part: metrics.PartPlan, Job: s.Job.UID}, func() error {
			if found := c.Planner.SmallestHyperNode(plan); found != nil {
				smallest = found
			}
			return nil
		}); err != nil {
			return c.withoutPlugin(stock)
		}
		return Gradient{{smallest}}
	case errors.Is(plan.Err, planner.ErrInfeasible), errors.Is(plan.Err, planner.ErrInvalidConstraint):
		c.Rejected(s.Job, plan, plan.Err)
		return nil
	default:
		return c.withoutPlugin(stock)
	}
}

func (c *Constraints) withoutPlugin(stock func() Gradient) (answer Gradient) {
	c.WithoutPlugin(func() { answer = stock() })
	return answer
}
