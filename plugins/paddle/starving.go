// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/plugins/util"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
)

// starving tells whether a job may preempt and reclaim: ours only as long as a minimum is unmet, and nobody whom the other
// plugins would not let.
func (p *plugin) starving(obj any) bool {
	p.victims.commit()
	var stock bool
	p.asStock(func() { stock = p.ssn.JobStarving(obj) })
	job, gang, ok := p.gang(obj)
	return stock && (!ok || starves(job, gang))
}

// starves tells whether a minimum of a job is unmet, by pods that run, are placed or wait for others to go.
func starves(job *api.JobInfo, g paddlejob.Gang) bool {
	placed := map[string]int32{}
	var total int32
	for status, tasks := range job.TaskStatusIndex {
		if !paddlejob.Occupies(status) && status != api.Pipelined {
			continue
		}
		for _, task := range tasks {
			placed[task.TaskRole]++
			total++
		}
	}
	for _, group := range g {
		if placed[group.Task] < group.Min {
			return true
		}
	}
	return total < job.MinAvailable || !job.CheckSubJobPipelined()
}

// committing decides, before plugins of any tier do, whether what was found for a job is kept: when all of its minimums
// are met and the other plugins agree. Preempt and reclaim end their Statement next: nothing more is evicted in it, and the
// plugin evicts what follows, for the time being.
func (p *plugin) committing(obj any) int {
	p.victims.commit()
	defer clear(p.victims.offered)
	var stock bool
	p.asStock(func() { stock = p.ssn.JobPipelined(obj) })
	job, ok := obj.(*api.JobInfo)
	if !stock || !ok || on(p.line.own.EnabledJobPipelined) && p.jobPipelined(job) == util.Reject {
		return util.Reject
	}
	p.victims.follow()
	return util.Permit
}

func on(enabled *bool) bool { return enabled != nil && *enabled }
