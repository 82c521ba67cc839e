// SPDX-License-Identifier: Apache-2.0

// Package paddle is a plugin of Volcano's scheduler that places each PaddlePaddle job as one plan; decisions that need no
// session are pure functions here, planning lives in plugins/placement, and controller may not be imported.
//
//   - plugin.go wires everything else into a session, and decides nothing; keeper.go is what outlives a session; lead.go
//     puts the plugin first in line where Volcano asks one plugin only
//   - completion.go: workers of jobs that have begun to complete; the model of a job is package job
//   - course.go, plan.go, cast.go: a job's plan; suit.go, permitted.go, template.go, apart.go, prefer*.go, restart.go: the nodes that suit
//     its pods, and those that they had; room.go: what has no room at all
//   - place.go, heed.go, phase.go, hint.go, score.go: how a plan reaches allocate, and what is done when it fails
//   - binder.go: how many bindings are sent at a time, where the scheduler is ours
//   - limit.go, fence.go, gradient.go: networkTopology and colocation
//   - victims*.go, evict.go, starving.go: preempt and reclaim
//   - why.go, explain.go, verdict*.go, refusal*.go, condition*.go, event*.go, doubts.go: why a job waits, in words for users
//   - arguments.go: what the arguments of package config mean here
package paddle
