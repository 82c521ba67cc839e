// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"volcano.sh/apis/pkg/apis/scheduling"
	"volcano.sh/volcano/pkg/scheduler/api"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// reasons are why the Paddle jobs of a session wait, and where those run that do so no longer.
type reasons struct {
	verdicts verdicts
	refusals refusals
	podless  map[api.JobID]paddlejob.Gang // jobs that wait to be let in, or for their pods
	pending  map[api.JobID]int            // pods of each gang that were pending when the session opened
	ledger   *ledger                      // as the session closes; nil until it is needed
}

func newReasons() reasons {
	return reasons{verdicts: verdicts{}, podless: map[api.JobID]paddlejob.Gang{}, pending: map[api.JobID]int{}}
}

// openReasons prepares to say why jobs wait. It is called when all gangs are open.
func (p *plugin) openReasons() {
	p.reasons = newReasons()
	r := &p.reasons
	applicants := map[api.JobID]*applicant{}
	apply := func(job *api.JobInfo, g paddlejob.Gang) {
		if job.IsPending() && job.PodGroup.Spec.MinResources != nil { // others are let in unasked
			applicants[job.UID] = newApplicant(job, p.ssn.Queues[job.Queue], g)
		}
	}
	for id, g := range p.gangs {
		r.pending[id] = len(p.ssn.Jobs[id].TaskStatusIndex[api.Pending])
		apply(p.ssn.Jobs[id], g)
	}
	for id, job := range p.ssn.Jobs {
		if len(job.Tasks) > 0 || !job.IsPending() && job.PodGroup.Status.Phase != scheduling.PodGroupInqueue || !paddlejob.IsPaddle(job) {
			continue
		}
		_, err := paddlejob.ParseSpec(job.PodGroup.Annotations, p.arguments.spec())
		p.tellWishes(job, err)
		r.podless[id] = paddlejob.NewGang(job, p.arguments.taskRoles)
		apply(job, r.podless[id])
	}
	r.refusals = refusals{applicants: applicants, refused: func(job *api.JobInfo, v verdict) {
		p.judge(job.UID, v)
		g, isGang := p.gangs[job.UID]
		if !isGang {
			g = r.podless[job.UID]
		}
		job.JobFitErrors = waitsFor(job, g, v.reason)
	}, accepted: func(job *api.JobInfo) {
		delete(r.verdicts, job.UID)
		if job.JobFitErrors = ""; len(job.Tasks) > 0 {
			p.guarded(job, func() { job.JobFitErrors = p.fitErrors(job, p.gangs[job.UID]) })
		}
	}, guarded: p.guarded}
	r.refusals.watch(p.ssn)
}

// fitErrors is JobFitErrors of a gang that is not started, after an action looked for nodes.
func (p *plugin) fitErrors(job *api.JobInfo, g paddlejob.Gang) string {
	counts := short(job, g, func(t tally) int32 { return t.running + t.room })
	v, judged := p.reasons.verdicts[job.UID]
	switch {
	case missingPods(job, g) != "":
		return waitsFor(job, g, report.WaitingForPods)
	case paddlejob.Pipelined(job):
		return waitsFor(job, g, report.TerminatingPods)
	case judged:
		return waitsFor(job, g, v.reason)
	case len(reasonsOf(counts)) == 0:
		return waitsFor(job, g, knownReason(job, g))
	case onlyGates(counts):
		return waitsFor(job, g, report.SchedulingGated)
	}
	return waitsFor(job, g, report.InsufficientResources)
}

// knownReason is the reason of reason for which a gang waits before a session has looked for nodes: the one that the last
// session wrote, "" if there is none.
func knownReason(job *api.JobInfo, g paddlejob.Gang) report.Reason {
	if missingPods(job, g) != "" {
		return report.WaitingForPods
	}
	if had, _ := conditionOf(job.PodGroup.Status.Conditions); had.Status == corev1.ConditionFalse && report.Reason(had.Reason) != report.WaitingForPods {
		return report.Reason(had.Reason)
	}
	return ""
}

