// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"time"

	"k8s.io/utils/ptr"
	"volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/config"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/guard"
	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/nominate"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/preempt"
)

// PluginName is the name that enables the plugin in volcano-scheduler.conf.
const PluginName = config.PluginName

// plugin wires the decisions of this package into one scheduling session; it decides nothing itself.
type plugin struct {
	arguments arguments
	ssn       *framework.Session

	kept  *keeper
	state *state
	guard *guard.Guard

	gangs      map[api.JobID]paddlejob.Gang // Paddle jobs that have pending pods; all other jobs are left to Volcano
	ranks      map[api.TaskID]paddlejob.Rank
	bestEffort *paddlejob.BestEffortRequests
	tried      api.JobID // the job that was last asked about and not yet explained

	reporter reporter

	action    nominate.ActionTracker
	nominator *nominate.Nominator
	course    *course

	tiers   tierSet
	victims *preempt.Selector
}

var _ framework.Plugin = &plugin{}

func newPlugin(a arguments, kept *keeper) *plugin {
	return &plugin{
		arguments:  a,
		kept:       kept,
		gangs:      map[api.JobID]paddlejob.Gang{},
		ranks:      map[api.TaskID]paddlejob.Rank{},
		guard:      newGuard(),
		bestEffort: paddlejob.NewBestEffortRequests(),
		nominator:  nominate.NewNominator(),
		reporter:   newReporter(),
	}
}

// Name implements framework.Plugin.
func (*plugin) Name() string { return PluginName }

// OnSessionOpen implements framework.Plugin.
func (p *plugin) OnSessionOpen(ssn *framework.Session) {
	p.ssn = ssn
	p.state = p.kept.take()
	p.guard = p.state.guard
	p.state.diagnoses.StartSession()
	p.state.status.StartSession()
	p.course = newCourse(ssn, p.arguments, p.gangs, p.state)
	p.state.history.Watch(ssn.InformerFactory())
	p.state.history.ObserveEnded(ssn.Jobs)
	p.guard.StartSession(p.budget(), ssn.Jobs)
	for _, job := range ssn.Jobs {
		if needsPlanning(job) {
			p.parseSpec(job)
			p.openGang(job)
		}
	}
	p.bestEffort.AddHeadroom(ssn.Nodes)
	p.wrapTiers(ssn)
	p.victims = preempt.New(ssn, p.arguments.taskRoles, p.gangs, preempt.Tiers{
		First: firstName, Veto: vetoName, JobPipelined: ptr.Deref(p.tiers.configured.EnabledJobPipelined, false), WithStock: p.withStockTiers,
	})
	p.victims.Register()
	ssn.AddAllocatableFn(firstName, p.allocatableWhileCompleting)
	ssn.AddPrePredicateFn(firstName, p.prePredicateWhileCompleting)
	p.openReporter()

	if len(p.gangs) == 0 {
		return
	}
	ssn.AddJobValidFn(PluginName, p.jobValid)
	ssn.AddOverusedFn(PluginName, p.overused)
	ssn.AddTaskOrderFn(PluginName, p.taskOrder)
	ssn.AddPrePredicateFn(PluginName, p.prePredicate)
	ssn.AddAllocatableFn(PluginName, p.allocatable)
	if p.anyLimited() {
		ssn.AddPredicateFn(PluginName, p.predicate)
	}
	ssn.AddBatchNodeOrderFn(PluginName, p.batchNodeOrder)
	ssn.AddHyperNodeGradientForJobFn(firstName, p.gradientForJob)
	ssn.AddHyperNodeGradientForSubJobFn(firstName, p.gradientForSubJob)
	ssn.AddEventHandler(&framework.EventHandler{AllocateFunc: p.onAllocate, DeallocateFunc: p.onDeallocate})
	ssn.AddJobReadyFn(PluginName, p.jobReady)
}

