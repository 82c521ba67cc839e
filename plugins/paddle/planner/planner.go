// SPDX-License-Identifier: Apache-2.0

// Package planner plans the gangs of one scheduling session. It turns the pods of a job into a demand of package placement,
// keeps the topology up to date with the session, and searches for a plan among the nodes that are feasible for the pods. A
// plan is kept until the session ends or the plan is outdated. The package writes neither events nor conditions.
package planner

import (
	"errors"

	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	"volcano.sh/volcano/cmd/scheduler/app/options"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"
	"volcano.sh/volcano/pkg/util"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/config"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/guard"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/history"
	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/planner/feasibility"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/planner/preferences"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/topology"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// Config is the input of a Planner.
type Config struct {
	Session   *framework.Session
	Arguments *config.Arguments
	// Gangs are the jobs to plan, and Specs what they say about their placement.
	Gangs map[api.JobID]paddlejob.Gang
	Specs map[api.JobID]paddlejob.Spec
	// Cache of the topology, History and Guard outlive the session.
	Cache   *topology.Cache
	History *history.History
	Guard   *guard.Guard
}

// Planner plans the gangs of one session. It reads the topology when it is first needed, so that a session in which no Paddle
// job is tried costs nothing.
type Planner struct {
	Config
	Filters feasibility.Filters // those of Kubernetes that the session applies to pods

	synced    bool  // the topology is that of the session
	syncError error // of a Sync that panicked
	plans     map[scopeID]*Plan
	releasing map[string]*api.NodeInfo // nodes with terminating pods, or with pods that wait for these
	// feasibility and preferences are those of the topology. feasibility is nil until it is read.
	feasibility *feasibility.Checker
	preferences *preferences.Preferences
	calling     bool // the planner calls the session's predicates
}

// New returns a Planner without plans.
func New(c Config) *Planner {
	return &Planner{
		Config: c, plans: map[scopeID]*Plan{}, releasing: map[string]*api.NodeInfo{},
		Filters: feasibility.FiltersOf(c.Session.Tiers), preferences: preferences.New(c.Session),
	}
}

// Spec returns what a job says about its placement.
func (p *Planner) Spec(job *api.JobInfo) paddlejob.Spec {
	spec, ok := p.Specs[job.UID]
	if !ok {
		spec, _ = paddlejob.ParseSpec(job.PodGroup.Annotations, paddlejob.DefaultSpec(p.Arguments))
	}
	return spec
}

// ErrNoNodes is the error of a session without a ready node.
var ErrNoNodes = errors.New("the cluster has no node that is ready")

// Topology returns the topology with what is free in the session now.
func (p *Planner) Topology() (*placement.Topology, error) {
	if p.syncError != nil {
		return nil, p.syncError
	}
	if !p.synced {
		if err := p.Guard.Run(guard.Work{Part: metrics.PartPlan}, p.sync); err != nil {
			if errors.Is(err, guard.ErrPanicked) {
				p.Cache.Reset()
				p.syncError = err
			}
			return nil, err
		}
	}
	if t := p.Cache.Topology(); t != nil {
		return t, nil
	}
	return nil, ErrNoNodes
}

func (p *Planner) sync() error {
	_, err := p.Cache.Sync(topology.SessionView{
		Nodes:      p.Session.Nodes,
		HyperNodes: p.Session.HyperNodes,
		Members:    p.Session.RealNodesSet,
		Top:        framework.ClusterTopHyperNode,
		Scalars:    p.scalars(),
		Slices:     resourceSlices(p.Session),
	})
	if err != nil {
		return err
	}
	p.synced = true
	p.Cache.LogWarnings()
	p.feasibility = feasibility.New(feasibility.Session{
		Topology: p.Cache.Topology(), Nodes: p.Session.Nodes, Filters: p.Filters, Predicates: p, PerPodKey: paddlejob.IsPerPodKey,
	})
	for _, node := range p.Session.Nodes {
		p.trackReleasing(node)
	}
	return nil
}

// resourceSlices returns the devices that DRA drivers publish, none where DRA is off.
func resourceSlices(ssn *framework.Session) []*resourceapi.ResourceSlice {
	manager := ssn.SharedDRAManager()
	if manager == nil {
		return nil
	}
	found, err := manager.ResourceSlices().ListWithDeviceTaintRules()
	if err != nil {
		klog.ErrorS(err, "Failed to list ResourceSlices; islands of GPUs are read from nodes")
		return nil
	}
	return found
}

// scalars returns the resources, besides CPU and memory, that pending pods request.
func (p *Planner) scalars() []string {
	names := sets.New[string]()
	var slots []string
	for id := range p.Gangs {
		if of := feasibility.SlotResources(p.Session.Jobs[id]); len(of) > len(slots) {
			slots = of
		}
		for _, task := range p.Session.Jobs[id].TaskStatusIndex[api.Pending] {
			for name := range task.InitResreq.ScalarResources {
				names.Insert(string(name))
			}
		}
	}
	return append(sets.List(names), slots...)
}

// OnTaskChanged brings the topology up to date after a task was placed on its node or taken away from it.
func (p *Planner) OnTaskChanged(task *api.TaskInfo) {
	if !p.synced {
		return
	}
	if node := p.Session.Nodes[task.NodeName]; node != nil {
		p.Cache.Refresh(node)
		p.trackReleasing(node)
	}
}

func (p *Planner) trackReleasing(node *api.NodeInfo) {
	if node.Releasing.IsEmpty() && node.Pipelined.IsEmpty() {
		delete(p.releasing, node.Name)
	} else {
		p.releasing[node.Name] = node
	}
}

// useFutureIdle sets what is free on nodes with terminating pods: what will be free once they have terminated, or, without
// future, what is idle now less what waiting pods will take of it.
func (p *Planner) useFutureIdle(future bool) {
	for _, node := range p.releasing {
		if later := node.FutureIdle(); future || later.LessEqual(node.Idle, api.Zero) {
			p.Cache.SetFuture(node)
		}
	}
}

// Run runs work on the plan of a job and returns its error. If the work panics, the topology is read again.
func (p *Planner) Run(of guard.Work, work func() error) error {
	err := p.Guard.Run(of, work)
	if errors.Is(err, guard.ErrPanicked) {
		p.resync()
	}
	return err
}

// resync replaces a topology that a failed search has left in an undefined state, or still uses, and discards the plans and
// results from it. The same nodes have the same IDs in the new one.
func (p *Planner) resync() {
	p.Cache.Reset()
	p.synced = false
	p.preferences = preferences.New(p.Session)
	p.feasibility = nil
	clear(p.plans)
	if _, err := p.Topology(); err != nil {
		klog.ErrorS(err, "Failed to read the topology again")
	}
}

// rollback undoes the changes in a topology, unless it was replaced.
func (p *Planner) rollback(t *placement.Topology, mark int) {
	if p.Cache.Topology() == t {
		t.Rollback(mark)
	}
}

// Request implements resourceView. The placeholder of a pod that requests nothing takes no memory.
func (p *Planner) Request(task *api.TaskInfo) []int64 {
	request := p.Cache.Request(task)
	if paddlejob.IsPlaceholder(task) {
		for i, name := range p.Cache.Topology().Resources() {
			if name == string(corev1.ResourceMemory) {
				request[i] = 0
			}
		}
	}
	return request
}

// Node implements resourceView. It returns the ID of a node by its name.
func (p *Planner) Node(name string) (placement.NodeID, bool) { return p.Cache.Node(name) }

// CallPredicates runs call, which calls the session's predicates. The plugin's own must then allow every node: CallsPredicates
// returns true.
func (p *Planner) CallPredicates(call func()) {
	defer func(calling bool) { p.calling = calling }(p.calling)
	p.calling = true
	call()
}

// CallsPredicates reports whether CallPredicates runs.
func (p *Planner) CallsPredicates() bool { return p.calling }

// PrePredicateFn implements feasibility.Predicates.
func (p *Planner) PrePredicateFn(task *api.TaskInfo) (err error) {
	p.CallPredicates(func() { err = p.Session.PrePredicateFn(task) })
	return err
}

// PredicateForAllocateAction implements feasibility.Predicates. It must be called within CallPredicates, because several
// goroutines may call it.
func (p *Planner) PredicateForAllocateAction(task *api.TaskInfo, node *api.NodeInfo) error {
	// The node may belong to another scheduler, as allocate decides.
	if options.ServerOpts != nil && options.ServerOpts.ShardingMode == util.HardShardingMode && !p.Session.NodesInShard.Has(node.Name) {
		return errOtherShard
	}
	return p.Session.PredicateForAllocateAction(task, node)
}

var errOtherShard = errors.New("node is not in this scheduler's shard")
