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

// victims decides in one session which running pods may be evicted for others. It looks at a job when it is first asked
// about one of its pods. Topology-aware preemption asks from several goroutines at once; nothing is evicted meanwhile.
type victims struct {
	ssn       *framework.Session
	taskRoles paddlejob.RoleMap

	mu        sync.Mutex
	gangs     map[api.JobID]paddlejob.Gang // of jobs that were asked about, nil for those that are not Paddle's
	standings map[api.JobID]standing
	asking    map[*api.TaskInfo]bool // preemptors in whose name the plugin asks the others
	wholes    map[wholeQuestion]bool
	elsewhere map[needKey]bool
	dear      map[dearKey]map[string]bool // nodes, by name, that have no room without breaking a gang
	budgeted  map[purpose][]budget

	offered   map[api.TaskID]*api.JobInfo                       // pods that may be evicted, for which job, until its Statement ends
	gone      map[api.TaskID]*api.TaskInfo                      // what was evicted in this session, for whatever reason
	evicted   map[api.JobID]map[api.TaskID]evictedPod           // of gangs, by actions for which they were offered
	rests     map[api.JobID]map[api.TaskID]*framework.Statement // of gangs that are evicted as a whole, one for each pod
	ended     map[api.JobID]bool                                // gangs of which the rest is evicted for good
	following bool                                              // the plugin evicts the rest of a gang, or takes it back
}

// need is a pod that asks for room.
type need struct {
	purpose   purpose
	preemptor *api.TaskInfo
}

// needKey is a need to look up answers by.
type needKey struct {
	purpose   purpose
	preemptor api.TaskID
}

// dearKey is the pods of one role of a job that ask for as much room. Roles of jobs that are not Paddle's have no names.
type dearKey struct {
	purpose  purpose
	job      api.JobID
	role     string
	requests string
}

// wholeQuestion is whether a whole gang may go for the pods of one role of a job.
type wholeQuestion struct {
	purpose purpose
	job     api.JobID
	role    string
	victim  api.JobID
}

func newVictims(ssn *framework.Session, taskRoles paddlejob.RoleMap) *victims {
	return &victims{
		ssn: ssn, taskRoles: taskRoles,
		gangs:     map[api.JobID]paddlejob.Gang{},
		standings: map[api.JobID]standing{},
		asking:    map[*api.TaskInfo]bool{},
		wholes:    map[wholeQuestion]bool{},
		elsewhere: map[needKey]bool{},
		dear:      map[dearKey]map[string]bool{},
		budgeted:  map[purpose][]budget{},
		offered:   map[api.TaskID]*api.JobInfo{},
		gone:      map[api.TaskID]*api.TaskInfo{},
		evicted:   map[api.JobID]map[api.TaskID]evictedPod{},
		rests:     map[api.JobID]map[api.TaskID]*framework.Statement{},
		ended:     map[api.JobID]bool{},
	}
}

// open registers what decides about victims.
func (v *victims) open() {
	for _, why := range []purpose{preempting, reclaiming} {
		add := v.ssn.AddPreemptableFn
		if why == reclaiming {
			add = v.ssn.AddReclaimableFn
		}
		add(firstName, func(preemptor *api.TaskInfo, candidates []*api.TaskInfo) ([]*api.TaskInfo, int) {
			if !v.concerned(preemptor, candidates) {
				return nil, util.Abstain
			}
			return v.choose(need{why, preemptor}, candidates), util.Permit
		})
		add(vetoName, func(preemptor *api.TaskInfo, candidates []*api.TaskInfo) ([]*api.TaskInfo, int) {
			if !v.concerned(preemptor, candidates) {
				return nil, util.Abstain
			}
			return nil, util.Reject // what there was to permit stood first
		})
	}
	v.ssn.AddTaskOrderFn(firstName, v.order)
	v.ssn.AddEventHandler(&framework.EventHandler{AllocateFunc: v.onAllocate, DeallocateFunc: v.onDeallocate})
}

// concerned tells whether a question is about any pod of ours. The plugin's own questions to the others are not.
func (v *victims) concerned(preemptor *api.TaskInfo, candidates []*api.TaskInfo) bool {
	v.mu.Lock()
	asking := v.asking[preemptor]
	v.mu.Unlock()
	return !asking && slices.ContainsFunc(candidates, func(task *api.TaskInfo) bool { return v.gang(task.Job) != nil })
}

