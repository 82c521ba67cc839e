// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/kubernetes/fake"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	"volcano.sh/volcano/cmd/scheduler/app/options"
	"volcano.sh/volcano/pkg/scheduler"
	_ "volcano.sh/volcano/pkg/scheduler/actions" // allocate and its like register themselves
	"volcano.sh/volcano/pkg/scheduler/conf"
	"volcano.sh/volcano/pkg/scheduler/framework"
	_ "volcano.sh/volcano/pkg/scheduler/plugins" // gang and its like register themselves

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/simulate"
)

// Scheduler is Volcano's scheduler with one configuration over one cluster. It is not safe for use by several goroutines.
type Scheduler struct {
	setup   Setup
	cache   *simulate.Cache
	build   framework.PluginBuilder
	actions []framework.Action
	tiers   []conf.Tier
	groups  map[string]*scheduling.PodGroup // by job
}

// New starts a scheduler with an empty cluster and one queue. Close stops it.
func New(setup Setup) (*Scheduler, error) {
	actions, tiers, _, _, err := scheduler.UnmarshalSchedulerConf(setup.configuration())
	if err != nil {
		return nil, fmt.Errorf("start a scheduler with set-up %s: read its configuration: %w", setup.Name, err)
	}
	s := &Scheduler{
		setup: setup, cache: simulate.NewCache("volcano"), build: paddle.NewBuilder(), actions: actions, tiers: tiers,
		groups: map[string]*scheduling.PodGroup{},
	}
	s.cache.AddQueueV1beta1(queue(queueName))
	return s, nil
}

// Close stops the scheduler. Goroutines of Volcano's cache never end, and the cache holds the plugins of its last session: a session of
// the empty cluster replaces them.
func (s *Scheduler) Close() {
	s.Reset()
	s.prepare()
	framework.CloseSession(framework.OpenSession(s.cache.SchedulerCache, s.tiers, nil))
	s.cache.Close()
}

// Reset takes everything out of the cluster but the queue. The plugin starts again.
func (s *Scheduler) Reset() {
	s.cache.Empty()
	clear(s.groups)
	s.build = paddle.NewBuilder()
}

// AddFleet puts nodes with what runs on them, racks and blocks into the cluster. The order in which the scheduler looks
// at the nodes is drawn from the seed: names and places say nothing of it.
func (s *Scheduler) AddFleet(fleet Fleet, seed uint64) error {
	order := rand.New(rand.NewPCG(seed, uint64(len(fleet)))).Perm(len(fleet))
	for _, i := range order {
		if err := s.cache.AddOrUpdateNode(fleet[i].object()); err != nil {
			return fmt.Errorf("add node %s to the cache: %w", fleet[i].Name, err)
		}
		for _, pod := range fleet[i].pods() {
			s.cache.AddPod(pod)
		}
	}
	s.cache.HyperNodesInfo.Lock()
	defer s.cache.HyperNodesInfo.Unlock()
	for _, node := range fleet.hyperNodes() {
		if err := s.cache.HyperNodesInfo.UpdateHyperNode(node); err != nil {
			return fmt.Errorf("add HyperNode %s to the cache: %w", node.Name, err)
		}
	}
	return nil
}

// AddJob puts a job's PodGroup and pods into the cluster.
func (s *Scheduler) AddJob(job *Job) {
	group, pods := job.objects()
	if s.setup.Dress != nil {
		s.setup.Dress(job, group)
	}
	s.groups[job.Name] = group
	s.cache.AddPodGroupV1beta1(group)
	for _, pod := range pods {
		s.cache.AddPod(pod)
	}
}

// prepare sets what Volcano keeps in variables of its packages.
func (s *Scheduler) prepare() {
	framework.RegisterPluginBuilder(paddle.PluginName, s.build)
	options.ServerOpts.PercentageOfNodesToFind = s.setup.Percentage
	conf.EnabledActionMap = map[string]bool{}
	for _, action := range s.actions {
		conf.EnabledActionMap[action.Name()] = true
	}
}

// Took is how long the parts of one session took.
type Took struct {
	Open, Close time.Duration
	// Allocate is the action's Execute alone; Others are the other actions.
	Allocate, Others time.Duration
}

// Whole is the whole session.
func (t Took) Whole() time.Duration { return t.Open + t.Allocate + t.Others + t.Close }

// Session runs one scheduling cycle and brings what it wrote back into the cache.
func (s *Scheduler) Session() (Took, error) {
	s.prepare()
	var took Took
	var ssn *framework.Session
	took.Open = timed(func() { ssn = framework.OpenSession(s.cache.SchedulerCache, s.tiers, nil) })
	for _, action := range s.actions {
		elapsed := timed(func() { action.Execute(ssn) })
		if action.Name() == "allocate" {
			took.Allocate = elapsed
		} else {
			took.Others += elapsed
		}
	}
	took.Close = timed(func() { framework.CloseSession(ssn) })
	if client, ok := s.cache.Client().(*fake.Clientset); ok {
		client.ClearActions()
	}
	_, err := s.cache.SyncPodGroups()
	return took, err
}

