// SPDX-License-Identifier: Apache-2.0

// Package simulation answers requests of package plan, one at a time: it runs the scheduler on snapshots (plugins/paddle/simulate). It
// makes no API calls and reads neither files nor the clock.
package simulation

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/plan"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/snapshot"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/simulate"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/topology"
)

// Serve reads a request and writes the response, both as JSON.
func Serve(in io.Reader, out io.Writer) error {
	request := &plan.Request{}
	if err := json.NewDecoder(in).Decode(request); err != nil {
		return fmt.Errorf("read a request of kubectl-paddle, which starts this program: %w", err)
	}
	var response *plan.Response
	var err error
	if version := plan.Version(); request.Version != version {
		err = fmt.Errorf("kubectl-paddle is of version %s and %s of %s: install both from one build", request.Version, plan.Program, version)
	} else {
		response, err = Simulate(context.Background(), request)
	}
	if err != nil {
		response = &plan.Response{Error: &plan.ExitError{Code: plan.Failed, Message: err.Error()}}
		errors.As(err, &response.Error)
	}
	return json.NewEncoder(out).Encode(response)
}

var _ plan.Simulator = Simulate

// Simulate is the plan.Simulator that runs in this process.
func Simulate(_ context.Context, request *plan.Request) (response *plan.Response, err error) {
	response = &plan.Response{}
	switch {
	case request.Question != nil:
		response.Plan, err = Answer(request.Question)
	case request.Alone != nil:
		response.Ideal, err = Ideal(request.Alone)
	case request.Network != nil:
		response.Tiers = Tiers(request.Network)
	default:
		err = errors.New("the request is empty")
	}
	return response, err
}

// Answer runs the scheduler and returns where the job would be placed.
func Answer(q *plan.Question) (*plan.Plan, error) {
	c, err := clusterOf(q)
	if err != nil {
		return nil, err
	}
	own := simulate.Key(c.wanted)
	p := &plan.Plan{Namespace: c.wanted.Namespace, Name: c.name(own), Taken: c.taken, Notes: c.notes, Displaced: c.gangs(c.displaced)}
	if p.Why = c.missing(q.Snapshot); len(p.Why) > 0 {
		return p, nil
	}
	now, err := simulate.Run(&c.Cluster, own)
	if err != nil {
		return nil, err
	}
	empty, err := simulate.Run(c.emptied(), own)
	if err != nil {
		return nil, err
	}
	p.Notes = append(p.Notes, now.Notes...)
	c.fill(p, now)
	c.compare(p, empty)
	if !p.Fits && len(p.First) > 0 {
		alone, err := simulate.Run(c.alone(), own)
		if err != nil {
			return nil, err
		}
		p.Blocked = c.fits(alone)
	}
	return p, nil
}

// clusterOf returns the cluster of the snapshot with the question's changes and its job.
func clusterOf(q *plan.Question) (*cluster, error) {
	c := newCluster(q.Snapshot)
	c.Scheduler = q.Config.SchedulerName
	if err := c.without(q.Without); err != nil {
		return nil, err
	}
	if err := c.add(q.AddNodes, q.Like); err != nil {
		return nil, err
	}
	if q.Job != nil {
		c.remove(q.Job.Namespace, q.Job.Name)
		c.submit(q.Job, q.Requested, q.Config)
		return c, nil
	}
	return c, c.selectPending(q.Namespace, q.Name)
}

// selectPending selects a pending job.
func (c *cluster) selectPending(namespace, name string) error {
	for i, group := range c.PodGroups {
		if group.Namespace != namespace || group.Labels[v1.JobNameLabel] != name {
			continue
		}
		if group.Status.Phase == vcscheduling.PodGroupRunning {
			return plan.Errorf(plan.Refused, "plan %s: it has its nodes already: see kubectl paddle describe %[1]s", name)
		}
		group = group.DeepCopy()
		group.Status.Conditions = nil // they are of the time before
		c.PodGroups[i] = group
		c.wanted = group
		return nil
	}
	return plan.Errorf(plan.NotFound, "plan %s: not found: it has no pending PodGroup in namespace %s; a job that is not submitted is planned by -f FILE", name, namespace)
}

