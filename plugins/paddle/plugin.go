// SPDX-License-Identifier: Apache-2.0

// Package paddle is a plugin of Volcano's scheduler that places the pods of a PaddlePaddle job as one plan. It registers what the
// packages below it decide at Volcano's extension points, and decides nothing itself:
//
//   - plugin.go: the session, and the table of extension points
//   - tiers.go: the plugin's entries in the session's tiers
//   - state.go: what outlives a session
package paddle

import (
	"time"

	"k8s.io/utils/ptr"
	"volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/config"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/constraints"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/diagnose"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/guard"
	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/nominate"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/planner"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/preempt"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/reporter"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/score"
)

// PluginName is the name that enables the plugin in volcano-scheduler.conf.
const PluginName = config.PluginName

type plugin struct {
	arguments config.Arguments
	roles     paddlejob.RoleMap
	store     *stateStore
	state     *state
	ssn       *framework.Session
	tiers     tierSet

	// gangs are the Paddle jobs that have pending pods. All other jobs are left to Volcano.
	gangs      map[api.JobID]paddlejob.Gang
	specs      map[api.JobID]paddlejob.Spec
	ranks      map[api.TaskID]paddlejob.Rank
	bestEffort *paddlejob.BestEffortRequests

	planner     *planner.Planner
	constraints *constraints.Constraints
	nominator   *nominate.Nominator
	scorer      *score.Scorer
	victims     *preempt.Selector
	reporter    *reporter.Reporter
}

var _ framework.Plugin = &plugin{}

func newPlugin(a config.Arguments, store *stateStore) *plugin {
	return &plugin{
		arguments:  a,
		roles:      paddlejob.NewRoleMap(a.ServerTasks, a.WorkerTasks, a.HeterTasks),
		store:      store,
		gangs:      map[api.JobID]paddlejob.Gang{},
		specs:      map[api.JobID]paddlejob.Spec{},
		ranks:      map[api.TaskID]paddlejob.Rank{},
		bestEffort: paddlejob.NewBestEffortRequests(),
	}
}

// Name implements framework.Plugin.
func (*plugin) Name() string { return PluginName }

// OnSessionOpen implements framework.Plugin.
func (p *plugin) OnSessionOpen(ssn *framework.Session) {
	p.state = p.store.acquire(&p.arguments)
	p.state.startSession(ssn, p.budget())
	p.wrapTiers(ssn)
	p.assemble(ssn)
	for _, job := range ssn.Jobs {
		if needsPlanning(job) {
			p.openGang(job)
		}
	}
	p.bestEffort.AddHeadroom(ssn.Nodes)
	p.register(ssn)
	p.reporter.Open()
}

func (p *plugin) assemble(ssn *framework.Session) {
	s := p.state
	p.ssn = ssn
	p.planner = planner.New(planner.Config{
		Session: ssn, Arguments: &p.arguments, Gangs: p.gangs, Specs: p.specs, Cache: s.topology, History: s.history, Guard: s.guard,
	})
	p.nominator = nominate.New(p.planner)
	p.scorer = &score.Scorer{Planner: p.planner, History: s.history, Guard: s.guard, Weight: p.arguments.Weight}
	p.reporter = reporter.New(reporter.Config{
		Session: ssn, Arguments: &p.arguments, Planner: p.planner, Guard: s.guard, Gangs: p.gangs, Ranks: p.ranks, Roles: p.roles,
		RaisesMinResources: ptr.Deref(p.tiers.configured.EnabledJobEnqueued, false),
		Diagnoses:          s.diagnoses, Status: s.status, Observe: p.store.observe,
	})
	p.constraints = constraints.New(constraints.Config{
		Session: ssn, Planner: p.planner, Guard: s.guard, Gangs: p.gangs, Roles: p.roles,
		WithoutPlugin: p.withStockTiers, Rejected: p.reporter.Rejected,
	})
	p.victims = preempt.New(ssn, p.roles, p.gangs, preempt.Tiers{
		First: firstName, Veto: vetoName, JobPipelined: ptr.Deref(p.tiers.configured.EnabledJobPipelined, false), WithStock: p.withStockTiers,
	})
}

