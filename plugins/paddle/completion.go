// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"volcano.sh/volcano/pkg/scheduler/api"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
)

// allocatableWhileCompleting refuses workers of jobs that have begun to complete, in allocate and preempt.
func (p *plugin) allocatableWhileCompleting(_ *api.QueueInfo, task *api.TaskInfo) bool {
	if p.prePredicateWhileCompleting(task) == nil {
		return true
	}
	paddlejob.RefuseCompleting(p.ssn.Jobs[task.Job], task) // again: allocate resets what it found in another HyperNode
	return false
}

// prePredicateWhileCompleting refuses them in every action.
func (p *plugin) prePredicateWhileCompleting(task *api.TaskInfo) error {
	if job, _, ok := p.gang(p.ssn.Jobs[task.Job]); ok && paddlejob.IsCompleting(job, task, p.arguments.taskRoles) {
		return paddlejob.ErrCompleting
	}
	return nil
}