// why is why a gang that is not ready waits.
func (p *plugin) why(job *api.JobInfo, g paddlejob.Gang) verdict {
	judged, ok := p.reasons.verdicts[job.UID]
	if job.IsPending() {
		return p.whyNotLetIn(job)
	}
	if missing := missingPods(job, g); missing != "" {
		return verdict{reason: report.WaitingForPods, text: missing, data: withoutPods(job, g)}
	}
	if ok && !paddlejob.Pipelined(job) {
		return judged
	}
	return p.whyNotPlaced(job, g)
}

// whyNotLetIn is why a job is not let in by its queue: what was said before the vote that refused it.
func (p *plugin) whyNotLetIn(job *api.JobInfo) verdict {
	if v, ok := p.reasons.verdicts[job.UID]; ok {
		return v
	}
	return verdict{reason: report.WaitingToBeEnqueued, text: "queue " + p.ssn.Queues[job.Queue].Name + " has not let the job in yet; nothing refuses it"}
}

// whyPodless is why a job without pods waits.
func (p *plugin) whyPodless(job *api.JobInfo, g paddlejob.Gang) verdict {
	if job.IsPending() {
		return p.whyNotLetIn(job)
	}
	return verdict{
		reason: report.WaitingForPods,
		text:   "queue " + p.ssn.Queues[job.Queue].Name + " has let the job in; its pods are not created yet: " + gangWords(job, g),
		data:   withoutPods(job, g),
	}
}

// withoutPods is how many pods of each role are not created, nil if the gang names no roles.
func withoutPods(job *api.JobInfo, g paddlejob.Gang) *report.Report {
	if len(g) == 0 {
		return nil
	}
	created := func(t tally) int32 { return t.created }
	return &report.Report{Missing: &report.Missing{Roles: shortRoles(short(job, g, created), created)}}
}

// closeReasons writes the condition of each Paddle job that waits or was placed, sends events and counts who waits. What
// gang and Volcano write was told before: plugins close in any order.
func (p *plugin) closeReasons() {
	memory := p.state.said
	memory.next()
	counts := map[string]int{}
	wait := func(job *api.JobInfo, v verdict) {
		counts[string(v.reason)]++
		had, _ := conditionOf(job.PodGroup.Status.Conditions)
		if memory.tell(job.PodGroup.UID, had, v) {
			memory.record(p.ssn, job, v)
		}
		p.writeCondition(job, pendingCondition(v), v.report())
	}
	for _, job := range p.concerned() {
		g, isGang := p.gangs[job.UID]
		podless, isPodless := p.reasons.podless[job.UID]
		p.guarded(job, func() {
			switch {
			case isPodless:
				v := p.whyPodless(job, podless)
				job.JobFitErrors = waitsFor(job, podless, v.reason) // into Volcano's own event
				wait(job, v)
			case isGang && !paddlejob.Ready(job):
				wait(job, p.why(job, g))
			default:
				p.closePlaced(job, g)
			}
		})
	}
	metrics.SetPending(counts)
}

// concerned are the jobs to write about: gangs, jobs without pods, and those that run but whose condition says that they
// wait, as a scheduler ended between placing them and saying so.
func (p *plugin) concerned() []*api.JobInfo {
	var jobs []*api.JobInfo
	for id, job := range p.ssn.Jobs {
		_, isGang := p.gangs[id]
		_, isPodless := p.reasons.podless[id]
		had, _ := conditionOf(job.PodGroup.Status.Conditions)
		if isGang || isPodless || had.Status == corev1.ConditionFalse && len(job.Tasks) > 0 && job.IsReady() {
			jobs = append(jobs, job)
		}
	}
	slices.SortFunc(jobs, func(a, b *api.JobInfo) int { return cmp.Compare(a.UID, b.UID) })
	return jobs
}

