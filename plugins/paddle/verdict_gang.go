// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"strings"

	"volcano.sh/volcano/pkg/scheduler/api"
)

// whyNotPlaced is why a gang whose pods all exist is not started, where the planner has not said it.
func (p *plugin) whyNotPlaced(job *api.JobInfo, g gang) verdict {
	v := verdict{class: classNoRoom, text: notPlaced(job, g)}
	counts := short(job, g, func(t tally) int32 { return t.running + t.room })
	switch reasons := reasonsOf(counts); {
	case pipelined(job):
		v.class = classEndingPods
	case len(reasons) == 0:
		return p.whyNotTried(job, g)
	case onlyGates(counts):
		v.class = classSchedulingGates
	}
	return v
}

// onlyGates tells whether all roles that are short of their minimum would not be, but for scheduling gates.
func onlyGates(counts []tally) bool {
	for _, t := range counts {
		if have := t.running + t.room; have < t.min && (t.reason != "" || have+t.gated < t.min) {
			return false
		}
	}
	return true
}

// whyNotTried is why no node was looked for, for pods that a gang lacks: the session does not know the HyperNodes yet, or
// the queue lets no more pods start.
func (p *plugin) whyNotTried(job *api.JobInfo, g gang) verdict {
	if !p.ssn.HyperNodesReadyToSchedule && job.ContainsNetworkTopology() {
		return verdict{class: classTopologyNotReady, text: "the scheduler has not read the cluster's HyperNodes yet, and the job has a networkTopology"}
	}
	queue, ok := p.ssn.Queues[job.Queue]
	if !ok {
		return verdict{class: classQueueClosed, text: "queue " + string(job.Queue) + " does not exist"}
	}
	a := &applicant{queue: queue, namespace: job.Namespace, asked: p.missing(job), gang: gangWords(job, g)}
	if why := closed(queue); why != "" {
		return verdict{class: classQueueClosed, text: strings.Replace(why, "lets no job in", "starts no pods", 1)}
	}
	if p.reasons.ledger == nil {
		p.reasons.ledger = newLedger(p.ssn)
	}
	r := p.reasons.ledger.ofQueue(queue)
	r.used = p.reasons.ledger.account(queue.UID).allocated.Get // pods that hold something count, jobs that wait do not
	r.promised = nothingPromised
	v := verdict{class: classQueueQuota, details: a.roomWords("queue "+queue.Name, r)}
	if lacking := r.lacking(a.asked); len(lacking) > 0 {
		v.text = "queue " + queue.Name + " has room for " + a.part(lacking[0], r) + " that the job's missing pods ask for"
		return v
	}
	v.class = classQueueShare
	v.text = "queue " + queue.Name + " has used up its share of the cluster: the job's missing pods ask for " + resourceWords(a.asked)
	return v
}

// missing is what the pending pods of a gang ask for, but for those beyond the minimums.
func (p *plugin) missing(job *api.JobInfo) *api.Resource {
	asked := api.EmptyResource()
	for id, task := range job.TaskStatusIndex[api.Pending] {
		if !p.ranks[id].surplus {
			asked.Add(task.Resreq)
		}
	}
	return asked
}
