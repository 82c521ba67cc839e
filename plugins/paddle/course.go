// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"errors"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/klog/v2"
	"volcano.sh/volcano/cmd/scheduler/app/options"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"
	"volcano.sh/volcano/pkg/util"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/diagnose"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/guard"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/history"
	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/planner/feasibility"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/planner/preferences"
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
	// releasing are the nodes on which pods are terminating, or on which pods wait for that.
	releasing map[string]*api.NodeInfo

	diagnoses *diagnose.Cache
	warnings  *topologyWarnings

	// newNetwork is a network that has seen nothing yet, in place of the session's.
	newNetwork func() *topology.Cache
	guard      *guard.Guard

	preferences *preferences.Preferences
	history     *history.History

	plans   map[string]*plan
	filters feasibility.Filters
	// feasibility is of the topology that the session has now.
	feasibility *feasibility.Checker
	// asking is true while the plugin itself asks the session's predicates: its own then say nothing.
	asking bool
	// constraint is that of the task of the last PrePredicate, nil if it has none.
	constraint *constraint
}

func newCourse(ssn *framework.Session, a arguments, gangs map[api.JobID]paddlejob.Gang, s *state) *course {
	return &course{
		ssn: ssn, arguments: a, gangs: gangs, specs: map[api.JobID]paddlejob.Spec{}, network: s.networkOf(a.networkOptions()), diagnoses: s.diagnoses, warnings: s.warnings,
		newNetwork: func() *topology.Cache {
			s.network = nil
			return s.networkOf(a.networkOptions())
		}, guard: s.guard,
		preferences: preferences.New(ssn), history: s.history,
		plans: map[string]*plan{}, filters: feasibility.FiltersOf(ssn.Tiers), releasing: map[string]*api.NodeInfo{},
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
		err := c.guard.Run(guard.Work{Part: metrics.PartPlan}, c.follow)
		if errors.Is(err, guard.ErrPanicked) {
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
	c.warnings.log(string(c.network.Source()), c.network.Warnings())
	c.feasibility = feasibility.New(feasibility.Session{
		Topology: c.network.Topology(), Nodes: c.ssn.Nodes, Filters: c.filters, Predicates: c, PerPodKey: perPodKey,
	})
	for _, node := range c.ssn.Nodes {
		c.trackReleasing(node)
	}
	return nil
}

// topologyWarnings are the warnings about the cluster's topology that were logged last.
type topologyWarnings struct{ text string }

// log logs what is missing or contradictory in the cluster's topology, if that has changed.
func (w *topologyWarnings) log(source string, warnings []string) {
	text := strings.Join(warnings, "; ")
	if text == w.text {
		return
	}
	if w.text = text; text != "" {
		klog.InfoS("The topology is not known in full; jobs are placed by what is known", "source", source, "warnings", text)
	}
}

// slicesOf returns the devices that DRA drivers publish, none where DRA is off.
func slicesOf(ssn *framework.Session) []*resourceapi.ResourceSlice {
	manager := ssn.SharedDRAManager()
	if manager == nil {
		return nil
	}
	slices, err := manager.ResourceSlices().ListWithDeviceTaintRules()
	if err != nil {
		klog.ErrorS(err, "Failed to list ResourceSlices; islands of GPUs are read from nodes")
		return nil
	}
	return slices
}

// scalars are the names of the resources, besides CPU and memory, that pending pods ask for.
func (c *course) scalars() []string {
	names := map[string]bool{}
	var slots []string
	for id := range c.gangs {
		if of := feasibility.SlotResources(c.ssn.Jobs[id]); len(of) > len(slots) {
			slots = of
		}
		for _, task := range c.ssn.Jobs[id].TaskStatusIndex[api.Pending] {
			for name := range task.InitResreq.ScalarResources {
				names[string(name)] = true
			}
		}
	}
	return append(slices.Sorted(maps.Keys(names)), slots...)
}

// changed brings the tree up to date after a task was placed on a node or taken away from it.
func (c *course) changed(task *api.TaskInfo) {
	if !c.followed {
		return
	}
	if node := c.ssn.Nodes[task.NodeName]; node != nil {
		c.network.Refresh(node)
		c.trackReleasing(node)
	}
}

func (c *course) trackReleasing(node *api.NodeInfo) {
	if node.Releasing.IsEmpty() && node.Pipelined.IsEmpty() {
		delete(c.releasing, node.Name)
	} else {
		c.releasing[node.Name] = node
	}
}

// useFutureIdle sets what is free on nodes where pods are terminating: what will be free once they have ended, or, without
// future, what is idle now less what waiting pods will take of it.
func (c *course) useFutureIdle(future bool) {
	for _, node := range c.releasing {
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

// perPodKey reports whether each pod of a role has its own value of a label or annotation.
func perPodKey(key string) bool {
	return key == paddlejob.TaskIndexKey || key == paddlejob.ResourceNameLabel || strings.HasPrefix(key, paddlejob.Prefix)
}

// PrePredicateFn implements feasibility.Predicates.
func (c *course) PrePredicateFn(task *api.TaskInfo) error {
	defer func(asking bool) { c.asking = asking }(c.asking)
	c.asking = true
	return c.ssn.PrePredicateFn(task)
}

// PredicateForAllocateAction implements feasibility.Predicates. It may be called by several goroutines, between which asking
// stays.
func (c *course) PredicateForAllocateAction(task *api.TaskInfo, node *api.NodeInfo) error {
	if otherShard(c.ssn, node) {
		return errOtherShard
	}
	return c.ssn.PredicateForAllocateAction(task, node)
}

var errOtherShard = errors.New("node is not in this scheduler's shard")

// otherShard reports whether a node belongs to another scheduler, as allocate decides.
func otherShard(ssn *framework.Session, node *api.NodeInfo) bool {
	return options.ServerOpts != nil && options.ServerOpts.ShardingMode == util.HardShardingMode && !ssn.NodesInShard.Has(node.Name)
}
