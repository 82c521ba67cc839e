// SPDX-License-Identifier: Apache-2.0

package preempt

import (
	"maps"
	"slices"

	"volcano.sh/volcano/pkg/scheduler/api"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
)

// kind is the action that evicts. It decides which pods Volcano considers (pkg/scheduler/actions).
type kind string

const (
	preempting kind = "preempt" // by a job of the same queue
	reclaiming kind = "reclaim" // by a job of a queue that has less than its share
)

// preemption is a pod for which an action looks for victims.
type preemption struct {
	kind      kind
	preemptor *api.TaskInfo
}

// podsKey is the pods of one role of a job with equal requests. Roles of jobs that are not Paddle's have no names.
type podsKey struct {
	kind     kind
	job      api.JobID
	role     string
	requests string
}

// answers caches what holds for the pods of a podsKey until a pod is placed or evicted.
type answers struct {
	evictable       map[api.JobID]bool // whether a gang may be evicted as a whole
	hasCheaperNode  *bool              // nil if it is not known
	disruptiveNodes map[string]bool    // by name, nodes on which the pods do not fit without disrupting a gang
}

func (s *Selector) answersFor(p preemption) *answers {
	key := podsKey{p.kind, p.preemptor.Job, p.preemptor.TaskRole, p.preemptor.InitResreq.String()}
	if s.answers[key] == nil {
		s.answers[key] = &answers{evictable: map[api.JobID]bool{}, disruptiveNodes: map[string]bool{}}
	}
	return s.answers[key]
}

// gang returns the gang of a job, nil if the job is not Paddle's.
func (s *Selector) gang(id api.JobID) paddlejob.Gang {
	s.gangsMu.Lock()
	defer s.gangsMu.Unlock()
	if g, known := s.gangs[id]; known {
		return g
	}
	var g paddlejob.Gang
	if job := s.ssn.Jobs[id]; job != nil && paddlejob.IsPaddle(job) {
		g = paddlejob.NewGang(job, s.taskRoles)
	}
	s.gangs[id] = g
	return g
}

// involvesGang reports whether a candidate is a pod of a gang, unless the selector itself calls the plugins.
func (s *Selector) involvesGang(preemptor *api.TaskInfo, candidates []*api.TaskInfo) bool {
	return preemptor != s.voting.Load() &&
		slices.ContainsFunc(candidates, func(task *api.TaskInfo) bool { return s.gang(task.Job) != nil })
}

// victims returns which of some pods of one node may be evicted.
func (s *Selector) victims(p preemption, candidates []*api.TaskInfo) []*api.TaskInfo {
	node := s.ssn.Nodes[candidates[0].NodeName]
	if node == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	idle := s.idle(p, node)
	selected := s.classify(p, candidates).selectVictims(
		func(tasks []*api.TaskInfo) bool { return fitsWith(p.preemptor, idle, tasks) },
		func() bool { return s.hasCheaperNode(p) })
	for _, task := range selected {
		s.selected[task.UID] = true
	}
	return selected
}

// classify returns the pods of one node by what their eviction means. The other plugins are called for gangs and for single
// pods separately, because plugins with a budget would else spend it on pods that are not evicted after all.
func (s *Selector) classify(p preemption, candidates []*api.TaskInfo) victimCandidates {
	var c victimCandidates
	var single []*api.TaskInfo
	whole := map[api.JobID][]*api.TaskInfo{}
	for _, task := range candidates {
		switch {
		case task.Job == p.preemptor.Job:
		case s.gang(task.Job) == nil:
			single = append(single, task)
		case s.evictability(task.Job).disrupted:
			c.alreadyEvicted = append(c.alreadyEvicted, task)
		default:
			whole[task.Job] = append(whole[task.Job], task)
			if s.evictability(task.Job).dispensable[task.UID] {
				single = append(single, task)
			}
		}
	}
	slices.SortStableFunc(single, s.byImportance)
	budgets, before := s.budgets(p.kind), s.allEvicted()
	for _, task := range s.stockVictims(p, single) {
		if s.gang(task.Job) == nil {
			c.others = append(c.others, task)
		} else if withinBudgets(budgets, slices.Concat(before, c.others, c.dispensable), []*api.TaskInfo{task}) {
			c.dispensable = append(c.dispensable, task)
		}
	}
	c.jointly = func(single []*api.TaskInfo, gangs []gangCandidate) bool { return s.jointly(p, single, gangs) }
	c.gangs = func() (gangs []gangCandidate) {
		for id, here := range whole {
			if s.gangEvictable(p, id) {
				gangs = append(gangs, gangCandidate{job: id, here: here})
			}
		}
		slices.SortFunc(gangs, func(a, b gangCandidate) int { return s.byImportance(a.here[0], b.here[0]) })
		return gangs
	}
	return c
}