// OnSessionClose implements framework.Plugin.
func (p *plugin) OnSessionClose(ssn *framework.Session) {
	p.nominator.Restore(ssn.Jobs)
	p.victims.OnSessionClose()
	p.state.history.ObserveBindings(ssn.Jobs, p.gangs)
	p.closeReporter()
	metrics.ObserveSession(p.guard.Spent())
	p.kept.put(p.state)
}

// needsPlanning reports whether there is anything to decide about a job.
func needsPlanning(job *api.JobInfo) bool {
	return job.HasPendingTasks() && paddlejob.IsPaddle(job)
}

func (p *plugin) openGang(job *api.JobInfo) {
	gang := paddlejob.NewGang(job, p.arguments.taskRoles)
	gang.RelaxForCompletion(job, p.arguments.taskRoles)
	gang.Apply(job, p.arguments.taskRoles)
	p.bestEffort.Add(job)
	p.gangs[job.UID] = gang
	for id, rank := range paddlejob.Ranks(job, gang) {
		p.ranks[id] = rank
	}
	if paddlejob.Ready(job) {
		return
	}
	// What holds for a job that the actions do not come to; explain says more about one that they do.
	p.guarded(job, func() { job.JobFitErrors = diagnosisOf(job, gang).FitError(p.lastReason(job, gang)) })
}

// budget is the time for planning in the session: who replays has the time, and must find the same on any machine.
func (p *plugin) budget() time.Duration {
	if p.kept.observe != nil {
		return guard.Unlimited
	}
	return p.arguments.PlanningTime()
}

// anyLimited tells whether a predicate is needed: it would be asked for each task and node, also of other jobs.
func (p *plugin) anyLimited() bool {
	for id := range p.gangs {
		if job := p.ssn.Jobs[id]; limited(job, p.course.spec(job)) {
			return true
		}
	}
	return false
}

// jobValid is asked by every action before it looks at a job's tasks. A nomination that the action before has left is cleared.
func (p *plugin) jobValid(obj any) *api.ValidateResult {
	p.action.JobValid()
	p.clearNomination()
	job, gang, ok := p.gang(obj)
	if !ok {
		return nil
	}
	if r, missing := diagnosisOf(job, gang).MissingPods(); missing {
		return &api.ValidateResult{Reason: v1beta1.NotEnoughPodsOfTaskReason, Message: r.Message}
	}
	p.bestEffort.Apply(job)
	return nil
}

// overused finds no queue overused. It is asked before each job of a queue is placed, after the job before was.
func (p *plugin) overused(any) bool {
	p.bestEffort.Remove(p.ssn.Jobs)
	p.clearNomination()
	p.explain()
	return false
}

// taskOrder orders the pods of one gang.
func (p *plugin) taskOrder(l, r any) int {
	left, lok := l.(*api.TaskInfo)
	right, rok := r.(*api.TaskInfo)
	if !lok || !rok || left.Job != right.Job {
		return 0
	}
	leftRank, lok := p.ranks[left.UID]
	rightRank, rok := p.ranks[right.UID]
	if !lok || !rok {
		return 0
	}
	return leftRank.Compare(rightRank)
}

func (p *plugin) jobReady(obj any) bool {
	job, _, ok := p.gang(obj)
	return !ok || paddlejob.Ready(job)
}

// explain writes why the job that was tried last is not started, into what gang writes to the PodGroup's condition and
// Volcano to the pods' conditions and events.
func (p *plugin) explain() {
	job, gang, ok := p.gang(p.ssn.Jobs[p.tried])
	p.tried = ""
	switch {
	case !ok:
	case paddlejob.Ready(job):
		job.JobFitErrors = ""
	default:
		p.guarded(job, func() { job.JobFitErrors = p.jobFitError(job, gang) })
	}
}

// gang is the gang of a job, and false for a job that is left to Volcano.
func (p *plugin) gang(obj any) (*api.JobInfo, paddlejob.Gang, bool) {
	job, ok := obj.(*api.JobInfo)
	if !ok || job == nil {
		return nil, nil, false
	}
	found, ok := p.gangs[job.UID]
	return job, found, ok
}
