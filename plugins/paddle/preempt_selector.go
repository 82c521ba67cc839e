// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"maps"
	"slices"
	"sync"

	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"
	"volcano.sh/volcano/pkg/scheduler/plugins/util"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
)

// victimSelector decides in one session which running pods may be evicted. Topology-aware preemption calls it from several
// goroutines; no pod is evicted meanwhile.
type victimSelector struct {
	ssn       *framework.Session
	taskRoles paddlejob.RoleMap

	mu               sync.Mutex
	gangs            map[api.JobID]paddlejob.Gang // nil for jobs that are not Paddle's
	evictabilities   map[api.JobID]evictability
	asking           map[*api.TaskInfo]bool // preemptors for which the selector calls the other plugins
	evictable        map[gangQuery]bool
	cheaperElsewhere map[preemptionKey]bool
	disruptiveNodes  map[podsKey]map[string]bool // by name, nodes on which the pods do not fit without disrupting a gang
	budgetsByKind    map[preemptionKind][]budget

	selected    map[api.TaskID]*api.JobInfo                       // by victim, the preemptor's job, until its Statement ends
	evictedPods map[api.TaskID]*api.TaskInfo                      // in this session, for whatever reason
	evicted     map[api.JobID]map[api.TaskID]evictedPod           // of gangs, by an action that got them from the selector
	remainders  map[api.JobID]map[api.TaskID]*framework.Statement // of disrupted gangs, one Statement for each pod
	completed   map[api.JobID]bool                                // gangs whose remainder is evicted for good
	evicting    bool                                              // the selector evicts the remainder of a gang, or restores it
}

// preemption is a pod for which an action looks for victims.
type preemption struct {
	kind      preemptionKind
	preemptor *api.TaskInfo
}

// preemptionKey is a preemption as a key of a map.
type preemptionKey struct {
	kind      preemptionKind
	preemptor api.TaskID
}

// podsKey is the pods of one role of a job with equal requests. Roles of jobs that are not Paddle's have no names.
type podsKey struct {
	kind     preemptionKind
	job      api.JobID
	role     string
	requests string
}

// gangQuery asks whether a gang may be evicted as a whole for the pods of one role of a job.
type gangQuery struct {
	kind   preemptionKind
	job    api.JobID
	role   string
	victim api.JobID
}

func newVictimSelector(ssn *framework.Session, taskRoles paddlejob.RoleMap) *victimSelector {
	return &victimSelector{
		ssn: ssn, taskRoles: taskRoles,
		gangs:            map[api.JobID]paddlejob.Gang{},
		evictabilities:   map[api.JobID]evictability{},
		asking:           map[*api.TaskInfo]bool{},
		evictable:        map[gangQuery]bool{},
		cheaperElsewhere: map[preemptionKey]bool{},
		disruptiveNodes:  map[podsKey]map[string]bool{},
		budgetsByKind:    map[preemptionKind][]budget{},
		selected:         map[api.TaskID]*api.JobInfo{},
		evictedPods:      map[api.TaskID]*api.TaskInfo{},
		evicted:          map[api.JobID]map[api.TaskID]evictedPod{},
		remainders:       map[api.JobID]map[api.TaskID]*framework.Statement{},
		completed:        map[api.JobID]bool{},
	}
}

// open registers the selector.
func (v *victimSelector) open() {
	for _, kind := range []preemptionKind{preempting, reclaiming} {
		add := v.ssn.AddPreemptableFn
		if kind == reclaiming {
			add = v.ssn.AddReclaimableFn
		}
		add(firstName, func(preemptor *api.TaskInfo, candidates []*api.TaskInfo) ([]*api.TaskInfo, int) {
			if !v.involvesGang(preemptor, candidates) {
				return nil, util.Abstain
			}
			return v.victims(preemption{kind, preemptor}, candidates), util.Permit
		})
		add(vetoName, func(preemptor *api.TaskInfo, candidates []*api.TaskInfo) ([]*api.TaskInfo, int) {
			if !v.involvesGang(preemptor, candidates) {
				return nil, util.Abstain
			}
			return nil, util.Reject // firstName has permitted the victims
		})
	}
	v.ssn.AddTaskOrderFn(firstName, v.taskOrder)
	v.ssn.AddEventHandler(&framework.EventHandler{AllocateFunc: v.onAllocate, DeallocateFunc: v.onDeallocate})
}

// involvesGang reports whether a candidate is a pod of a gang, unless the selector itself calls the plugins.
func (v *victimSelector) involvesGang(preemptor *api.TaskInfo, candidates []*api.TaskInfo) bool {
	v.mu.Lock()
	asking := v.asking[preemptor]
	v.mu.Unlock()
	return !asking && slices.ContainsFunc(candidates, func(task *api.TaskInfo) bool { return v.gang(task.Job) != nil })
}