func (s *Selector) evictability(id api.JobID) evictability {
	e, known := s.evictabilities[id]
	if !known {
		e = newEvictability(s.ssn.Jobs[id], s.gang(id), s.taskRoles, s.evicted[id], s.remainders[id])
		s.evictabilities[id] = e
	}
	return e
}

// stockVictims returns the victims that the other plugins permit, once the disrupted gangs are evicted.
func (s *Selector) stockVictims(p preemption, candidates []*api.TaskInfo) []*api.TaskInfo {
	if len(candidates) == 0 {
		return nil
	}
	remaining := s.toBeEvicted()
	var tasks []*api.TaskInfo
	for _, id := range slices.Sorted(maps.Keys(remaining)) {
		tasks = append(tasks, withResources(remaining[id][0], totalResources(remaining[id])))
	}
	tasks = append(tasks, candidates...)
	preemptor := p.preemptor.Clone()
	s.voting.Store(preemptor)
	defer s.voting.Store(nil)
	evictable := s.ssn.Preemptable
	if p.kind == reclaiming {
		evictable = s.ssn.Reclaimable
	}
	return slices.DeleteFunc(slices.Clone(evictable(preemptor, tasks)), func(task *api.TaskInfo) bool { return remaining[task.Job] != nil })
}

// toBeEvicted returns the pods of disrupted gangs that are not evicted yet. Plugins that count the resources of queues must
// count these pods first.
func (s *Selector) toBeEvicted() map[api.JobID][]*api.TaskInfo {
	all := map[api.JobID][]*api.TaskInfo{}
	for id := range s.evicted {
		if e := s.evictability(id); e.disrupted && len(e.members) > 0 {
			all[id] = e.members
		}
	}
	return all
}

// allEvicted returns the pods that are evicted, or will be with their gangs.
func (s *Selector) allEvicted() []*api.TaskInfo {
	all := slices.Collect(maps.Values(s.evictedPods))
	for _, members := range s.toBeEvicted() {
		all = append(all, members...)
	}
	return all
}

// gangEvictable reports whether a gang may be evicted as a whole: Volcano, the other plugins and all PodDisruptionBudgets must
// allow it for each pod.
func (s *Selector) gangEvictable(p preemption, id api.JobID) bool {
	known := s.answersFor(p).evictable
	if _, ok := known[id]; !ok {
		e := s.evictability(id)
		known[id] = !slices.ContainsFunc(e.members, func(task *api.TaskInfo) bool { return !p.mayEvict(task) }) &&
			withinBudgets(s.budgets(p.kind), s.allEvicted(), e.members) && s.stockAllowsGang(p, e)
	}
	return known[id]
}

// stockAllowsGang reports whether the other plugins permit a gang as victim. They are called for each pod that is not
// dispensable, as if that pod held the resources of the whole gang. Plugins that take pods from queues and jobs until these
// have no more than their share then count the gang as one pod. The dispensable pods are passed with it as if they held
// nothing, for plugins that count pods.
func (s *Selector) stockAllowsGang(p preemption, e evictability) bool {
	if len(s.stockVictims(p, e.members)) == len(e.members) {
		return true
	}
	var dispensable, needed []*api.TaskInfo
	for _, task := range e.members {
		if e.dispensable[task.UID] {
			dispensable = append(dispensable, withResources(task, api.EmptyResource()))
		} else {
			needed = append(needed, task)
		}
	}
	total := totalResources(e.members)
	for _, task := range needed {
		allowed := s.stockVictims(p, append(slices.Clone(dispensable), withResources(task, total)))
		if !slices.ContainsFunc(allowed, func(one *api.TaskInfo) bool { return one.UID == task.UID }) {
			return false
		}
	}
	return true
}

// jointly reports whether some gangs, each of which is evictable, may be evicted in addition to each other and to single pods.
// The other plugins see a gang as one pod here too.
func (s *Selector) jointly(p preemption, single []*api.TaskInfo, gangs []gangCandidate) bool {
	tasks := slices.DeleteFunc(slices.Clone(single), func(task *api.TaskInfo) bool {
		return slices.ContainsFunc(gangs, func(g gangCandidate) bool { return g.job == task.Job })
	})
	if len(tasks) == 0 && len(gangs) == 1 {
		return true
	}
	all := slices.Clone(tasks)
	for _, g := range gangs {
		members := s.evictability(g.job).members
		all = append(all, members...)
		tasks = append(tasks, withResources(members[0], totalResources(members)))
	}
	return withinBudgets(s.budgets(p.kind), s.allEvicted(), all) && len(s.stockVictims(p, tasks)) == len(tasks)
}

func withResources(task *api.TaskInfo, held *api.Resource) *api.TaskInfo {
	changed := task.Clone()
	changed.Resreq, changed.InitResreq = held.Clone(), held.Clone()
	return changed
}

