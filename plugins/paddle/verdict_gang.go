// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"errors"
	"slices"
	"strings"

	"volcano.sh/volcano/pkg/scheduler/api"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// errNotBlocked says that each role of a gang has nodes enough for itself.
var errNotBlocked = errors.New("no role of the gang is refused its nodes")

// whyNotPlaced is why a gang whose pods all exist is not started, where the planner has not said it.
func (p *plugin) whyNotPlaced(job *api.JobInfo, g paddlejob.Gang) verdict {
	v := verdict{reason: report.InsufficientResources, text: notPlaced(job, g)}
	counts := short(job, g, func(t tally) int32 { return t.running + t.room })
	switch reasons := reasonsOf(counts); {
	case paddlejob.Pipelined(job):
		v.reason = report.TerminatingPods
	case len(reasons) == 0:
		return p.whyNotTried(job, g)
	case onlyGates(counts):
		v.reason = report.SchedulingGated
	default:
		if planner, ok := p.planner(job); ok {
			return planner
		}
		if blocked, ok := p.course.explained(job, func() (verdict, error) {
			if r, found := p.course.blocked(job); found && (r.Reason != report.InsufficientResources || len(r.Missing.Resources) > 0) {
				return reported(r), nil
			}
			return verdict{}, errNotBlocked
		}); ok {
			return blocked
		}
	}
	v.data = &report.Report{Missing: &report.Missing{Roles: shortRoles(counts, func(t tally) int32 { return t.running + t.room })}}
	if v.reason == report.SchedulingGated {
		for _, gate := range gatesOf(job) {
			v.data.Suggestions = append(v.data.Suggestions, report.Suggest(report.RemoveSchedulingGate, gate))
		}
	}
	return v
}

// shortRoles are the roles that are short of their minimum.
func shortRoles(counts []tally, have func(tally) int32) (roles []report.Role) {
	for _, t := range counts {
		if missing := t.min - have(t); missing > 0 {
			roles = append(roles, report.Role{Role: t.name, Minimum: int(t.min), Missing: int(missing)})
		}
	}
	return roles
}

// gatesOf are the scheduling gates of a job's pods.
func gatesOf(job *api.JobInfo) (gates []string) {
	for _, task := range job.Tasks {
		for _, gate := range task.Pod.Spec.SchedulingGates {
			gates = append(gates, gate.Name)
		}
	}
	slices.Sort(gates)
	return slices.Compact(gates)
}

// planner is the planner's verdict on a gang for which it found no plan, and which ordinary scoring did not place either.
func (p *plugin) planner(job *api.JobInfo) (v verdict, ok bool) {
	found, ok := p.course.plans[scope{job: job}.key()]
	if !ok || !errors.Is(found.err, placement.ErrNoFit) {
		return v, false
	}
	unfit := *found
	unfit.err = errHopeless // the others are not put into words, as they are not refused at once
	return v, errors.As(p.course.why(&unfit), &v) && v.reason != report.PlanStale
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
func (p *plugin) whyNotTried(job *api.JobInfo, g paddlejob.Gang) verdict {
	if !p.ssn.HyperNodesReadyToSchedule && job.ContainsNetworkTopology() {
		return verdict{reason: report.TopologyNotReady, text: "the scheduler has not read the cluster's HyperNodes yet, and the job has a networkTopology"}
	}
	queue := p.ssn.Queues[job.Queue] // there is one: a session leaves jobs out whose queue does not exist
	a := &applicant{queue: queue, namespace: job.Namespace, asked: p.missing(job), gang: gangWords(job, g)}
	if why := closed(queue); why != "" {
		return verdict{reason: report.QueueClosed, text: strings.Replace(why, "lets no job in", "starts no pods", 1), data: openQueue(queue)}
	}
	if p.reasons.ledger == nil {
		p.reasons.ledger = newLedger(p.ssn)
	}
	r := p.reasons.ledger.ofQueue(queue)
	r.used = p.reasons.ledger.account(queue.UID).allocated.Get // pods that hold something count, jobs that wait do not
	r.promised = nothingPromised
	if lacking := r.lacking(a.asked); len(lacking) > 0 {
		v := verdict{reason: r.reasonOf(report.QueueCapacity, lacking[0])}
		v.text = r.where(lacking[0]) + " has room for " + a.part(lacking[0], r) + " that the job's missing pods ask for"
		if v.data = a.short(r, lacking); v.reason == report.QueueCapacity {
			v.data.Suggestions = append([]report.Suggestion{report.Suggest(report.RaiseQueueCapability, queue.Name)}, v.data.Suggestions...)
		}
		return v
	}
	return verdict{
		reason: report.QueueOverused,
		text:   "queue " + queue.Name + " has used up its share of the cluster: the job's missing pods ask for " + resourceWords(a.asked),
		data:   &report.Report{Suggestions: []report.Suggestion{report.Suggest(report.UseAnotherQueue, queue.Name)}},
	}
}

// openQueue is what helps where a queue is closed.
func openQueue(queue *api.QueueInfo) *report.Report {
	return &report.Report{Suggestions: []report.Suggestion{
		report.Suggest(report.OpenQueue, queue.Name), report.Suggest(report.UseAnotherQueue, queue.Name),
	}}
}

// missing is what the pending pods of a gang ask for, but for those beyond the minimums.
func (p *plugin) missing(job *api.JobInfo) *api.Resource {
	asked := api.EmptyResource()
	for id, task := range job.TaskStatusIndex[api.Pending] {
		if p.ranks[id].Surplus {
			continue
		}
		request := task.Resreq.Clone()
		if request.Memory == paddlejob.PlaceholderMemory {
			request.Memory = 0
		}
		asked.Add(request)
	}
	return asked
}
