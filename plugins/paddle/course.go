// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"errors"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/history"
	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/topology"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// course is the planning of one session: plans by scope, and what was learned on the way. It follows the cluster from the
// first question on; a session in which no Paddle job is asked about costs nothing.
type course struct {
	ssn       *framework.Session
	arguments arguments
	gangs     map[api.JobID]paddlejob.Gang
	specs     map[api.JobID]paddlejob.Spec
	network   *topology.Cache
	followed  bool
	unread    error // why the network could not be read, nil if it could or was not yet
	// ending are the nodes on which pods are ending, or that others wait for to end.
	ending map[string]*api.NodeInfo

	explanations *explanations
	doubts       *doubts

	// newNetwork is a network that has seen nothing yet, in place of the session's.
	newNetwork func() *topology.Cache
	guard      *guard

	preferences *preferences
	history     *history.History

	plans     map[string]*plan
	templates *templates
	suits     map[api.JobID]map[string][]*suit // by role; pods of one role that differ have one each
	// asking is true while the plugin itself asks the session's predicates: its own then say nothing.
	asking bool
	// fenced is the fence of the task that is asked about, nil if nothing limits it.
	fenced *fence
}

func newCourse(ssn *framework.Session, a arguments, gangs map[api.JobID]paddlejob.Gang, s *state) *course {
	return &course{
		ssn: ssn, arguments: a, gangs: gangs, specs: map[api.JobID]paddlejob.Spec{}, network: s.networkOf(a.networkOptions()), explanations: s.explanations, doubts: s.doubts,
		newNetwork: func() *topology.Cache {
			s.network = nil
			return s.networkOf(a.networkOptions())
		}, guard: s.guard,
		preferences: newPreferences(ssn), history: s.history,
		plans: map[string]*plan{}, templates: newTemplates(ssn.Tiers), suits: map[api.JobID]map[string][]*suit{}, ending: map[string]*api.NodeInfo{},
	}
}

// spec returns what a job says about its placement. Those of gangs are parsed when the session opens.
func (c *course) spec(job *api.JobInfo) paddlejob.Spec {
	spec, ok := c.specs[job.UID]
	if !ok {
		spec, _ = paddlejob.ParseSpec(job.PodGroup.Annotations, c.arguments.spec())
	}
	return spec
}

var errNoNodes = errors.New("the cluster has no node that is ready")

// topology is the tree, as the session sees it now.
func (c *course) topology() (*placement.Topology, error) {
	if c.unread != nil {
		return nil, c.unread
	}
	if !c.followed {
		err := c.guard.recovered(workOn{part: metrics.PartPlan}, c.follow)
		if errors.Is(err, errPanicked) {
			c.network, c.unread = c.newNetwork(), err
		}
		if err != nil {
			return nil, err
		}
	}
	if t := c.network.Topology(); t != nil {
		return t, nil
	}
	return nil, errNoNodes
}

// follow brings the network up to date with the session.
func (c *course) follow() error {
	_, err := c.network.Sync(topology.SessionView{
		Nodes:      c.ssn.Nodes,
		HyperNodes: c.ssn.HyperNodes,
		Members:    c.ssn.RealNodesSet,
		Top:        framework.ClusterTopHyperNode,
		Scalars:    c.scalars(),
		Slices:     slicesOf(c.ssn),
	})
	if err != nil {
		return err
	}
	c.followed = true
	c.doubts.tellNetwork(string(c.network.Source()), c.network.Warnings())
	for _, node := range c.ssn.Nodes {
		c.noteEnding(node)
	}
	return nil
}

// scalars are the names of the resources, besides CPU and memory, that pending pods ask for.
func (c *course) scalars() []string {
	names := map[string]bool{}
	apart := 0
	for id := range c.gangs {
		apart = max(apart, apartRoles(c.ssn.Jobs[id]))
		for _, task := range c.ssn.Jobs[id].TaskStatusIndex[api.Pending] {
			for name := range task.InitResreq.ScalarResources {
				names[string(name)] = true
			}
		}
	}
	return append(slices.Sorted(maps.Keys(names)), apartNames(apart)...)
}

// changed brings the tree up to date after a task was placed on a node or taken away from it.
func (c *course) changed(task *api.TaskInfo) {
	if !c.followed {
		return
	}
	if node := c.ssn.Nodes[task.NodeName]; node != nil {
		c.network.Refresh(node)
		c.noteEnding(node)
	}
}

