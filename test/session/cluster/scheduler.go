// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"math/rand/v2"

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

// Close stops the scheduler.
func (s *Scheduler) Close() { s.cache.Close() }

// Reset takes everything out of the cluster but the queue. The plugin starts anew.
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
