// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"errors"
	"fmt"
	"strconv"

	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/diagnose"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/enqueue"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/guard"
	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

var roleNames = map[paddlejob.Role]string{
	paddlejob.Server: "server", paddlejob.Heter: "heter worker", paddlejob.Worker: "worker", paddlejob.Other: "other pod",
}

// diagnosisOf returns a gang for package diagnose.
func diagnosisOf(job *api.JobInfo, g paddlejob.Gang) *diagnose.Gang {
	d := &diagnose.Gang{Job: job}
	for _, group := range g {
		d.Roles = append(d.Roles, diagnose.Role{Task: group.Task, Name: roleNames[group.Role], Minimum: group.Min})
	}
	d.Pipelined = len(job.Tasks) > 0 && paddlejob.Pipelined(job)
	return d
}

// why returns why a gang that is not ready waits.
func (p *plugin) why(job *api.JobInfo, g paddlejob.Gang) report.Report {
	if job.IsPending() {
		return p.whyNotAdmitted(job)
	}
	d := diagnosisOf(job, g)
	if r, missing := d.MissingPods(); missing {
		return r
	}
	if r, ok := p.reporter.reports[job.UID]; ok && !d.Pipelined {
		return r
	}
	return p.whyNotPlaced(job, d)
}

// whyNotAdmitted returns why the queue does not admit a job: the report of the vote that rejected it.
func (p *plugin) whyNotAdmitted(job *api.JobInfo) report.Report {
	if r, ok := p.reporter.reports[job.UID]; ok {
		return r
	}
	return report.Report{
		Reason:  report.WaitingToBeEnqueued,
		Message: "queue " + p.ssn.Queues[job.Queue].Name + " has not admitted the job yet; nothing rejects it",
	}
}

// whyWithoutPods returns why a job without pods waits.
func (p *plugin) whyWithoutPods(job *api.JobInfo, g paddlejob.Gang) report.Report {
	if job.IsPending() {
		return p.whyNotAdmitted(job)
	}
	d := diagnosisOf(job, g)
	return report.Report{
		Reason:  report.WaitingForPods,
		Message: "queue " + p.ssn.Queues[job.Queue].Name + " has admitted the job; its pods are not created yet: " + d.Minimum(),
		Missing: d.NotCreated(),
	}
}

// errNotBlocked is the error of a gang each of whose roles has nodes enough for itself.
var errNotBlocked = errors.New("no role of the gang is refused its nodes")

// whyNotPlaced returns why a gang whose pods all exist is not started, where the planner has not said it.
func (p *plugin) whyNotPlaced(job *api.JobInfo, d *diagnose.Gang) report.Report {
	r := d.NotPlaced()
	switch r.Reason { //nolint:exhaustive // of the others nothing more is known
	case "":
		return p.whyNotTried(job)
	case report.InsufficientResources:
		if found, ok := p.planReport(job); ok {
			return found
		}
		if found, ok := p.course.diagnose(job, func() (report.Report, error) {
			if r, ok := p.course.blocked(job); ok && (r.Reason != report.InsufficientResources || len(r.Missing.Resources) > 0) {
				return r, nil
			}
			return report.Report{}, errNotBlocked
		}); ok {
			return found
		}
	}
	return r
}

// planReport returns the planner's report on a gang for which it found no plan, and which ordinary scoring did not place
// either.
func (p *plugin) planReport(job *api.JobInfo) (report.Report, bool) {
	found, ok := p.course.plans[scope{job: job}.ID()]
	if !ok || !errors.Is(found.err, placement.ErrNoFit) {
		return report.Report{}, false
	}
	unfit := *found
	unfit.err = errInfeasible // others have no report, as they are not refused at once
	var wait *waitError
	if !errors.As(p.course.why(&unfit), &wait) || wait.Reason == report.AssignmentOutdated {
		return report.Report{}, false
	}
	return wait.Report, true
}

// whyNotTried returns why no node was looked for, for pods that a gang lacks: the session does not know the HyperNodes yet,
// or the queue starts no more pods.
func (p *plugin) whyNotTried(job *api.JobInfo) report.Report {
	if !p.ssn.HyperNodesReadyToSchedule && job.ContainsNetworkTopology() {
		return report.Report{
			Reason:  report.TopologyNotReady,
			Message: "the scheduler has not read the cluster's HyperNodes yet, and the job has a networkTopology",
		}
	}
	queue := p.ssn.Queues[job.Queue] // there is one: a session leaves jobs out whose queue does not exist
	if r, closed := enqueue.ClosedQueue(queue); closed {
		return r
	}
	if p.reporter.accounting == nil {
		p.reporter.accounting = enqueue.NewAccounting(p.ssn)
	}
	return p.reporter.accounting.FullQueue(queue, p.missing(job))
}