// stock is what would be decided without the plugin, after the gangs that are evicted as a whole have gone.
func (v *victims) stock(n need, candidates []*api.TaskInfo) []*api.TaskInfo {
	if len(candidates) == 0 {
		return nil
	}
	leaving := v.leaving()
	for _, members := range leaving {
		candidates = slices.Insert(slices.Clone(candidates), 0, holding(members[0], heldBy(members)))
	}
	asker := n.preemptor.Clone()
	v.mu.Lock()
	v.asking[asker] = true
	v.mu.Unlock()
	defer func() {
		v.mu.Lock()
		delete(v.asking, asker)
		v.mu.Unlock()
	}()
	ask := v.ssn.Preemptable
	if n.purpose == reclaiming {
		ask = v.ssn.Reclaimable
	}
	return slices.DeleteFunc(slices.Clone(ask(asker, candidates)), func(task *api.TaskInfo) bool { return leaving[task.Job] != nil })
}

// leaving is the pods of gangs that are evicted as a whole, but for those that are evicted already. Plugins that count what
// queues lose must count them first.
func (v *victims) leaving() map[api.JobID][]*api.TaskInfo {
	all := map[api.JobID][]*api.TaskInfo{}
	for id, evicted := range v.evicted {
		if s := v.standing(id); len(evicted) > 0 && s.broken && len(s.members) > 0 {
			all[id] = s.members
		}
	}
	return all
}

// before is what is or will be evicted in any case.
func (v *victims) before() []*api.TaskInfo {
	all := slices.Collect(maps.Values(v.gone))
	for _, members := range v.leaving() {
		all = append(all, members...)
	}
	return all
}