func (c *course) noteEnding(node *api.NodeInfo) {
	if node.Releasing.IsEmpty() && node.Pipelined.IsEmpty() {
		delete(c.ending, node.Name)
	} else {
		c.ending[node.Name] = node
	}
}

// settleEnding sets what is free on nodes where pods are ending: what will be free, or, for a plan on what is idle, what
// is. A pod that waits for others to end may have been promised idle room: then less is free than is idle.
func (c *course) settleEnding(future bool) {
	for _, node := range c.ending {
		if later := node.FutureIdle(); future || later.LessEqual(node.Idle, api.Zero) {
			c.network.SetFuture(node)
		}
	}
}

// Request implements stage. The stand-in of a pod that requests nothing takes no room.
func (c *course) Request(task *api.TaskInfo) []int64 {
	request := c.network.Request(task)
	if paddlejob.IsPlaceholder(task) {
		for i, name := range c.network.Topology().Resources() {
			if name == string(corev1.ResourceMemory) {
				request[i] = 0
			}
		}
	}
	return request
}

// Node implements stage.
func (c *course) Node(name string) (placement.NodeID, bool) { return c.network.Node(name) }

// suit is the suit of pods of a job that are like a task, nil if it was not made yet.
func (c *course) suit(task *api.TaskInfo) *suit {
	return suitOf(c.suits[task.Job][task.TaskRole], task)
}

// suitFor is the suit of pods of a job that are like a task, made when first asked for.
func (c *course) suitFor(task *api.TaskInfo) *suit {
	if have := c.suit(task); have != nil {
		return have
	}
	if c.suits[task.Job] == nil {
		c.suits[task.Job] = map[string][]*suit{}
	}
	t := c.network.Topology()
	made := newSuit(t, task, c.templates.permitted(t, c.ssn.Nodes, task.Pod))
	c.suits[task.Job][task.TaskRole] = append(c.suits[task.Job][task.TaskRole], made)
	return made
}

// forgetAnswers forgets what predicates said of a job's pods where it depends on other pods.
func (c *course) forgetAnswers(job api.JobID) {
	for _, ofRole := range c.suits[job] {
		for _, suit := range ofRole {
			if dependsOnOthers(&suit.task.Pod.Spec) {
				suit.forget(c.network.Topology())
			}
		}
	}
}

// kindsOf are the kinds of pods of each role of a plan.
func (c *course) kindsOf(job *api.JobInfo, pending [][]*api.TaskInfo) []kinds {
	t := c.network.Topology()
	all := make([]kinds, len(pending))
	taken := map[corev1.ResourceName]bool{} // by pods that are placed earlier
	for r, tasks := range pending {
		k := &all[r]
		for _, task := range tasks {
			if suitOf(k.suits, task) != nil {
				continue
			}
			k.differ = k.differ || len(k.suits) > 0 && c.templates.permitted(t, c.ssn.Nodes, task.Pod) != k.suits[0].permitted
			if k.more = k.more || len(k.suits) == maxKinds; k.more {
				continue
			}
			k.suits = append(k.suits, c.suitFor(task))
		}
		if len(tasks) > 0 {
			k.final = !mayCome(job, tasks[0].Pod) && !freed(tasks[0], taken)
		}
		for _, task := range tasks {
			for name := range task.InitResreq.ScalarResources {
				taken[name] = true
			}
		}
	}
	return all
}

// freed reports whether pods that are placed earlier take a resource that a task does not ask for. A plugin may keep CPU and
// memory of a node for the pods that will take it (resource-strategy-fit), and lets others have them afterwards.
func freed(task *api.TaskInfo, taken map[corev1.ResourceName]bool) bool {
	for name := range taken {
		if task.InitResreq.ScalarResources[name] <= 0 {
			return true
		}
	}
	return false
}

// PrePredicateFn implements predicates.
func (c *course) PrePredicateFn(task *api.TaskInfo) error {
	defer func(asking bool) { c.asking = asking }(c.asking)
	c.asking = true
	return c.ssn.PrePredicateFn(task)
}

// PredicateForAllocateAction implements predicates. It may be called by several goroutines, between which asking stays.
func (c *course) PredicateForAllocateAction(task *api.TaskInfo, node *api.NodeInfo) error {
	if otherShard(c.ssn, node) {
		return errOtherShard
	}
	return c.ssn.PredicateForAllocateAction(task, node)
}