// closePlaced writes where a gang runs.
func (p *plugin) closePlaced(job *api.JobInfo, g paddlejob.Gang) {
	memory := p.state.said
	had, _ := conditionOf(job.PodGroup.Status.Conditions)
	pending := len(job.TaskStatusIndex[api.Pending])
	if g == nil {
		g = paddlejob.NewGang(job, p.arguments.taskRoles)
	}
	where := verdictIn(had)
	if where.data = report.Decode(job.PodGroup.Annotations); where.data != nil && where.data.Reason != where.reason {
		where.data = nil
	}
	if had.Status != corev1.ConditionTrue || p.reasons.pending[job.UID] != pending { // else no pod was placed in this session
		tiers, inBytes := p.tiersOf(job, g)
		where = whereWords(job, g, tiers, inBytes)
		p.observed(job, tiers, inBytes)
		if had.Status != corev1.ConditionTrue { // pods that come to a gang that runs are not counted
			for _, use := range tiers {
				if inBytes {
					metrics.AddCrossingBytes(use.Name, use.Crossing)
				} else {
					metrics.AddCrossingModelSizes(use.Name, use.Crossing)
				}
			}
		}
	}
	var waits verdict
	if pending > 0 {
		waits = p.whySurplus(job, g)
	}
	if memory.tellPlaced(job.PodGroup.UID, had) {
		memory.record(p.ssn, job, where)
	}
	placed := where.report()
	placed.Message, placed.Surplus = where.text, waits.text
	p.writeCondition(job, placedCondition(where, waits), placed)
}

// tiersOf are the tiers of the network that a gang uses, unknown in a session that has not looked at the network.
func (p *plugin) tiersOf(job *api.JobInfo, g paddlejob.Gang) (tiers []report.Tier, inBytes bool) {
	if !p.course.followed || p.course.network.Topology() == nil {
		return nil, false
	}
	c := newCast(job, g, p.course.spec(job), p.course.network, func(task *api.TaskInfo) bool { return api.AllocatedStatus(task.Status) }, nil)
	cost, err := placement.Evaluate(p.course.network.Topology(), &c.demand, nil)
	if err != nil {
		return nil, false
	}
	return tiersUsed(p.course.network.Topology(), &c.demand, &cost), c.demand.ParameterBytes > 0
}

// whySurplus is why pods beyond the minimums wait.
func (p *plugin) whySurplus(job *api.JobInfo, g paddlejob.Gang) verdict {
	members := map[string]int{}
	verb, why := " wait", ""
	if len(job.TaskStatusIndex[api.Pending]) == 1 {
		verb = " waits"
	}
	for _, task := range paddlejob.InOrder(job) {
		if task.Status != api.Pending {
			continue
		}
		members[task.TaskRole]++
		if refused := job.NodesFitErrors[task.UID]; refused != nil && why == "" {
			why = ": " + strings.TrimSuffix(refused.Error(), ".")
		}
	}
	if v, ok := p.reasons.verdicts[job.UID]; ok {
		why = ": " + v.text
	}
	return verdict{text: memberWords(members, g) + " beyond the minimum" + verb + why}
}

// beforeScheduled is the time of a condition that is true: a second before the session's condition Scheduled, whichever plugin
// writes first. Volcano's Job controller warns of the latest condition that is true, unless that is Scheduled
// (recordPodGroupEvent, pkg/controllers/job/job_controller_actions.go), and times are whole seconds.
func beforeScheduled(conditions []scheduling.PodGroupCondition, now scheduling.PodGroupCondition) metav1.Time {
	at := now.LastTransitionTime
	for _, c := range conditions {
		if c.Type == scheduling.PodGroupScheduled && c.TransitionID == now.TransitionID {
			at = c.LastTransitionTime
		}
	}
	return metav1.NewTime(at.Add(-time.Second))
}

// writeCondition puts the condition in place of the one there is, if that says something else, and with it the report. Volcano
// writes both with one update of the PodGroup, where the condition has changed.
func (p *plugin) writeCondition(job *api.JobInfo, now scheduling.PodGroupCondition, data report.Report) {
	had, _ := conditionOf(job.PodGroup.Status.Conditions)
	if !p.state.said.write(job.PodGroup.UID, had, now) {
		return
	}
	now.TransitionID, now.LastTransitionTime = string(p.ssn.UID), metav1.Now()
	if now.Status == corev1.ConditionTrue {
		now.LastTransitionTime = beforeScheduled(job.PodGroup.Status.Conditions, now)
	}
	if had.Status == now.Status && had.Reason == now.Reason {
		now.LastTransitionTime = had.LastTransitionTime // since then it waits for the same reason
	}
	if err := p.ssn.UpdatePodGroupCondition(job, &now); err != nil {
		klog.ErrorS(err, "Failed to write why a job waits", "job", klog.KRef(job.Namespace, job.Name))
		return
	}
	if job.PodGroup.Annotations == nil {
		job.PodGroup.Annotations = map[string]string{}
	}
	job.PodGroup.Annotations[report.Annotation] = data.Encode()
}