// stockVictims returns the victims that the other plugins permit, once the disrupted gangs are evicted.
func (v *victimSelector) stockVictims(p preemption, candidates []*api.TaskInfo) []*api.TaskInfo {
	if len(candidates) == 0 {
		return nil
	}
	remaining := v.toBeEvicted()
	for _, members := range remaining {
		candidates = slices.Insert(slices.Clone(candidates), 0, withResources(members[0], totalResources(members)))
	}
	asker := p.preemptor.Clone()
	v.mu.Lock()
	v.asking[asker] = true
	v.mu.Unlock()
	defer func() {
		v.mu.Lock()
		delete(v.asking, asker)
		v.mu.Unlock()
	}()
	ask := v.ssn.Preemptable
	if p.kind == reclaiming {
		ask = v.ssn.Reclaimable
	}
	return slices.DeleteFunc(slices.Clone(ask(asker, candidates)), func(task *api.TaskInfo) bool { return remaining[task.Job] != nil })
}

// toBeEvicted returns the pods of disrupted gangs that are not evicted yet. Plugins that count the resources of queues must
// count these pods first.
func (v *victimSelector) toBeEvicted() map[api.JobID][]*api.TaskInfo {
	all := map[api.JobID][]*api.TaskInfo{}
	for id, evicted := range v.evicted {
		if s := v.evictability(id); len(evicted) > 0 && s.disrupted && len(s.members) > 0 {
			all[id] = s.members
		}
	}
	return all
}

// allEvicted returns the pods that are evicted, or will be with their gangs.
func (v *victimSelector) allEvicted() []*api.TaskInfo {
	all := slices.Collect(maps.Values(v.evictedPods))
	for _, members := range v.toBeEvicted() {
		all = append(all, members...)
	}
	return all
}

// gang returns the gang of a job, nil if the job is not Paddle's.
func (v *victimSelector) gang(id api.JobID) paddlejob.Gang {
	v.mu.Lock()
	defer v.mu.Unlock()
	if g, known := v.gangs[id]; known {
		return g
	}
	var g paddlejob.Gang
	if job := v.ssn.Jobs[id]; job != nil && paddlejob.IsPaddle(job) {
		g = paddlejob.NewGang(job, v.taskRoles)
	}
	v.gangs[id] = g
	return g
}

// evictability returns that of a gang.
func (v *victimSelector) evictability(id api.JobID) evictability {
	g := v.gang(id)
	v.mu.Lock()
	defer v.mu.Unlock()
	s, known := v.evictabilities[id]
	if !known {
		evicted, remainder := map[api.TaskID]bool{}, map[api.TaskID]bool{}
		for task := range v.evicted[id] {
			evicted[task] = true
		}
		for task := range v.remainders[id] {
			remainder[task] = true
		}
		s = newEvictability(v.ssn.Jobs[id], g, v.taskRoles, evicted, remainder)
		v.evictabilities[id] = s
	}
	return s
}

// victims returns which of some pods of one node may be evicted.
func (v *victimSelector) victims(p preemption, candidates []*api.TaskInfo) []*api.TaskInfo {
	node := v.ssn.Nodes[candidates[0].NodeName]
	if node == nil {
		return nil
	}
	idle := v.idle(p, node)
	selected := v.candidatesOf(p, candidates).selectVictims(
		func(tasks []*api.TaskInfo) bool { return fitsWith(p.preemptor, idle, tasks) },
		func() bool { return v.hasCheaperNode(p) })
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, task := range selected {
		v.selected[task.UID] = v.ssn.Jobs[p.preemptor.Job]
	}
	return selected
}

// candidatesOf classifies the pods of one node. The other plugins are called for gangs and for single pods separately, because
// plugins with a budget would else spend it on pods that are not evicted after all.
func (v *victimSelector) candidatesOf(p preemption, candidates []*api.TaskInfo) victimCandidates {
	var c victimCandidates
	var single []*api.TaskInfo
	whole := map[api.JobID][]*api.TaskInfo{}
	for _, task := range candidates {
		switch {
		case task.Job == p.preemptor.Job:
		case v.gang(task.Job) == nil:
			single = append(single, task)
		case v.evictability(task.Job).disrupted:
			c.alreadyEvicted = append(c.alreadyEvicted, task)
		default:
			whole[task.Job] = append(whole[task.Job], task)
			if v.evictability(task.Job).dispensable[task.UID] {
				single = append(single, task)
			}
		}
	}
	slices.SortStableFunc(single, v.byImportance)
	budgets, before := v.budgets(p.kind), v.allEvicted()
	for _, task := range v.stockVictims(p, single) {
		if v.gang(task.Job) == nil {
			c.others = append(c.others, task)
		} else if withinBudgets(budgets, slices.Concat(before, c.others, c.dispensable), []*api.TaskInfo{task}) {
			c.dispensable = append(c.dispensable, task)
		}
	}
	c.jointly = func(single []*api.TaskInfo, gangs []gangCandidate) bool { return v.jointly(p, single, gangs) }
	c.gangs = func() (gangs []gangCandidate) {
		for id, here := range whole {
			if v.gangEvictable(p, id) {
				gangs = append(gangs, gangCandidate{job: id, here: here})
			}
		}
		slices.SortFunc(gangs, func(a, b gangCandidate) int { return v.byImportance(a.here[0], b.here[0]) })
		return gangs
	}
	return c
}