// gang is the gang of a job, nil for one that is not ours.
func (v *victims) gang(id api.JobID) paddlejob.Gang {
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

// standing is what may be taken from one of our gangs.
func (v *victims) standing(id api.JobID) standing {
	g := v.gang(id)
	v.mu.Lock()
	defer v.mu.Unlock()
	s, known := v.standings[id]
	if !known {
		evicted, rest := map[api.TaskID]bool{}, map[api.TaskID]bool{}
		for task := range v.evicted[id] {
			evicted[task] = true
		}
		for task := range v.rests[id] {
			rest[task] = true
		}
		s = newStanding(v.ssn.Jobs[id], g, v.taskRoles, evicted, rest)
		v.standings[id] = s
	}
	return s
}

// choose answers which of some pods, all on one node, may be evicted.
func (v *victims) choose(n need, candidates []*api.TaskInfo) []*api.TaskInfo {
	node := v.ssn.Nodes[candidates[0].NodeName]
	if node == nil {
		return nil
	}
	room := v.room(n, node)
	fits := func(tasks []*api.TaskInfo) bool { return fit(n.preemptor, room, tasks) }
	chosen := v.offer(n, candidates).pick(fits, func() bool { return v.cheaper(n) })
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, task := range chosen {
		v.offered[task.UID] = v.ssn.Jobs[n.preemptor.Job]
	}
	return chosen
}

// offer sorts the pods of one node by the harm that evicting them does. Stock is asked about gangs apart from what goes
// one by one: plugins that let go only so much would spend it on pods that may not go after all.
func (v *victims) offer(n need, candidates []*api.TaskInfo) offer {
	var o offer
	var single []*api.TaskInfo
	whole := map[api.JobID][]*api.TaskInfo{}
	for _, task := range candidates {
		switch {
		case task.Job == n.preemptor.Job:
		case v.gang(task.Job) == nil:
			single = append(single, task)
		case v.standing(task.Job).broken:
			o.gone = append(o.gone, task)
		default:
			whole[task.Job] = append(whole[task.Job], task)
			if v.standing(task.Job).spare[task.UID] {
				single = append(single, task)
			}
		}
	}
	slices.SortStableFunc(single, v.leastFirst)
	budgets, before := v.budgets(n.purpose), v.before()
	for _, task := range v.stock(n, single) {
		if v.gang(task.Job) == nil {
			o.others = append(o.others, task)
		} else if kept(budgets, slices.Concat(before, o.others, o.spare), []*api.TaskInfo{task}) {
			o.spare = append(o.spare, task)
		}
	}
	o.together = func(single []*api.TaskInfo, gangs []gangOffer) bool { return v.together(n, single, gangs) }
	o.gangs = func() (gangs []gangOffer) {
		for id, here := range whole {
			if v.whole(n, id) {
				gangs = append(gangs, gangOffer{job: id, here: here})
			}
		}
		slices.SortFunc(gangs, func(a, b gangOffer) int { return v.leastFirst(a.here[0], b.here[0]) })
		return gangs
	}
	return o
}

// leastFirst orders pods in the order in which Volcano evicts them: of the least important job, and of our jobs the pod of
// the highest rank. Pods of one job of others stay as they are.
func (v *victims) leastFirst(a, b *api.TaskInfo) int {
	switch {
	case a.Job == b.Job:
		return -v.order(a, b)
	case v.ssn.JobOrderFn(v.ssn.Jobs[a.Job], v.ssn.Jobs[b.Job]):
		return 1
	default:
		return -1
	}
}

// whole reports whether all pods of a gang may go: they must be in a state to go, none may be marked as not preemptable, the
// other plugins must let the gang go, and all PodDisruptionBudgets must allow all of it.
func (v *victims) whole(n need, id api.JobID) bool {
	key := wholeQuestion{n.purpose, n.preemptor.Job, n.preemptor.TaskRole, id}
	v.mu.Lock()
	answer, known := v.wholes[key]
	v.mu.Unlock()
	if known {
		return answer
	}
	s := v.standing(id)
	answer = !slices.ContainsFunc(s.members, func(task *api.TaskInfo) bool { return !n.takes(task) }) &&
		kept(v.budgets(n.purpose), v.before(), s.members) && v.permitted(n, s)
	v.mu.Lock()
	v.wholes[key] = answer
	v.mu.Unlock()
	return answer
}

// permitted reports whether stock lets a gang go. It is asked about each pod that the job cannot miss, as if that pod had
// what the whole gang has: a gang has no parts, and counts as one pod where plugins let queues and jobs lose pods until they
// have no more than their share. Pods that can be missed are asked about with it as if they had nothing, for plugins that
// count pods.
func (v *victims) permitted(n need, s standing) bool {
	if len(v.stock(n, s.members)) == len(s.members) {
		return true
	}
	var spare, needed []*api.TaskInfo
	for _, task := range s.members {
		if s.spare[task.UID] {
			spare = append(spare, holding(task, api.EmptyResource()))
		} else {
			needed = append(needed, task)
		}
	}
	total := heldBy(s.members)
	for _, task := range needed {
		allowed := v.stock(n, append(slices.Clone(spare), holding(task, total)))
		if !slices.ContainsFunc(allowed, func(one *api.TaskInfo) bool { return one.UID == task.UID }) {
			return false
		}
	}
	return true
}

// together reports whether some gangs may go in addition to each other and to single pods, each of which may go alone. For
// stock a gang is one pod here too.
func (v *victims) together(n need, single []*api.TaskInfo, gangs []gangOffer) bool {
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
		members := v.standing(g.job).members
		all = append(all, members...)
		asked = append(asked, holding(members[0], heldBy(members)))
	}
	return kept(v.budgets(n.purpose), v.before(), all) && len(v.stock(n, asked)) == len(asked)
}

// holding is a copy of a running pod that holds some other amount of resources.
func holding(task *api.TaskInfo, held *api.Resource) *api.TaskInfo {
	changed := task.Clone()
	changed.Resreq, changed.InitResreq = held.Clone(), held.Clone()
	return changed
}

// heldBy is what some pods hold in total.
func heldBy(tasks []*api.TaskInfo) *api.Resource {
	total := api.EmptyResource()
	for _, task := range tasks {
		total.Add(task.Resreq)
	}
	return total
}

// order orders running pods of one of our gangs: Volcano evicts the last one first.
func (v *victims) order(l, r any) int {
	left, lok := l.(*api.TaskInfo)
	right, rok := r.(*api.TaskInfo)
	if !lok || !rok || left.Job != right.Job || !api.PreemptableStatus(left.Status) || !api.PreemptableStatus(right.Status) ||
		v.gang(left.Job) == nil {
		return 0
	}
	return compareMembers(left, right, v.taskRoles)
}