// Ideal returns where a job that has its nodes would run on an empty cluster. The snapshot's one PodGroup is the
// job's, and its pods are the job's pods. It is nil if the job would not fit there, for example because nodes were removed.
func Ideal(s *snapshot.Snapshot) (*report.Placement, error) {
	c := newCluster(s)
	c.wanted = c.PodGroups[0].DeepCopy()
	c.wanted.Status = vcscheduling.PodGroupStatus{Phase: vcscheduling.PodGroupInqueue}
	c.openQueue(c.wanted.Spec.Queue)
	c.Pods = slices.DeleteFunc(c.Pods, func(p *corev1.Pod) bool {
		return p.DeletionTimestamp != nil || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
	})
	for i, pod := range c.Pods {
		pod = pod.DeepCopy()
		pod.Spec.NodeName, pod.Status = "", corev1.PodStatus{Phase: corev1.PodPending}
		c.Pods[i], c.Scheduler = pod, pod.Spec.SchedulerName
	}
	r, err := simulate.Run(c.emptied(), simulate.Key(c.wanted))
	if err != nil || !c.fits(r) {
		return nil, err
	}
	return describe.Placement(r.Groups[simulate.Key(c.wanted)]), nil
}

// Tiers returns the tiers of the scheduler's plugin: by labels that the user names, or HyperNodes, or the scheduler's labels.
func Tiers(n *plan.Network) *plan.Tiers {
	hypers, labels := n.HyperNodes, usedLabels(n.Nodes, n.SchedulerLabels)
	if len(n.Labels) > 0 {
		hypers, labels = nil, n.Labels
	}
	view, err := topology.ViewOf(n.Nodes, hypers)
	tiers, source, notes := topology.Tiers(topology.Options{Labels: labels}, view)
	if err != nil {
		notes = append(notes, strings.Split(err.Error(), "\n")...)
	}
	found := &plan.Tiers{Source: string(source), Notes: notes}
	for _, tier := range tiers {
		found.Tiers = append(found.Tiers, plan.Tier(tier))
		if tier.Name == topology.NVLinkTier {
			found.Notes = append(found.Notes, "NVLink domains are those of the label "+topology.CliqueLabel)
		}
	}
	return found
}

// usedLabels returns the labels that a node has, and all if no node has any: a configuration may name those of many clusters.
func usedLabels(nodes []*corev1.Node, labels []string) []string {
	used := slices.DeleteFunc(slices.Clone(labels), func(key string) bool {
		return !slices.ContainsFunc(nodes, func(node *corev1.Node) bool { return node.Labels[key] != "" })
	})
	if len(used) == 0 {
		return labels
	}
	return used
}

// emptied returns the same cluster with nothing on it, and no quota used up.
func (c *cluster) emptied() *simulate.Cluster {
	bare, own := c.alone(), simulate.Key(c.wanted)
	bare.Quotas, bare.PodGroups = nil, []*vcscheduling.PodGroup{c.wanted}
	bare.Pods = slices.DeleteFunc(bare.Pods, func(p *corev1.Pod) bool { return groupKey(p) != own })
	return bare
}

// alone returns the same cluster without the other pending jobs.
func (c *cluster) alone() *simulate.Cluster {
	bare, own := c.Cluster, simulate.Key(c.wanted)
	bare.Coming = map[string][]*corev1.Pod{own: c.Coming[own]}
	bare.Pods = slices.DeleteFunc(slices.Clone(bare.Pods), func(p *corev1.Pod) bool { return p.Spec.NodeName == "" && groupKey(p) != own })
	bare.PodGroups = slices.DeleteFunc(slices.Clone(bare.PodGroups), func(g *vcscheduling.PodGroup) bool {
		return g != c.wanted && g.Status.Phase != vcscheduling.PodGroupRunning
	})
	return &bare
}

// fits reports whether the gang had its nodes at the end of a simulation.
func (c *cluster) fits(r *simulate.Result) bool {
	bound := len(r.Bound[simulate.Key(c.wanted)])
	return bound > 0 && bound >= int(c.wanted.Spec.MinMember)
}

// fill adds the result of a simulation to the plan.
func (c *cluster) fill(p *plan.Plan, r *simulate.Result) {
	own := simulate.Key(c.wanted)
	p.Fits = c.fits(r)
	p.Evicted = c.gangs(r.Evicted)
	for _, key := range slices.Sorted(maps.Keys(r.Bound)) {
		if namespace, _, _ := strings.Cut(key, "/"); key != own {
			p.First = append(p.First, plan.Gang{Namespace: namespace, Name: c.name(key), Pods: len(r.Bound[key])})
		}
	}
	if !p.Fits {
		p.Why = whyPending(r.Groups[own])
		return
	}
	placed := r.Placements[own]
	if p.Unit = plan.Sizes; placed.InBytes {
		p.Unit = plan.Bytes
	}
	for i, tier := range placed.Tiers {
		if i == 0 || tier.Name != "cluster" { // nothing leaves the cluster
			p.Traffic = append(p.Traffic, plan.Traffic{Tier: tier.Name, Now: tier.Crossing})
		}
	}
	p.Where = where(r.Groups[own])
	pods := slices.DeleteFunc(slices.Clone(c.Pods), func(p *corev1.Pod) bool { return groupKey(p) != own })
	p.Roles = roles(append(pods, c.Coming[own]...), r.Bound[own], placed.Domains)
}

