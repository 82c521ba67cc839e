// SPDX-License-Identifier: Apache-2.0

// Package paddle is a plugin of Volcano's scheduler that places each PaddlePaddle job as one plan; decisions that need no
// session are pure functions here, planning lives in plugins/placement, and controller may not be imported.
//
//   - plugin.go wires everything else into a session, and decides nothing; keeper.go is what outlives a session; tiers.go
//     adds the plugin to the session's tiers where Volcano calls one plugin or one tier only
//   - completion.go: workers of jobs that have begun to complete
//   - course.go, plan.go, cast.go: a job's plan; soft_constraints.go, restart.go: the nodes that its pods prefer, and those that they
//     had; infeasible.go: what provably does not fit
//   - recovery.go: what goes wrong in planning stays with the job that is planned
//   - place.go, followup.go, score.go: how a plan reaches allocate, and what is done when it fails
//   - binder.go: how many bindings are sent at a time, where the scheduler is ours
//   - limit.go, constraint.go, gradient.go: networkTopology and colocation
//   - package preempt: victims of preempt and reclaim
//   - reporter.go, waiting.go, placed.go: the calls into diagnose, enqueue and status, which find out why a job waits and where
//     it runs, and write it
//   - arguments.go: what the arguments of package config mean here
package paddle