// missing returns what the pending pods of a gang request, but for those beyond the minimums.
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

// why returns the error for pods of a plan that does not fit: the planner's report, if there is time for one.
func (c *course) why(p *plan) error {
	if !errors.Is(p.err, errInfeasible) {
		return p.err
	}
	if r, ok := c.diagnose(p.job, func() (report.Report, error) { return c.explain(p) }); ok {
		return &waitError{r}
	}
	return p.err
}

// diagnose returns a report of this session, or of an earlier one if this has no time for it.
func (c *course) diagnose(job *api.JobInfo, work func() (report.Report, error)) (report.Report, bool) {
	return c.diagnoses.Get(job.UID, func() (r report.Report, err error) {
		of := guard.Work{Part: metrics.PartExplanation, Job: job.UID}
		if err := c.guard.BackedOff(of); err != nil {
			return r, err
		}
		err = c.guard.Run(of, func() error {
			r, err = work()
			return err
		})
		if errors.Is(err, guard.ErrPanicked) {
			c.lost()
		}
		return r, err
	})
}

// explain asks the planner why the pods of a plan do not fit.
func (c *course) explain(p *plan) (report.Report, error) {
	blocked, found := c.blocked(p.job)
	if found && blocked.Reason != report.InsufficientResources {
		return blocked, nil
	}
	t := c.network.Topology()
	mark := t.Begin()
	defer c.rollback(t, mark)
	if err := c.prepare(p, t, p.future); err != nil {
		return report.Report{}, err
	}
	e, err := guard.Search(c.guard, guard.Work{Part: metrics.PartExplanation, Job: p.job.UID}, c.lost, func(stop func() bool) (*placement.Diagnosis, error) {
		return placement.Diagnose(t, &p.cast.demand, placement.Options{Objective: c.arguments.Objective, Stop: stop})
	})
	if err != nil {
		return report.Report{}, fmt.Errorf("explain why job %s does not fit: %w", p.job.UID, err)
	}
	r := diagnose.FromExplanation(e, c.tierLabel)
	if found && r.Reason == report.InsufficientResources {
		if r.Nodes = blocked.Nodes; e.BlockerKind() == placement.NotEligible { // the nodes that the pods may use are full
			blocked.Suggestions, blocked.Capacity = r.Suggestions, r.Capacity
			return blocked, nil
		}
	}
	return r, nil
}

// blocked returns what refuses nodes to a role of a gang, false if each role has nodes enough for itself. It asks about every
// node, and is called only where a gang is diagnosed.
func (c *course) blocked(job *api.JobInfo) (report.Report, bool) {
	if len(c.ssn.Nodes) == 0 {
		return report.Report{Reason: report.NoReadyNodes}, true
	}
	c.asking = true
	defer func() { c.asking = false }()
	checker := diagnose.Checker{
		Nodes: c.ssn.NodeList, PrePredicate: c.PrePredicateFn, Predicate: c.PredicateForAllocateAction, Objects: diagnose.ObjectsOf(c.ssn),
		Filters: c.filters,
	}
	return checker.Check(c.waiting(job))
}

// waiting returns the roles of a gang that are short of their minimum.
func (c *course) waiting(job *api.JobInfo) (roles []diagnose.WaitingRole) {
	tasks := paddlejob.InOrder(job)
	for _, group := range c.gangs[job.UID] {
		role := diagnose.WaitingRole{Name: roleNames[group.Role], Minimum: int(group.Min), Needed: int(group.Min)}
		for _, task := range tasks {
			switch {
			case task.TaskRole != group.Task:
			case paddlejob.Occupies(task.Status):
				role.Needed--
			case task.Status == api.Pending && !task.SchGated && role.Task == nil:
				role.Task = task
			}
		}
		if role.Task != nil && role.Needed > 0 {
			roles = append(roles, role)
		}
	}
	return roles
}

// tierLabel returns what users write for a placement tier in networkTopology: its number, or its name where it has none.
func (c *course) tierLabel(tier int) string {
	for number := 1; number <= maxTierNumber; number++ {
		if is, err := c.network.Tier(number); err == nil && is == tier {
			return strconv.Itoa(number)
		}
	}
	return c.network.TierNames()[tier]
}

// maxTierNumber is the highest number by which tiers are looked for; HyperNodes may be numbered with gaps.
const maxTierNumber = 32
