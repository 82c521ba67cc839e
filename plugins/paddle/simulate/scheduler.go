// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/pflag"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	topology "volcano.sh/apis/pkg/apis/topology/v1alpha1"
	"volcano.sh/volcano/cmd/scheduler/app/options"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/conf"
	"volcano.sh/volcano/pkg/scheduler/framework"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// volcano is the scheduler's usual name.
const volcano = "volcano"

// run is a scheduler over one cluster.
type run struct {
	configuration *configuration
	cache         *Cache
	result        *Result
}

// serverOptions are Volcano's, which its cache would make when it is first made: with a flag for each among the flags of the
// program that simulates, where nobody wants them.
var serverOptions = func() *options.ServerOption {
	flags := pflag.CommandLine
	defer func() { pflag.CommandLine = flags }()
	pflag.CommandLine = pflag.NewFlagSet("", pflag.ContinueOnError)
	return options.Default()
}()

func start(c *Cluster) (*run, error) {
	configuration, err := readConfiguration(c.Configuration)
	if err != nil {
		return nil, err
	}
	r := &run{configuration: configuration, result: &Result{
		Groups: map[string]*scheduling.PodGroup{}, Bound: map[string]map[string]string{},
		Placements: map[string]Placement{}, Notes: configuration.notes,
	}}
	framework.RegisterPluginBuilder(tiesName, newTies)
	framework.RegisterPluginBuilder(paddle.PluginName, paddle.NewSimulationBuilder(func(job api.JobID, placed report.Placement, domains map[string]string) {
		r.result.Placements[string(job)] = Placement{placed, domains}
	}))
	serverOptions.PercentageOfNodesToFind = 100 // a sample would be another one each time
	r.cache = NewCache(c.name())
	if err := r.fill(c); err != nil {
		r.cache.Close()
		return nil, err
	}
	return r, nil
}

// fill puts a cluster's objects into the cache, as watches would.
func (r *run) fill(c *Cluster) error {
	informers := r.cache.SharedInformerFactory().Core().V1()
	for _, namespace := range sorted(c.Namespaces) {
		if err := informers.Namespaces().Informer().GetIndexer().Add(namespace); err != nil {
			return fmt.Errorf("add namespace %s to the scheduler's cache: %w", namespace.Name, err)
		}
	}
	for _, node := range sorted(c.Nodes) {
		// HyperNodes that select nodes by labels or names look for them there.
		if err := informers.Nodes().Informer().GetIndexer().Add(node); err != nil {
			return fmt.Errorf("add node %s to the scheduler's cache: %w", node.Name, err)
		}
		if err := r.cache.AddOrUpdateNode(node); err != nil {
			return fmt.Errorf("add node %s to the scheduler's cache: %w", node.Name, err)
		}
	}
	r.fillTopology(c.HyperNodes)
	for _, class := range sorted(c.PriorityClasses) {
		r.cache.AddPriorityClass(class)
	}
	for _, quota := range sorted(c.Quotas) {
		r.cache.AddResourceQuota(quota)
	}
	for _, queue := range sorted(c.Queues) {
		r.cache.AddQueueV1beta1(queue)
	}
	for _, group := range sorted(c.PodGroups) {
		r.cache.AddPodGroupV1beta1(group)
	}
	for _, pod := range sorted(c.Pods) {
		if pod.Spec.NodeName != "" || pod.Spec.SchedulerName == c.name() {
			r.cache.AddPod(pod.DeepCopy()) // plugins write to the annotations of pods
		}
	}
	return nil
}

// fillTopology adds HyperNodes, the nearest tier first.
func (r *run) fillTopology(nodes []*topology.HyperNode) {
	r.cache.HyperNodesInfo.Lock()
	defer r.cache.HyperNodesInfo.Unlock()
	all := slices.SortedStableFunc(slices.Values(sorted(nodes)), func(a, b *topology.HyperNode) int { return cmp.Compare(a.Spec.Tier, b.Spec.Tier) })
	for _, node := range all {
		if err := r.cache.HyperNodesInfo.UpdateHyperNode(node.DeepCopy()); err != nil {
			r.result.Notes = append(r.result.Notes, fmt.Sprintf("HyperNode %s: %v", node.Name, err))
		}
	}
}

// session runs one scheduling cycle and brings what it wrote to PodGroups back into the cache, as a watch would.
func (r *run) session() error {
	conf.EnabledActionMap = map[string]bool{}
	for _, action := range r.configuration.actions {
		conf.EnabledActionMap[action.Name()] = true
	}
	ssn := framework.OpenSession(r.cache.SchedulerCache, r.configuration.tiers, r.configuration.more)
	for _, action := range r.configuration.actions {
		action.Execute(ssn)
	}
	framework.CloseSession(ssn)
	written, err := r.cache.BringBack()
	for _, group := range written {
		r.result.Groups[Key(group)] = group
	}
	return err
}