// register adds the plugin's functions to a session: all that Volcano calls.
func (p *plugin) register(ssn *framework.Session) {
	p.victims.Register() // Preemptable, Reclaimable, JobStarving, JobPipelined, TaskOrder of running pods, and events
	if len(p.gangs) == 0 {
		return
	}
	ssn.AddJobValidFn(PluginName, p.jobValid)                          // pods of the whole gang must exist
	ssn.AddOverusedFn(PluginName, p.overused)                          // called after each job: why it was not placed
	ssn.AddTaskOrderFn(PluginName, p.taskOrder)                        // minimums before surplus pods, servers before workers
	ssn.AddAllocatableFn(firstName, p.allocatableWhileCompleting)      // no new workers for jobs that complete
	ssn.AddPrePredicateFn(firstName, p.prePredicateWhileCompleting)    // the same in the other actions
	ssn.AddAllocatableFn(PluginName, p.allocatable)                    // plans the gang
	ssn.AddPrePredicateFn(PluginName, p.prePredicate)                  // nominates the planned node
	ssn.AddHyperNodeGradientForJobFn(firstName, p.hyperNodesForJob)    // networkTopology hard
	ssn.AddHyperNodeGradientForSubJobFn(firstName, p.hyperNodesForSub) // networkTopology hard of sub-jobs
	ssn.AddBatchNodeOrderFn(PluginName, p.batchNodeOrder)              // scores for tasks without a plan
	ssn.AddJobReadyFn(PluginName, p.jobReady)                          // all minimums are placed
	if p.constraints.Any() {
		ssn.AddPredicateFn(PluginName, p.constraints.Predicate) // required topology and colocation without a plan
	}
	ssn.AddEventHandler(&framework.EventHandler{AllocateFunc: p.nominator.OnAllocate, DeallocateFunc: p.nominator.OnDeallocate})
}

// OnSessionClose implements framework.Plugin.
func (p *plugin) OnSessionClose(ssn *framework.Session) {
	p.nominator.Clear()
	p.victims.OnSessionClose()
	p.state.history.ObserveBindings(ssn.Jobs, p.gangs)
	p.reporter.Close()
	metrics.ObserveSession(p.state.guard.Spent())
	p.store.release(p.state)
}

func needsPlanning(job *api.JobInfo) bool {
	return job.HasPendingTasks() && paddlejob.IsPaddle(job)
}

func (p *plugin) openGang(job *api.JobInfo) {
	gang := paddlejob.NewGang(job, p.roles)
	gang.RelaxForCompletion(job, p.roles)
	gang.Apply(job, p.roles)
	p.bestEffort.Add(job)
	p.gangs[job.UID], p.specs[job.UID] = gang, p.reporter.ParseSpec(job)
	for id, rank := range paddlejob.Ranks(job, gang) {
		p.ranks[id] = rank
	}
}

// budget returns the time for planning in the session. A simulation has as much as it needs, because it must find the same on
// any machine.
func (p *plugin) budget() time.Duration {
	if p.store.observe != nil {
		return guard.Unlimited
	}
	return p.arguments.PlanningTime()
}

func (p *plugin) isGang(id api.JobID) bool {
	_, ok := p.gangs[id]
	return ok
}

// jobValid is called by every action before it looks at the tasks of a job.
func (p *plugin) jobValid(obj any) *api.ValidateResult {
	p.nominator.JobValid()
	job, ok := obj.(*api.JobInfo)
	if !ok || !p.isGang(job.UID) {
		return nil
	}
	if !diagnose.PodsExist(job) {
		why := diagnose.NotCreated(job, p.gangs[job.UID])
		return &api.ValidateResult{Reason: v1beta1.NotEnoughPodsOfTaskReason, Message: why.Sentence()}
	}
	p.bestEffort.Apply(job)
	return nil
}

