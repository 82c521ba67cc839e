// SPDX-License-Identifier: Apache-2.0

// Package preempt selects the victims of the actions preempt and reclaim where Paddle jobs are among the candidates.
//
// A worker beyond its job's minimum may be evicted alone. Any other pod of a gang is evicted together with all pods of the
// gang, and only if nothing else makes the preemptor fit. Which pods may be evicted at all is decided by Volcano and its other
// plugins.
//
//   - preempt.go: the registration in a session, and the votes in JobStarving and JobPipelined
//   - victims.go: which pods of a node the other plugins permit, alone and as gangs, and where a preemptor fits without a gang
//     being evicted
//   - candidates.go: what is selected of these
//   - eviction.go: the eviction of the pods that a gang has on other nodes, and PodDisruptionBudgets
package preempt

import (
	"sync"
	"sync/atomic"

	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"
	"volcano.sh/volcano/pkg/scheduler/plugins/util"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
)

// Tiers describes the plugin in the tiers of a session.
type Tiers struct {
	First string // the plugin's name in a tier before all others
	Veto  string // the plugin's name at the head of each other tier
	// JobPipelined reports whether the plugin's vote in JobPipelined is enabled.
	JobPipelined bool
	// WithStock runs a function in the session without the plugin. It is not called from several goroutines.
	WithStock func(call func())
}

// Selector selects victims in one session. Topology-aware preemption calls it from several goroutines; no pod is evicted
// meanwhile.
type Selector struct {
	ssn           *framework.Session
	taskRoles     paddlejob.RoleMap
	pending       map[api.JobID]paddlejob.Gang // of the Paddle jobs that have pending pods
	tiers         Tiers
	topologyAware bool

	gangsMu sync.Mutex
	gangs   map[api.JobID]paddlejob.Gang // nil for jobs that are not Paddle's

	mu             sync.Mutex                   // held while victims are selected
	voting         atomic.Pointer[api.TaskInfo] // the preemptor for which the selector calls the other plugins
	evictabilities map[api.JobID]evictability
	answers        map[podsKey]*answers
	budgetsByKind  map[kind][]budget
	selected       map[api.TaskID]bool // victims since the last vote in JobPipelined

	evictedPods map[api.TaskID]*api.TaskInfo                      // in this session, for any reason
	evicted     map[api.JobID]map[api.TaskID]*api.TaskInfo        // of gangs, those that were selected
	remainders  map[api.JobID]map[api.TaskID]*framework.Statement // of disrupted gangs, one Statement for each pod
}

// New returns a selector for a session. The gangs are those of the Paddle jobs that have pending pods.
func New(ssn *framework.Session, taskRoles paddlejob.RoleMap, gangs map[api.JobID]paddlejob.Gang, tiers Tiers) *Selector {
	s := &Selector{
		ssn: ssn, taskRoles: taskRoles, pending: gangs, tiers: tiers,
		gangs:          map[api.JobID]paddlejob.Gang{},
		evictabilities: map[api.JobID]evictability{},
		answers:        map[podsKey]*answers{},
		budgetsByKind:  map[kind][]budget{},
		selected:       map[api.TaskID]bool{},
		evictedPods:    map[api.TaskID]*api.TaskInfo{},
		evicted:        map[api.JobID]map[api.TaskID]*api.TaskInfo{},
		remainders:     map[api.JobID]map[api.TaskID]*framework.Statement{},
	}
	framework.GetArgOfActionFromConf(ssn.Configurations, string(preempting)).GetBool(&s.topologyAware, topologyAware)
	return s
}

// Register adds the selector's functions to its session.
func (s *Selector) Register() {
	s.ssn.AddPreemptableFn(s.tiers.First, s.evictable(preempting))
	s.ssn.AddReclaimableFn(s.tiers.First, s.evictable(reclaiming))
	s.ssn.AddPreemptableFn(s.tiers.Veto, s.veto)
	s.ssn.AddReclaimableFn(s.tiers.Veto, s.veto)
	s.ssn.AddTaskOrderFn(s.tiers.First, s.taskOrder)
	s.ssn.AddJobStarvingFns(s.tiers.First, s.starving)
	s.ssn.AddJobPipelinedFn(s.tiers.First, s.votePipelined)
	s.ssn.AddEventHandler(&framework.EventHandler{AllocateFunc: s.onAllocate, DeallocateFunc: s.onDeallocate})
}

// OnSessionClose evicts what remains of gangs of which an action has evicted a part.
func (s *Selector) OnSessionClose() { s.commitRemainders() }

// evictable returns the function that the session calls with the candidates of one node.
func (s *Selector) evictable(k kind) api.EvictableFn {
	return func(preemptor *api.TaskInfo, candidates []*api.TaskInfo) ([]*api.TaskInfo, int) {
		if !s.involvesGang(preemptor, candidates) {
			return nil, util.Abstain
		}
		return s.victims(preemption{k, preemptor}, candidates), util.Permit
	}
}

// veto rejects what other tiers would permit if the first tier has found no victims.
func (s *Selector) veto(preemptor *api.TaskInfo, candidates []*api.TaskInfo) ([]*api.TaskInfo, int) {
	if !s.involvesGang(preemptor, candidates) {
		return nil, util.Abstain
	}
	return nil, util.Reject
}

// starving votes in JobStarving: a Paddle job may preempt and reclaim while it is below a minimum and the other plugins agree.
func (s *Selector) starving(obj any) bool {
	s.commitRemainders()
	var stock bool
	s.tiers.WithStock(func() { stock = s.ssn.JobStarving(obj) })
	job, ok := obj.(*api.JobInfo)
	if !stock || !ok {
		return false
	}
	_, pending := s.pending[job.UID]
	return !pending || belowMinimum(job)
}

// belowMinimum reports whether a job to which its gang was applied is below a minimum. Pods count that run, are placed or wait
// for victims to end.
func belowMinimum(job *api.JobInfo) bool {
	return job.CheckTaskStarving() || job.IsStarving() || !job.CheckSubJobPipelined()
}

// votePipelined votes in JobPipelined before the plugins of any tier: the evictions for a job are kept if its minimums are met
// and the other plugins agree. Preempt and reclaim end their Statement next, so that the remainders of gangs are evicted here.
func (s *Selector) votePipelined(obj any) int {
	s.commitRemainders()
	clear(s.selected)
	var stock bool
	s.tiers.WithStock(func() { stock = s.ssn.JobPipelined(obj) })
	job, ok := obj.(*api.JobInfo)
	if !stock || !ok {
		return util.Reject
	}
	if _, pending := s.pending[job.UID]; pending && s.tiers.JobPipelined && !paddlejob.Pipelined(job) {
		return util.Reject
	}
	s.evictRemainders(job)
	return util.Permit
}
