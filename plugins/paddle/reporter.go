// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"cmp"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"volcano.sh/apis/pkg/apis/scheduling"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/enqueue"
	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/status"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// reporter collects why the Paddle jobs of a session wait, and where those run that no longer do.
type reporter struct {
	reports     map[api.JobID]report.Report
	probe       *enqueue.Probe
	withoutPods map[api.JobID]paddlejob.Gang // jobs that wait for admission, or for their pods
	pending     map[api.JobID]int            // pods of each gang that were pending when the session opened
	accounting  *enqueue.Accounting          // as the session closes; nil until it is needed
}

func newReporter() reporter {
	return reporter{reports: map[api.JobID]report.Report{}, withoutPods: map[api.JobID]paddlejob.Gang{}, pending: map[api.JobID]int{}}
}

// waitError is the report of a gang whose pods get no node, as an error.
type waitError struct{ report.Report }

func (e *waitError) Error() string { return e.Text() }

// record notes why a job waits. The last report of a session counts. Of a job that is placed after all, none counts but for
// the pods beyond its minimums.
func (p *plugin) record(job api.JobID, r report.Report) { p.reporter.reports[job] = r }

// recordError notes the error for which the pods of a job get no node.
func (p *plugin) recordError(job *api.JobInfo, err error) {
	r := reportOf(err)
	p.record(job.UID, r)
	job.JobFitErrors = diagnosisOf(job, p.gangs[job.UID]).FitError(r.Reason)
}

// reportOf returns the report that an error holds, or one with the error's text.
func reportOf(err error) report.Report {
	var wait *waitError
	switch {
	case errors.As(err, &wait):
		return wait.Report
	case errors.Is(err, errLimit):
		return report.Report{Reason: report.UnknownTier, Message: err.Error()}
	case errors.Is(err, errNoNodes):
		return report.Report{Reason: report.NoReadyNodes}
	case errors.Is(err, placement.ErrNoFit), errors.Is(err, errInfeasible):
		return report.Report{Reason: report.InsufficientResources, Message: err.Error()}
	}
	return report.Report{Reason: report.AssignmentNotFound, Message: err.Error()}
}

// parseSpec parses what a job says about its placement, and sends an event about annotations that cannot be parsed.
func (p *plugin) parseSpec(job *api.JobInfo) {
	spec, err := paddlejob.ParseSpec(job.PodGroup.Annotations, p.arguments.spec())
	p.course.specs[job.UID] = spec
	p.state.status.InvalidAnnotations(p.ssn, job, err)
}

// openReporter prepares to report why jobs wait. It is called when all gangs are open.
func (p *plugin) openReporter() {
	p.reporter = newReporter()
	r := &p.reporter
	var candidates []enqueue.Job
	raises := ptr.Deref(p.tiers.configured.EnabledJobEnqueued, false)
	add := func(job *api.JobInfo, g paddlejob.Gang) {
		if !job.IsPending() || job.PodGroup.Spec.MinResources == nil { // Volcano admits it without a vote
			return
		}
		candidate := enqueue.Job{Info: job, Minimum: diagnosisOf(job, g).Minimum()}
		if raises {
			candidate.MinResources = p.course.spec(job).MinResources
		}
		candidates = append(candidates, candidate)
	}
	for id, g := range p.gangs {
		r.pending[id] = len(p.ssn.Jobs[id].TaskStatusIndex[api.Pending])
		add(p.ssn.Jobs[id], g)
	}
	for id, job := range p.ssn.Jobs {
		if len(job.Tasks) > 0 || !job.IsPending() && job.PodGroup.Status.Phase != scheduling.PodGroupInqueue || !paddlejob.IsPaddle(job) {
			continue
		}
		p.parseSpec(job)
		r.withoutPods[id] = paddlejob.NewGang(job, p.arguments.taskRoles)
		add(job, r.withoutPods[id])
	}
	r.probe = enqueue.Watch(p.ssn, PluginName, candidates, enqueue.Callbacks{Rejected: func(job *api.JobInfo, rejection report.Report) {
		p.record(job.UID, rejection)
		g, isGang := p.gangs[job.UID]
		if !isGang {
			g = r.withoutPods[job.UID]
		}
		job.JobFitErrors = diagnosisOf(job, g).FitError(rejection.Reason)
	}, Admitted: func(job *api.JobInfo) {
		delete(r.reports, job.UID)
		if job.JobFitErrors = ""; len(job.Tasks) > 0 {
			p.guarded(job, func() { job.JobFitErrors = p.jobFitError(job, p.gangs[job.UID]) })
		}
	}, Guard: p.guarded})
}

// jobFitError returns JobInfo.JobFitErrors of a gang that is not started, after an action looked for nodes.
func (p *plugin) jobFitError(job *api.JobInfo, g paddlejob.Gang) string {
	d := diagnosisOf(job, g)
	if _, missing := d.MissingPods(); missing {
		return d.FitError(report.WaitingForPods)
	}
	r := d.NotPlaced()
	recorded, ok := p.reporter.reports[job.UID]
	switch {
	case r.Reason == report.TerminatingPods:
	case ok:
		r = recorded
	case r.Reason == "":
		r.Reason = p.lastReason(job, g)
	}
	return d.FitError(r.Reason)
}

// lastReason returns the reason for which a gang waits before a session has looked for nodes: the one that the last session
// wrote, empty if there is none.
func (p *plugin) lastReason(job *api.JobInfo, g paddlejob.Gang) report.Reason {
	if _, missing := diagnosisOf(job, g).MissingPods(); missing {
		return report.WaitingForPods
	}
	if had, _ := status.Condition(job.PodGroup); had.Status == corev1.ConditionFalse && report.Reason(had.Reason) != report.WaitingForPods {
		return report.Reason(had.Reason)
	}
	return ""
}

// closeReporter writes the condition of each Paddle job that waits or was placed, sends events and counts the jobs that wait.
// What gang and Volcano write was set before: plugins close in any order.
func (p *plugin) closeReporter() {
	p.reporter.probe.Close()
	counts := map[string]int{}
	wait := func(job *api.JobInfo, r report.Report) {
		counts[string(r.Reason)]++
		p.state.status.Waiting(p.ssn, job, r)
	}
	for _, job := range p.reported() {
		g, isGang := p.gangs[job.UID]
		members, hasNoPods := p.reporter.withoutPods[job.UID]
		p.guarded(job, func() {
			switch {
			case hasNoPods:
				r := p.whyWithoutPods(job, members)
				job.JobFitErrors = diagnosisOf(job, members).FitError(r.Reason) // into Volcano's own event
				wait(job, r)
			case isGang && !paddlejob.Ready(job):
				wait(job, p.why(job, g))
			default:
				p.reportPlaced(job, g)
			}
		})
	}
	metrics.SetPending(counts)
}

// reported returns the jobs to write about: gangs, jobs without pods, and jobs that run but whose condition says that they
// wait, because a scheduler ended between placing them and writing that.
func (p *plugin) reported() []*api.JobInfo {
	var jobs []*api.JobInfo
	for id, job := range p.ssn.Jobs {
		_, isGang := p.gangs[id]
		_, hasNoPods := p.reporter.withoutPods[id]
		had, _ := status.Condition(job.PodGroup)
		if isGang || hasNoPods || had.Status == corev1.ConditionFalse && len(job.Tasks) > 0 && job.IsReady() {
			jobs = append(jobs, job)
		}
	}
	slices.SortFunc(jobs, func(a, b *api.JobInfo) int { return cmp.Compare(a.UID, b.UID) })
	return jobs
}