func timed(work func()) time.Duration {
	start := time.Now()
	work()
	return time.Since(start)
}

// Setup is a configuration of the scheduler, and what its users write into their jobs.
type Setup struct {
	Name string
	// Before stands after gang in the first tier, After last in the second: lines of volcano-scheduler.conf.
	Before, After string
	// Binpack are the arguments of the plugin binpack; without any it counts CPU and memory alone.
	Binpack map[string]string
	// Percentage is --percentage-nodes-to-find; 0 is the default.
	Percentage int32
	// Dress writes into a job's PodGroup what the set-up's documentation asks for; nil writes nothing.
	Dress func(*Job, *scheduling.PodGroup)
}

// configuration is volcano-scheduler.conf: the plugins that all set-ups have, and the set-up's own.
func (s *Setup) configuration() string {
	return fmt.Sprintf(`actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
%s- plugins:
  - name: drf
  - name: predicates
  - name: proportion
  - name: nodeorder
%s%s`, s.Before, pluginLines("binpack", s.Binpack), s.After)
}

// Stock is Volcano without more.
func Stock() Setup { return Setup{Name: "stock"} }

// Paddle is the same with the plugin paddle, where deploy/v1/scheduler.yaml has it.
func Paddle(arguments map[string]string) Setup {
	return Setup{Name: "paddle", Before: pluginLines("paddle", arguments)}
}

// PackGPUs returns the set-up with the arguments of binpack that deploy/v1/scheduler.yaml has: GPUs count, and more than
// what other plugins prefer.
func (s Setup) PackGPUs() Setup {
	s.Binpack = map[string]string{"binpack.weight": "10", "binpack.resources": gpuName, "binpack.resources." + gpuName: "10"}
	return s
}

// TaskTopology is stock with the plugin task-topology as in its user guide (docs/user-guide/how_to_use_task_topology_plugin.md):
// weight 10, servers near workers, servers apart from each other; the ring's workers near each other.
func TaskTopology() Setup {
	return Setup{
		Name:  "task-topology",
		After: pluginLines("task-topology", map[string]string{"task-topology.weight": "10"}),
		Dress: func(job *Job, group *scheduling.PodGroup) {
			if job.Mode == PS {
				annotate(group, "volcano.sh/task-topology-affinity", ServerTask+","+WorkerTask)
				annotate(group, "volcano.sh/task-topology-anti-affinity", ServerTask)
				annotate(group, "volcano.sh/task-topology-task-order", ServerTask+","+WorkerTask)
				return
			}
			annotate(group, "volcano.sh/task-topology-affinity", WorkerTask)
		},
	}
}

// TaskTopologyTogether is the same without keeping the servers apart from each other.
func TaskTopologyTogether() Setup {
	setup := TaskTopology()
	setup.Name = "task-topology, together"
	setup.Dress = func(job *Job, group *scheduling.PodGroup) {
		tasks := make([]string, len(job.Roles))
		for i := range job.Roles {
			tasks[i] = job.Roles[i].Task
		}
		annotate(group, "volcano.sh/task-topology-affinity", strings.Join(tasks, ","))
	}
	return setup
}

// NetworkTopology is stock with the plugin network-topology-aware and the weights of its user guide
// (docs/user-guide/how_to_use_network_topology_aware_scheduling.md); jobs ask for it softly.
func NetworkTopology() Setup {
	return Setup{
		Name: "network-topology-aware",
		After: pluginLines("network-topology-aware", map[string]string{
			"weight": "10", "hypernode.binpack.cpu": "5", "hypernode.binpack.memory": "1",
			"hypernode.binpack.resources": gpuName, "hypernode.binpack.resources." + gpuName: "2",
		}),
		Dress: func(_ *Job, group *scheduling.PodGroup) {
			group.Spec.NetworkTopology = &scheduling.NetworkTopologySpec{Mode: scheduling.SoftNetworkTopologyMode}
		},
	}
}

func annotate(group *scheduling.PodGroup, key, value string) {
	if group.Annotations == nil {
		group.Annotations = map[string]string{}
	}
	group.Annotations[key] = value
}

func pluginLines(name string, arguments map[string]string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "  - name: %s\n", name)
	if len(arguments) > 0 {
		text.WriteString("    arguments:\n")
	}
	for _, key := range slices.Sorted(maps.Keys(arguments)) {
		fmt.Fprintf(&text, "      %s: %s\n", key, arguments[key])
	}
	return text.String()
}
