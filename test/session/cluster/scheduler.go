// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"

	"k8s.io/client-go/tools/record"
	schedulingscheme "volcano.sh/apis/pkg/apis/scheduling/scheme"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	"volcano.sh/volcano/cmd/scheduler/app/options"
	"volcano.sh/volcano/pkg/scheduler"
	_ "volcano.sh/volcano/pkg/scheduler/actions" // allocate and its like register themselves
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/cache"
	"volcano.sh/volcano/pkg/scheduler/conf"
	"volcano.sh/volcano/pkg/scheduler/framework"
	"volcano.sh/volcano/pkg/scheduler/metrics"
	_ "volcano.sh/volcano/pkg/scheduler/plugins" // gang and its like register themselves

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle"
)

// Scheduler is Volcano's scheduler with one configuration over one cluster. It is not safe for use by several goroutines.
type Scheduler struct {
	setup   Setup
	cache   *cache.SchedulerCache
	build   framework.PluginBuilder
	actions []framework.Action
	tiers   []conf.Tier
	binder  *binder
	evictor *evictor
	writer  *writer
	version int
	groups  map[string]*scheduling.PodGroup // by job
	stop    chan struct{}
}

// startMetrics starts those that the predicates write, once in a process.
var startMetrics = sync.OnceFunc(metrics.InitKubeSchedulerRelatedMetrics)

// New starts a scheduler with an empty cluster and one queue. Close stops it.
func New(setup Setup) (*Scheduler, error) {
	startMetrics()
	actions, tiers, _, _, err := scheduler.UnmarshalSchedulerConf(setup.configuration())
	if err != nil {
		return nil, fmt.Errorf("start a scheduler with set-up %s: read its configuration: %w", setup.Name, err)
	}
	s := &Scheduler{
		setup: setup, build: paddle.NewBuilder(), actions: actions, tiers: tiers, stop: make(chan struct{}),
		binder: &binder{}, evictor: &evictor{}, writer: &writer{groups: map[string]*api.PodGroup{}},
		groups: map[string]*scheduling.PodGroup{},
	}
	s.cache = cache.NewCustomMockSchedulerCache("volcano", s.binder, s.evictor, s.writer, nil, &record.FakeRecorder{})
	forgetEvents(s.cache.Client())
	s.cache.Run(s.stop)
	s.cache.AddQueueV1beta1(queue(queueName))
	return s, nil
}

// Close stops the scheduler. Some goroutines of Volcano's cache cannot be stopped; what they hold is emptied.
func (s *Scheduler) Close() {
	close(s.stop)
	s.Reset()
}

// Reset takes everything out of the cluster but the queue. The plugin starts anew.
func (s *Scheduler) Reset() {
	s.cache.Lock()
	defer s.cache.Unlock()
	s.cache.Jobs = map[api.JobID]*api.JobInfo{}
	s.cache.Nodes = map[string]*api.NodeInfo{}
	s.cache.NodeList = nil
	s.cache.HyperNodesInfo = api.NewHyperNodesInfo(s.cache.SharedInformerFactory().Core().V1().Nodes().Lister())
	s.writer.take()
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

// bringBack puts what a session wrote to PodGroups into the cache, as a watch would.
func (s *Scheduler) bringBack() error {
	for _, written := range s.writer.take() {
		var group scheduling.PodGroup
		if err := schedulingscheme.Scheme.Convert(&written.PodGroup, &group, nil); err != nil {
			return fmt.Errorf("bring PodGroup %s back into the cache: %w", written.Name, err)
		}
		s.version++
		group.ResourceVersion = strconv.Itoa(s.version)
		s.cache.UpdatePodGroupV1beta1(&scheduling.PodGroup{}, &group)
	}
	return nil
}