// compare adds the result on the empty cluster to the plan.
func (c *cluster) compare(p *plan.Plan, r *simulate.Result) {
	own := simulate.Key(c.wanted)
	if p.Empty.Fits = c.fits(r); !p.Empty.Fits {
		p.Empty.Why = whyPending(r.Groups[own])
		return
	}
	p.Empty.Where = where(r.Groups[own])
	best := map[string]float64{}
	for _, tier := range r.Placements[own].Tiers {
		best[tier.Name] = tier.Crossing
	}
	for i := range p.Traffic {
		if amount, ok := best[p.Traffic[i].Tier]; ok {
			p.Traffic[i].Best = &amount
		}
	}
}

// missing returns that the queue, whose jobs Volcano then ignores, or the PriorityClass that the job names does not exist.
func (c *cluster) missing(s *snapshot.Snapshot) (why []describe.Sentence) {
	spec := &c.wanted.Spec
	if s.Lacks(snapshot.Queues) {
		c.openQueue(spec.Queue)
	} else if !c.hasQueue(spec.Queue) {
		why = lacks("queue", spec.Queue, "queue")
	}
	known := spec.PriorityClassName == "" || s.Lacks(snapshot.PriorityClasses) ||
		slices.ContainsFunc(c.PriorityClasses, func(one *schedulingv1.PriorityClass) bool { return one.Name == spec.PriorityClassName })
	if !known {
		why = append(why, lacks("PriorityClass", spec.PriorityClassName, "priorityClass")...)
	}
	return why
}

func lacks(kind, name, field string) []describe.Sentence {
	return []describe.Sentence{
		{About: describe.AboutReason, Text: "There is no " + kind + " " + name + "."},
		{About: describe.AboutHelp, Text: "Name one that there is in spec.schedulingPolicy." + field + "."},
	}
}

// whyPending returns why a gang waits, as the plugin reports it, or else Volcano.
func whyPending(group *vcscheduling.PodGroup) []describe.Sentence {
	if why := describe.Unplaced(group); group == nil || len(why) > 0 {
		return why
	}
	for _, c := range group.Status.Conditions {
		if c.Type == vcscheduling.PodGroupUnschedulableType {
			return []describe.Sentence{{About: describe.AboutReason, Text: c.Message}}
		}
	}
	return nil
}

// where returns where a gang runs, as the plugin reports it.
func where(group *vcscheduling.PodGroup) string {
	return append(describe.Place(group), "")[0]
}

// roles returns the places of pods by role.
func roles(pods []*corev1.Pod, bound, domains map[string]string) (all []plan.Role) {
	places := map[string]map[string]int{} // pods by role and node, "" for none
	for _, pod := range pods {
		role := pod.Annotations[vcbatch.TaskSpecKey]
		if places[role] == nil {
			places[role] = map[string]int{}
		}
		places[role][bound[pod.Name]]++
	}
	for _, name := range slices.Sorted(maps.Keys(places)) {
		role := plan.Role{Name: name}
		for node, n := range places[name] {
			if role.Pods += n; node != "" {
				role.Places = append(role.Places, plan.Place{Node: node, Domain: domains[node], Pods: n})
			}
		}
		slices.SortFunc(role.Places, func(a, b plan.Place) int { return cmp.Or(cmp.Compare(a.Domain, b.Domain), cmp.Compare(a.Node, b.Node)) })
		all = append(all, role)
	}
	return all
}

// gangs returns pods by the job that they belong to.
func (c *cluster) gangs(pods []*corev1.Pod) (all []plan.Gang) {
	for _, pod := range pods {
		name := pod.Name
		if pod.Annotations[vcscheduling.KubeGroupNameAnnotationKey] != "" {
			name = c.name(groupKey(pod))
		}
		at := slices.IndexFunc(all, func(g plan.Gang) bool { return g.Namespace == pod.Namespace && g.Name == name })
		if at < 0 {
			all, at = append(all, plan.Gang{Namespace: pod.Namespace, Name: name}), len(all)
		}
		all[at].Pods++
	}
	slices.SortFunc(all, func(a, b plan.Gang) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// name returns the PaddleJob of a PodGroup, or else its owner.
func (c *cluster) name(key string) string {
	_, name, _ := strings.Cut(key, "/")
	for _, group := range c.PodGroups {
		if simulate.Key(group) != key {
			continue
		}
		if job := group.Labels[v1.JobNameLabel]; job != "" {
			return job
		}
		if len(group.OwnerReferences) > 0 {
			return group.OwnerReferences[0].Name
		}
	}
	return name
}
