// SPDX-License-Identifier: Apache-2.0

// Package paddle is a plugin of Volcano's scheduler that places each PaddlePaddle job as one plan; decisions that need no
// session are pure functions here, planning lives in plugins/placement, and controller may not be imported.
//
//   - plugin.go wires everything else into a session, and decides nothing; keeper.go is what outlives a session; lead.go
//     puts the plugin first in line where Volcano asks one plugin only
//   - keys.go, roles.go, wishes.go: which jobs are Paddle's, what each pod does in them, what they say themselves
//   - gang.go, standin.go, order.go, end.go: the minimum of each role, pods without requests, who is placed first, and
//     who no more
//   - course.go, plan.go, cast.go: a job's plan; planner/feasibility, planner/preferences, soft_constraints.go, memory*.go: the nodes
//     that are feasible for its pods, those that they prefer, and those that they had; infeasible.go: what provably does not fit
//   - guard, recovery.go: what goes wrong in planning stays with the job that is planned
//   - place.go, followup.go, nominate, score.go: how a plan reaches allocate, and what is done when it fails
//   - binder.go: how many bindings are sent at a time, where the scheduler is ours
//   - limit.go, constraint.go, gradient.go: networkTopology and colocation
//   - preempt_*.go: preempt and reclaim
//   - reporter.go, waiting.go, placed.go: the calls into diagnose, enqueue and status, which find out why a job waits and where
//     it runs, and write it
//   - arguments*.go, check*.go, metrics.go: what volcano-scheduler.conf may say, and what is counted
package paddle
