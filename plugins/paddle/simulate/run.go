// SPDX-License-Identifier: Apache-2.0

// Package simulate runs Volcano's scheduler with the plugin in this process, over objects of a cluster: what it would bind,
// report and evict. Cache, sessions, plugins and actions are the real ones; what they write ends here. It makes no API calls, reads no files and knows no PaddleJobs.
//
// Volcano keeps some of its state in variables of its packages, so one simulation, or the sessions of one Cache, run at a
// time in a process.
package simulate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	topology "volcano.sh/apis/pkg/apis/topology/v1alpha1"
	"volcano.sh/volcano/cmd/scheduler/app/options"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/conf"
	"volcano.sh/volcano/pkg/scheduler/framework"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// running is held by the simulation that runs: Volcano keeps some of its state in variables of its packages.
var running sync.Mutex

// maxSessions bounds a simulation in which pods evict each other without end.
const maxSessions = 16

// Run runs sessions until the gang of one PodGroup has its nodes, or until nothing changes any more. Between two sessions
// the rest of the cluster does what it would: pods are made of jobs that were admitted, and pods that were evicted end.
func Run(c *Cluster, wanted string) (*Result, error) {
	at := slices.IndexFunc(c.PodGroups, func(group *scheduling.PodGroup) bool { return Key(group) == wanted })
	if at < 0 {
		return nil, fmt.Errorf("simulate the scheduler: the cluster has no PodGroup %s", wanted)
	}
	running.Lock()
	defer running.Unlock()
	r, err := start(c)
	if err != nil {
		return nil, err
	}
	defer r.cache.Close()
	had := r.bound()
	coming := maps.Clone(c.Coming)
	for range maxSessions {
		before := r.state()
		if err := r.session(); err != nil {
			return nil, err
		}
		r.note(had)
		if len(r.result.Bound[wanted]) > 0 && r.jobIs(wanted, (*api.JobInfo).IsReady) {
			break
		}
		made, ended := r.makePods(coming), r.endPods()
		if !made && !ended && maps.Equal(before, r.state()) {
			break
		}
	}
	slices.SortFunc(r.result.Evicted, func(a, b *corev1.Pod) int { return cmp.Compare(Key(a), Key(b)) })
	return r.result, nil
}

// bound returns the nodes of all pods that have one, by PodGroup and pod.
func (r *run) bound() map[string]map[string]string {
	r.cache.Lock()
	defer r.cache.Unlock()
	all := map[string]map[string]string{}
	for id, job := range r.cache.Jobs {
		for _, task := range job.Tasks {
			if api.AllocatedStatus(task.Status) {
				if all[string(id)] == nil {
					all[string(id)] = map[string]string{}
				}
				all[string(id)][task.Name] = task.NodeName
			}
		}
	}
	return all
}

// note keeps which pods were bound that were not before.
func (r *run) note(had map[string]map[string]string) {
	for group, pods := range r.bound() {
		for pod, node := range pods {
			if had[group][pod] != "" {
				continue
			}
			if r.result.Bound[group] == nil {
				r.result.Bound[group] = map[string]string{}
			}
			r.result.Bound[group][pod] = node
		}
	}
}

// jobIs reports whether a PodGroup's job is in the cache and in some state.
func (r *run) jobIs(group string, state func(*api.JobInfo) bool) bool {
	r.cache.Lock()
	defer r.cache.Unlock()
	job := r.cache.Jobs[api.JobID(group)]
	return job != nil && state(job)
}

// state returns what changes from session to session, by PodGroup.
func (r *run) state() map[string]string {
	r.cache.Lock()
	defer r.cache.Unlock()
	all := map[string]string{}
	for id, job := range r.cache.Jobs {
		if job.PodGroup == nil {
			continue
		}
		parts := []string{string(job.PodGroup.Status.Phase)}
		for _, c := range job.PodGroup.Status.Conditions {
			parts = append(parts, string(c.Type), c.Reason, c.Message)
		}
		for _, status := range slices.Sorted(maps.Keys(job.TaskStatusIndex)) {
			parts = append(parts, fmt.Sprintf("%s %d", status, len(job.TaskStatusIndex[status])))
		}
		all[string(id)] = strings.Join(parts, "|")
	}
	return all
}

