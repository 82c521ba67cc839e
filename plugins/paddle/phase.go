// SPDX-License-Identifier: Apache-2.0

package paddle

import "volcano.sh/volcano/pkg/scheduler/api"

// phase tells when allocate runs: a plugin is told of tasks by all actions alike, and may name a node in allocate only.
//
// allocate asks Allocatable for a task and then, next, PrePredicate for the same one; backfill, preempt and reclaim begin
// with PrePredicate. Each action but shuffle, which asks neither, begins with JobValid (pkg/scheduler/actions).
type phase struct {
	asked api.TaskID // what Allocatable was last asked for
	other bool       // an action other than allocate runs
}

// begin is called when an action may begin.
func (p *phase) begin() { *p = phase{} }

// allocatable is called when Allocatable is asked for a task.
func (p *phase) allocatable(task api.TaskID) { p.asked = task }

// allocates tells, when PrePredicate is asked for a task, whether allocate asks.
func (p *phase) allocates(task api.TaskID) bool {
	// Once an action has shown itself to be another one it stays that: preempt asks Allocatable after PrePredicate.
	p.other = p.other || p.asked != task
	p.asked = ""
	return !p.other
}
