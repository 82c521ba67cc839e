// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"errors"
	"strings"

	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
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
	default:
		if planner, ok := p.planner(job); ok {
			return planner
		}
	}
	return v
}

// planner is the planner's verdict on a gang for which it found no plan, and which ordinary scoring did not place either.
func (p *plugin) planner(job *api.JobInfo) (v verdict, ok bool) {
	found, ok := p.course.plans[scope{job: job}.key()]
	if !ok || !errors.Is(found.err, placement.ErrNoFit) {
		return v, false
	}
	unfit := *found
	unfit.err = errHopeless // the others are not put into words, as they are not refused at once
	return v, errors.As(p.course.why(&unfit), &v) && v.class != classPlanStale
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
	queue := p.ssn.Queues[job.Queue] // there is one: a session leaves jobs out whose queue does not exist
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
		v.class = r.class(classQueueQuota, lacking[0])
		v.text = r.where(lacking[0]) + " has room for " + a.part(lacking[0], r) + " that the job's missing pods ask for"
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
		if p.ranks[id].surplus {
			continue
		}
		request := task.Resreq.Clone()
		if request.Memory == standIn {
			request.Memory = 0
		}
		asked.Add(request)
	}
	return asked
}