// makePods does what Volcano's Job controller does: pods of PodGroups that were admitted are made.
func (r *run) makePods(coming map[string][]*corev1.Pod) bool {
	made := false
	admitted := func(job *api.JobInfo) bool { return job.PodGroup != nil && !job.IsPending() }
	for _, key := range slices.Sorted(maps.Keys(coming)) {
		if !r.jobIs(key, admitted) {
			continue
		}
		for _, pod := range sorted(coming[key]) {
			r.cache.AddPod(pod.DeepCopy())
		}
		delete(coming, key)
		made = true
	}
	return made
}

// endPods does what kubelets do: pods that were evicted end.
func (r *run) endPods() bool {
	r.cache.Lock()
	var evicted []*corev1.Pod
	for _, job := range r.cache.Jobs {
		for _, task := range job.TaskStatusIndex[api.Releasing] {
			if task.Pod.DeletionTimestamp == nil {
				evicted = append(evicted, task.Pod)
			}
		}
	}
	r.cache.Unlock()
	for _, pod := range sorted(evicted) {
		r.cache.DeletePod(pod)
	}
	r.result.Evicted = append(r.result.Evicted, evicted...)
	return len(evicted) > 0
}

const volcano = "volcano"

type run struct {
	configuration *configuration
	cache         *Cache
	result        *Result
}

// serverOptions are Volcano's, which its cache would make when it is first made: with a flag for each among the flags of the
// program that simulates, where they are not needed.
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
	framework.RegisterPluginBuilder(tiesName, func(framework.Arguments) framework.Plugin { return ties{} })
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

// session runs one scheduling cycle and updates the cache with the PodGroups that it wrote, as a watch would.
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
	written, err := r.cache.SyncPodGroups()
	for _, group := range written {
		r.result.Groups[Key(group)] = group
	}
	return err
}

// Cluster is what a scheduler sees. The objects are not changed.
type Cluster struct {
	// Configuration is the text of volcano-scheduler.conf.
	Configuration string
	// Scheduler is what the scheduler's pods call it (spec.schedulerName); empty means volcano.
	Scheduler string

	Nodes           []*corev1.Node
	Namespaces      []*corev1.Namespace
	HyperNodes      []*topology.HyperNode
	Queues          []*scheduling.Queue
	PriorityClasses []*schedulingv1.PriorityClass
	Quotas          []*corev1.ResourceQuota
	PodGroups       []*scheduling.PodGroup
	Pods            []*corev1.Pod
	// Coming are pods that Volcano's Job controller makes once their PodGroup is admitted, by its key.
	Coming map[string][]*corev1.Pod
}

func (c *Cluster) name() string { return cmp.Or(c.Scheduler, volcano) }

// Key returns the name of a PodGroup or pod in results: namespace/name.
func Key(o metav1.Object) string { return o.GetNamespace() + "/" + o.GetName() }

// Result is what the scheduler would do.
type Result struct {
	// Groups are the PodGroups that it wrote to, as it wrote them last, by key.
	Groups map[string]*scheduling.PodGroup
	// Bound are the nodes of the pods that it bound, by PodGroup and pod; those that were bound before are not among them.
	Bound map[string]map[string]string
	// Placements are gangs that the plugin placed, by PodGroup.
	Placements map[string]Placement
	// Evicted are the pods that it evicted, in the order of their keys.
	Evicted []*corev1.Pod
	// Notes say what of the configuration was left out, and which objects it could not use.
	Notes []string
}

// Placement is where the plugin placed a gang.
type Placement struct {
	report.Placement
	// Domains are the domains of the gang's nodes in the tier above the nodes, by the nodes' names.
	Domains map[string]string
}

// sorted returns a list in the order of keys: what comes first must not depend on the source of the list.
func sorted[T metav1.Object](list []T) []T {
	return slices.SortedFunc(slices.Values(list), func(a, b T) int { return cmp.Compare(Key(a), Key(b)) })
}
