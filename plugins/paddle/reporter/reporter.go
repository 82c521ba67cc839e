// SPDX-License-Identifier: Apache-2.0

// Package reporter reports in one session why Paddle jobs wait and where those run that were placed. It collects what the
// planner, the queues and the actions find out, and writes conditions, reports and events through package status.
package reporter

import (
	"cmp"
	"errors"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"volcano.sh/apis/pkg/apis/scheduling"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/config"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/diagnose"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/enqueue"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/guard"
	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/planner"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/status"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// Config is the input of a Reporter.
type Config struct {
	Session   *framework.Session
	Arguments *config.Arguments
	Planner   *planner.Planner
	Guard     *guard.Guard
	// Gangs are the jobs with pending pods, and Ranks the ranks of these pods.
	Gangs map[api.JobID]paddlejob.Gang
	Ranks map[api.TaskID]paddlejob.Rank
	Roles paddlejob.RoleMap
	// RaisesMinResources reports that the annotation min-resources counts when a queue admits a job.
	RaisesMinResources bool
	// Diagnoses and Status outlive the session.
	Diagnoses *diagnose.Cache
	Status    *status.Writer
	// Observe is called for each gang that is placed; nil for none.
	Observe Observer
}

// Reporter reports on the Paddle jobs of one session.
type Reporter struct {
	Config
	reports     map[api.JobID]report.Report
	raised      enqueue.Raised
	withoutPods map[api.JobID]paddlejob.Gang // jobs that wait for admission, or for their pods
	pending     map[api.JobID]int            // pods of each gang that were pending when the session opened
	accounting  func() *enqueue.Accounting   // as the session closes
	tried       api.JobID                    // the gang for which an action last looked for nodes, "" once its error is set
}

// New returns a Reporter without reports.
func New(c Config) *Reporter {
	return &Reporter{
		Config: c, reports: map[api.JobID]report.Report{}, withoutPods: map[api.JobID]paddlejob.Gang{}, pending: map[api.JobID]int{},
		accounting: sync.OnceValue(func() *enqueue.Accounting { return enqueue.NewAccounting(c.Session) }),
	}
}

// Open sets the fit errors of gangs that no action may try, and raises the minResources of jobs that the queues have not
// admitted. It is called when all gangs are known.
func (r *Reporter) Open() {
	raise := func(job *api.JobInfo, spec paddlejob.Spec) {
		if r.RaisesMinResources && spec.MinResources != nil && job.IsPending() && job.PodGroup.Spec.MinResources != nil {
			r.raised.Add(job, spec.MinResources)
		}
	}
	for id := range r.Gangs {
		job := r.Session.Jobs[id]
		if !paddlejob.Ready(job) {
			r.guarded(job, func() { job.JobFitErrors = report.FitError(lastReason(job)) })
		}
		r.pending[id] = len(job.TaskStatusIndex[api.Pending])
		raise(job, r.Planner.Spec(job))
	}
	for id, job := range r.Session.Jobs {
		if len(job.Tasks) > 0 || !job.IsPending() && job.PodGroup.Status.Phase != scheduling.PodGroupInqueue || !paddlejob.IsPaddle(job) {
			continue
		}
		r.withoutPods[id] = paddlejob.NewGang(job, r.Roles)
		raise(job, r.ParseSpec(job))
	}
}

// ParseSpec returns what a job says about its placement. Annotations that cannot be parsed are reported with an event.
func (r *Reporter) ParseSpec(job *api.JobInfo) paddlejob.Spec {
	spec, err := paddlejob.ParseSpec(job.PodGroup.Annotations, paddlejob.DefaultSpec(r.Arguments))
	r.Status.InvalidAnnotations(r.Session, job, err)
	return spec
}

// AdmissionEnds is called when an action places pods.
func (r *Reporter) AdmissionEnds() { r.raised.Set(false) }

// Tried records that an action looks for nodes for a job.
func (r *Reporter) Tried(job api.JobID) {
	if _, ok := r.Gangs[job]; ok {
		r.tried = job
	}
}

// SetFitError sets JobInfo.JobFitErrors of the gang that was tried last. Volcano writes it to the conditions of the PodGroup and of
// the pods, and to events.
func (r *Reporter) SetFitError() {
	job, g := r.Session.Jobs[r.tried], r.Gangs[r.tried]
	r.tried = ""
	switch {
	case job == nil:
	case paddlejob.Ready(job):
		job.JobFitErrors = ""
	default:
		r.guarded(job, func() { job.JobFitErrors = r.fitError(job, g) })
	}
}

// Rejected records why the pods of a gang get no node. plan is a plan that does not fit, or nil. The last report of a session
// counts. Of a gang that is placed after all, it counts only for the pods beyond the minimums.
func (r *Reporter) Rejected(job *api.JobInfo, plan *planner.Plan, err error) {
	found := reportOf(err)
	if plan != nil && errors.Is(err, planner.ErrInfeasible) {
		if diagnosed, ok := r.diagnosePlan(plan); ok {
			found = diagnosed
		}
	}
	r.reports[job.UID] = found
	job.JobFitErrors = report.FitError(found.Reason)
}

func reportOf(err error) report.Report {
	switch {
	case errors.Is(err, planner.ErrInvalidConstraint):
		return report.Report{Reason: report.UnknownTier, Message: err.Error()}
	case errors.Is(err, planner.ErrNoNodes):
		return report.Report{Reason: report.NoReadyNodes}
	case errors.Is(err, placement.ErrNoFit), errors.Is(err, planner.ErrInfeasible):
		return report.Report{Reason: report.InsufficientResources, Message: err.Error()}
	}
	return report.Report{Reason: report.AssignmentNotFound, Message: err.Error()}
}

// guarded runs what writes about a job. A panic ends it and nothing else.
func (r *Reporter) guarded(job *api.JobInfo, work func()) {
	of := guard.Work{Part: metrics.PartText, Job: job.UID}
	if r.Guard.BackedOff(of) != nil {
		return
	}
	_ = r.Guard.Run(of, func() error { // it is logged and counted
		work()
		return nil
	})
}

// fitError returns JobInfo.JobFitErrors of a gang that is not started, after an action looked for nodes.
func (r *Reporter) fitError(job *api.JobInfo, g paddlejob.Gang) string {
	if !diagnose.PodsExist(job) {
		return report.FitError(report.WaitingForPods)
	}
	found := diagnose.NotPlaced(job, g).Reason
	recorded, ok := r.reports[job.UID]
	switch {
	case found == report.TerminatingPods:
	case ok:
		found = recorded.Reason
	case found == "":
		found = lastReason(job)
	}
	return report.FitError(found)
}

// lastReason returns the reason for which a gang waits before a session has looked for nodes: the one that the last session
// wrote, empty if there is none.
func lastReason(job *api.JobInfo) report.Reason {
	if !diagnose.PodsExist(job) {
		return report.WaitingForPods
	}
	if had, _ := status.Condition(job.PodGroup); had.Status == corev1.ConditionFalse && report.Reason(had.Reason) != report.WaitingForPods {
		return report.Reason(had.Reason)
	}
	return ""
}

// Close writes the condition of each Paddle job that waits or was placed, sends events and counts the jobs that wait. What
// Volcano and its plugin gang write was set before, because plugins close in any order.
func (r *Reporter) Close() {
	r.raised.Set(true) // the queues decided about them
	defer r.raised.Set(false)
	counts := map[string]int{}
	wait := func(job *api.JobInfo, why report.Report) {
		counts[string(why.Reason)]++
		r.Status.Write(r.Session, job, why, false)
	}
	for _, job := range r.jobs() {
		g, isGang := r.Gangs[job.UID]
		members, hasNoPods := r.withoutPods[job.UID]
		r.guarded(job, func() {
			switch {
			case hasNoPods:
				why := r.why(job, members)
				job.JobFitErrors = report.FitError(why.Reason) // into Volcano's own event
				wait(job, why)
			case isGang && !paddlejob.Ready(job):
				why := r.why(job, g)
				if job.IsPending() { // no action has tried it
					job.JobFitErrors = report.FitError(why.Reason)
				}
				wait(job, why)
			default:
				r.reportPlaced(job, g)
			}
		})
	}
	metrics.SetPending(counts)
}

// jobs returns the jobs to report on: gangs, jobs without pods, and jobs that run but whose condition says that they wait,
// because a scheduler ended between placing them and writing that.
func (r *Reporter) jobs() []*api.JobInfo {
	var jobs []*api.JobInfo
	for id, job := range r.Session.Jobs {
		_, isGang := r.Gangs[id]
		_, hasNoPods := r.withoutPods[id]
		had, _ := status.Condition(job.PodGroup)
		if isGang || hasNoPods || had.Status == corev1.ConditionFalse && len(job.Tasks) > 0 && job.IsReady() {
			jobs = append(jobs, job)
		}
	}
	slices.SortFunc(jobs, func(a, b *api.JobInfo) int { return cmp.Compare(a.UID, b.UID) })
	return jobs
}