func totalResources(tasks []*api.TaskInfo) *api.Resource {
	total := api.EmptyResource()
	for _, task := range tasks {
		total.Add(task.Resreq)
	}
	return total
}

// byImportance orders pods as Volcano evicts them: those of the least important job first, and of a gang the pod of the
// highest rank. Pods of one job that is not Paddle's are equal.
func (s *Selector) byImportance(a, b *api.TaskInfo) int {
	switch {
	case a.Job == b.Job:
		return -s.taskOrder(a, b)
	case s.ssn.JobOrderFn(s.ssn.Jobs[a.Job], s.ssn.Jobs[b.Job]):
		return 1
	default:
		return -1
	}
}

// taskOrder orders the running pods of a gang. Volcano evicts the last one first.
func (s *Selector) taskOrder(l, r any) int {
	left, lok := l.(*api.TaskInfo)
	right, rok := r.(*api.TaskInfo)
	if !lok || !rok || left.Job != right.Job || !api.PreemptableStatus(left.Status) || !api.PreemptableStatus(right.Status) ||
		s.gang(left.Job) == nil {
		return 0
	}
	return compareMembers(left, right, s.taskRoles)
}

// topologyAware is the argument of the action preempt with which it tries nodes in parallel.
const topologyAware = "enableTopologyAwarePreemption"

// mayEvict reports whether Volcano evicts a pod in its state.
func (p preemption) mayEvict(task *api.TaskInfo) bool {
	if p.kind == reclaiming {
		return task.Preemptable && task.Status == api.Running
	}
	return task.Preemptable && api.PreemptableStatus(task.Status) && (!p.preemptor.BestEffort || task.BestEffort)
}

// candidates returns the pods of a node that Volcano would pass to Preemptable or Reclaimable.
func (s *Selector) candidates(p preemption, node *api.NodeInfo) []*api.TaskInfo {
	own := s.ssn.Jobs[p.preemptor.Job].Queue
	var found []*api.TaskInfo
	for _, task := range node.Tasks {
		job := s.ssn.Jobs[task.Job]
		if job == nil || !p.mayEvict(task) {
			continue
		}
		if p.kind == preempting && job.Queue == own || p.kind == reclaiming && job.Queue != own && s.ssn.Queues[job.Queue].Reclaimable() {
			found = append(found, task)
		}
	}
	return found
}

// idle returns the resources that a node has for a preemptor without a victim. It has none if the preemptor's queue is full:
// then victims of the queue must release as much as the preemptor requests. Topology-aware preemption disregards the queue.
func (s *Selector) idle(p preemption, node *api.NodeInfo) *api.Resource {
	if p.kind == preempting && !s.topologyAware {
		queue := s.ssn.Queues[s.ssn.Jobs[p.preemptor.Job].Queue]
		if !s.ssn.Allocatable(queue, p.preemptor) {
			return api.EmptyResource()
		}
	}
	return node.FutureIdle()
}

// hasCheaperNode reports whether a preemptor fits on some node without disrupting a gang. Volcano takes the first node that
// fits, in an order that disregards gangs. A node that has failed is checked again for pods of the same role only after a pod
// was evicted from it or placed on it.
func (s *Selector) hasCheaperNode(p preemption) bool {
	known := s.answersFor(p)
	if known.hasCheaperNode != nil {
		return *known.hasCheaperNode
	}
	found := false
	for _, node := range s.ssn.NodeList {
		if known.disruptiveNodes[node.Name] {
			continue
		}
		if found = s.isCheaper(p, node); found {
			break
		}
		known.disruptiveNodes[node.Name] = true
	}
	known.hasCheaperNode = &found
	return found
}

// isCheaper reports whether Volcano would fit a preemptor on a node without disrupting a gang. If that is not known, it would not.
func (s *Selector) isCheaper(p preemption, node *api.NodeInfo) bool {
	if len(s.ssn.NodesInShard) > 0 && !s.ssn.NodesInShard.Has(node.Name) {
		return false
	}
	idle := s.idle(p, node)
	candidates := s.candidates(p, node)
	switch {
	case p.kind == reclaiming && len(candidates) == 0:
		return false // reclaim skips such nodes
	case fitsWith(p.preemptor, idle, nil):
		if p.kind == preempting && s.topologyAware {
			return false // topology-aware preemption skips such nodes
		}
	case !fitsWith(p.preemptor, idle, candidates) || !fitsWith(p.preemptor, idle, s.classify(p, candidates).nonDisruptive()):
		return false
	}
	return s.ssn.PredicateFn(p.preemptor, node) == nil
}

// fitsWith reports whether a preemptor fits into idle resources and those of some victims.
func fitsWith(preemptor *api.TaskInfo, idle *api.Resource, victims []*api.TaskInfo) bool {
	free := idle.Clone().Add(totalResources(victims))
	return preemptor.InitResreq.LessEqual(free, api.Zero)
}