// byImportance orders pods as Volcano evicts them: those of the least important job first, and of a gang the pod of the
// highest rank. Pods of one job that is not Paddle's are equal.
func (v *victimSelector) byImportance(a, b *api.TaskInfo) int {
	switch {
	case a.Job == b.Job:
		return -v.taskOrder(a, b)
	case v.ssn.JobOrderFn(v.ssn.Jobs[a.Job], v.ssn.Jobs[b.Job]):
		return 1
	default:
		return -1
	}
}

// gangEvictable reports whether a gang may be evicted as a whole: Volcano, the other plugins and all PodDisruptionBudgets must
// allow it for each pod.
func (v *victimSelector) gangEvictable(p preemption, id api.JobID) bool {
	key := gangQuery{p.kind, p.preemptor.Job, p.preemptor.TaskRole, id}
	v.mu.Lock()
	answer, known := v.evictable[key]
	v.mu.Unlock()
	if known {
		return answer
	}
	s := v.evictability(id)
	answer = !slices.ContainsFunc(s.members, func(task *api.TaskInfo) bool { return !p.mayEvict(task) }) &&
		withinBudgets(v.budgets(p.kind), v.allEvicted(), s.members) && v.stockAllowsGang(p, s)
	v.mu.Lock()
	v.evictable[key] = answer
	v.mu.Unlock()
	return answer
}

// stockAllowsGang reports whether the other plugins permit a gang as victim. They are called for each pod that is not
// dispensable, as if that pod held the resources of the whole gang: plugins that take pods from queues and jobs until these
// have no more than their share then count the gang as one pod. The dispensable pods are passed with it as if they held
// nothing, for plugins that count pods.
func (v *victimSelector) stockAllowsGang(p preemption, s evictability) bool {
	if len(v.stockVictims(p, s.members)) == len(s.members) {
		return true
	}
	var dispensable, needed []*api.TaskInfo
	for _, task := range s.members {
		if s.dispensable[task.UID] {
			dispensable = append(dispensable, withResources(task, api.EmptyResource()))
		} else {
			needed = append(needed, task)
		}
	}
	total := totalResources(s.members)
	for _, task := range needed {
		allowed := v.stockVictims(p, append(slices.Clone(dispensable), withResources(task, total)))
		if !slices.ContainsFunc(allowed, func(one *api.TaskInfo) bool { return one.UID == task.UID }) {
			return false
		}
	}
	return true
}

// jointly reports whether some gangs, each of which is evictable, may be evicted in addition to each other and to single pods.
// The other plugins see a gang as one pod here too.
func (v *victimSelector) jointly(p preemption, single []*api.TaskInfo, gangs []gangCandidate) bool {
	jobs := map[api.JobID]bool{}
	var asked, all []*api.TaskInfo
	for _, g := range gangs {
		jobs[g.job] = true
	}
	for _, task := range single {
		if !jobs[task.Job] {
			asked = append(asked, task)
		}
	}
	if len(asked) == 0 && len(gangs) == 1 {
		return true
	}
	all = slices.Clone(asked)
	for _, g := range gangs {
		members := v.evictability(g.job).members
		all = append(all, members...)
		asked = append(asked, withResources(members[0], totalResources(members)))
	}
	return withinBudgets(v.budgets(p.kind), v.allEvicted(), all) && len(v.stockVictims(p, asked)) == len(asked)
}

// withResources returns a copy of a running pod that holds other resources.
func withResources(task *api.TaskInfo, held *api.Resource) *api.TaskInfo {
	changed := task.Clone()
	changed.Resreq, changed.InitResreq = held.Clone(), held.Clone()
	return changed
}

// totalResources returns the resources that pods hold together.
func totalResources(tasks []*api.TaskInfo) *api.Resource {
	total := api.EmptyResource()
	for _, task := range tasks {
		total.Add(task.Resreq)
	}
	return total
}

// taskOrder orders the running pods of a gang. Volcano evicts the last one first.
func (v *victimSelector) taskOrder(l, r any) int {
	left, lok := l.(*api.TaskInfo)
	right, rok := r.(*api.TaskInfo)
	if !lok || !rok || left.Job != right.Job || !api.PreemptableStatus(left.Status) || !api.PreemptableStatus(right.Status) ||
		v.gang(left.Job) == nil {
		return 0
	}
	return compareMembers(left, right, v.taskRoles)
}
