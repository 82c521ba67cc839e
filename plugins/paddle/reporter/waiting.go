// SPDX-License-Identifier: Apache-2.0

package reporter

import (
	"errors"

	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/diagnose"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/enqueue"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/guard"
	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/planner"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// why returns why a gang that is not ready waits.
func (r *Reporter) why(job *api.JobInfo, g paddlejob.Gang) report.Report {
	if job.IsPending() {
		return r.accounting().WhyRejected(job)
	}
	if !diagnose.PodsExist(job) {
		return diagnose.NotCreated(job, g)
	}
	if recorded, ok := r.reports[job.UID]; ok && !diagnose.Pipelined(job) {
		return recorded
	}
	return r.whyNotPlaced(job, g)
}

// errNotBlocked is the error of a gang of which no role is refused its nodes.
var errNotBlocked = errors.New("no role of the gang is refused its nodes")

// whyNotPlaced returns why a gang whose pods all exist is not started, if no plan was rejected.
func (r *Reporter) whyNotPlaced(job *api.JobInfo, g paddlejob.Gang) report.Report {
	why := diagnose.NotPlaced(job, g)
	switch why.Reason { //nolint:exhaustive // of the others nothing more is known
	case "":
		return r.whyNotTried(job)
	case report.InsufficientResources:
		if plan, ok := r.Planner.Planned(planner.Scope{Job: job}); ok {
			if found, ok := r.planReport(plan); ok {
				return found
			}
		}
		if found, ok := r.diagnose(job, func() (report.Report, error) {
			if found, ok := r.blocked(job); ok && (found.Reason != report.InsufficientResources || len(found.Missing.Resources) > 0) {
				return found, nil
			}
			return report.Report{}, errNotBlocked
		}); ok {
			return found
		}
	}
	return why
}

// planReport returns the planner's report on a gang for which it found no plan, and which normal scoring did not place either.
func (r *Reporter) planReport(plan *planner.Plan) (report.Report, bool) {
	if !errors.Is(plan.Err, placement.ErrNoFit) {
		return report.Report{}, false
	}
	found, ok := r.diagnosePlan(plan)
	return found, ok && found.Reason != report.AssignmentOutdated
}

// whyNotTried returns why no action looked for nodes for the missing pods of a gang: the session does not know the HyperNodes
// yet, or the queue starts no more pods.
func (r *Reporter) whyNotTried(job *api.JobInfo) report.Report {
	if !r.Session.HyperNodesReadyToSchedule && job.ContainsNetworkTopology() {
		return report.Report{Reason: report.TopologyNotReady}
	}
	queue := r.Session.Queues[job.Queue] // it exists: a session has no jobs of other queues
	if closed, ok := enqueue.ClosedQueue(queue); ok {
		return closed
	}
	return r.accounting().FullQueue(queue, r.missing(job))
}

// missing returns what the pending pods of a gang request, but for those beyond the minimums.
func (r *Reporter) missing(job *api.JobInfo) *api.Resource {
	total := api.EmptyResource()
	for id, task := range job.TaskStatusIndex[api.Pending] {
		if r.Ranks[id].Surplus {
			continue
		}
		request := task.Resreq.Clone()
		if request.Memory == paddlejob.PlaceholderMemory {
			request.Memory = 0
		}
		total.Add(request)
	}
	return total
}

// diagnosePlan returns why the pods of a plan do not fit, false if the session has no time to find out.
func (r *Reporter) diagnosePlan(plan *planner.Plan) (report.Report, bool) {
	return r.diagnose(plan.Job, func() (report.Report, error) {
		blocked, found := r.blocked(plan.Job)
		if found && blocked.Reason != report.InsufficientResources {
			return blocked, nil
		}
		diagnosis, err := r.Planner.Diagnose(plan)
		if err != nil {
			return report.Report{}, err
		}
		why := diagnose.FromPlanner(diagnosis, r.Planner.TierLabel)
		if found && why.Reason == report.InsufficientResources {
			if why.Nodes = blocked.Nodes; diagnosis.Blocker.Kind == placement.NotEligible { // the nodes that the pods may use are full
				blocked.Suggestions = why.Suggestions
				return blocked, nil
			}
		}
		return why, nil
	})
}

// diagnose returns a report of this session, or of an earlier one if this has no time for it.
func (r *Reporter) diagnose(job *api.JobInfo, work func() (report.Report, error)) (report.Report, bool) {
	return r.Diagnoses.Get(job.UID, func() (found report.Report, err error) {
		of := guard.Work{Part: metrics.PartExplanation, Job: job.UID}
		if err := r.Guard.BackedOff(of); err != nil {
			return found, err
		}
		err = r.Planner.Run(of, func() error {
			found, err = work()
			return err
		})
		return found, err
	})
}

// blocked returns what refuses nodes to a role of a gang, false if each role has nodes enough for itself. It checks every node,
// and is called only where a gang is diagnosed.
func (r *Reporter) blocked(job *api.JobInfo) (found report.Report, ok bool) {
	if len(r.Session.Nodes) == 0 {
		return report.Report{Reason: report.NoReadyNodes}, true
	}
	checker := diagnose.Checker{
		Nodes: r.Session.NodeList, PrePredicate: r.Planner.PrePredicateFn, Predicate: r.Planner.PredicateForAllocateAction,
		Objects: diagnose.ObjectsOf(r.Session),
		Filters: r.Planner.Filters,
	}
	r.Planner.CallPredicates(func() { found, ok = checker.Check(r.waitingRoles(job)) })
	return found, ok
}

// waitingRoles returns the roles of a gang that are below their minimum.
func (r *Reporter) waitingRoles(job *api.JobInfo) (roles []diagnose.WaitingRole) {
	tasks := paddlejob.InOrder(job)
	for _, group := range r.Gangs[job.UID] {
		role := diagnose.WaitingRole{Name: group.Role.Noun(), Minimum: int(group.Min), Needed: int(group.Min)}
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