// overused finds no queue overused. allocate calls it before each job of a queue, after the job before was placed.
func (p *plugin) overused(any) bool {
	p.bestEffort.Remove(p.ssn.Jobs)
	p.nominator.Clear()
	p.reporter.AdmissionEnds()
	p.reporter.SetFitError()
	return false
}

// taskOrder orders the pending pods of one gang.
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

// jobReady reports whether every minimum of a gang is placed.
func (p *plugin) jobReady(obj any) bool {
	job, ok := obj.(*api.JobInfo)
	return !ok || !p.isGang(job.UID) || paddlejob.Ready(job)
}

// allocatableWhileCompleting rejects workers of jobs that have begun to complete, in allocate and preempt.
func (p *plugin) allocatableWhileCompleting(_ *api.QueueInfo, task *api.TaskInfo) bool {
	if p.prePredicateWhileCompleting(task) == nil {
		return true
	}
	paddlejob.RefuseCompleting(p.ssn.Jobs[task.Job], task) // allocate has reset what it found in another HyperNode
	return false
}

// prePredicateWhileCompleting rejects them in every action.
func (p *plugin) prePredicateWhileCompleting(task *api.TaskInfo) error {
	if p.isGang(task.Job) && paddlejob.IsCompleting(p.ssn.Jobs[task.Job], task, p.roles) {
		return paddlejob.ErrCompleting
	}
	return nil
}

// allocatable is the first function that allocate calls for a task. It plans the gang, and rejects a task for which certainly no
// node is feasible.
func (p *plugin) allocatable(_ *api.QueueInfo, task *api.TaskInfo) bool {
	if !p.nominator.Allocatable(task) || !p.isGang(task.Job) {
		return true
	}
	p.reporter.Tried(task.Job)
	plan, err := p.planner.Reject(task)
	if err != nil {
		p.reporter.Rejected(p.ssn.Jobs[task.Job], plan, err)
	}
	return err == nil
}

// prePredicate is called by each action before it looks for a node for a task.
func (p *plugin) prePredicate(task *api.TaskInfo) error {
	if p.planner.CallsPredicates() {
		return nil
	}
	p.bestEffort.Remove(p.ssn.Jobs)
	inAllocate := p.nominator.PrePredicate(task)
	p.constraints.Clear()
	if !p.isGang(task.Job) {
		return nil
	}
	p.reporter.Tried(task.Job)
	if err := p.constraints.PrePredicate(task); err != nil {
		p.reporter.Rejected(p.ssn.Jobs[task.Job], nil, err)
		return err
	}
	if inAllocate {
		p.nominator.Nominate(task)
	}
	return nil
}

// hyperNodesForJob returns the HyperNodes in which allocate tries a job.
func (p *plugin) hyperNodesForJob(job *api.JobInfo, top *api.HyperNodeInfo) [][]*api.HyperNodeInfo {
	p.reporter.Tried(job.UID)
	return p.constraints.HyperNodesForJob(job, top)
}

// hyperNodesForSub returns those for a sub-job of a SubGroupPolicy.
func (p *plugin) hyperNodesForSub(sub *api.SubJobInfo, top *api.HyperNodeInfo) [][]*api.HyperNodeInfo {
	p.reporter.Tried(sub.Job)
	return p.constraints.HyperNodesForSubJob(sub, top)
}

// batchNodeOrder scores nodes for tasks of gangs that follow no plan. Nothing is replanned within networkTopology: there the
// nodes near the rejected one are scored.
func (p *plugin) batchNodeOrder(task *api.TaskInfo, nodes []*api.NodeInfo) (map[string]float64, error) {
	if !p.isGang(task.Job) {
		return nil, nil
	}
	if !p.constraints.IsBounded() {
		if node, ok := p.nominator.Replan(task); ok {
			return p.scorer.Planned(node), nil
		}
	}
	return p.scorer.Scores(task, nodes), nil
}
