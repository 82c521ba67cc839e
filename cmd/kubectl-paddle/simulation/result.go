// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"cmp"
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
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/simulate"
)

// emptied returns the same cluster with nothing on it, and no quota used up.
func (c *cluster) emptied() *simulate.Cluster {
	bare := c.alone()
	bare.Quotas = nil
	own := simulate.Key(c.wanted)
	bare.PodGroups = []*vcscheduling.PodGroup{c.wanted}
	bare.Pods = slices.DeleteFunc(slices.Clone(bare.Pods), func(p *corev1.Pod) bool { return groupKey(p) != own })
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
		if key != own {
			namespace, _, _ := strings.Cut(key, "/")
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
	p.Roles = roles(c.podsOfGang(own), r.Bound[own], placed.Domains)
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

// missing returns that the cluster does not have the queue or the PriorityClass that the job names. Volcano ignores jobs of such a
// queue, and the API server admits no pods of such a priority.
func (c *cluster) missing(s *snapshot.Snapshot) (why []describe.Sentence) {
	spec := &c.wanted.Spec
	if s.Lacks(snapshot.Queues) {
		c.openQueue(spec.Queue)
	} else if c.queue(spec.Queue) == nil {
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
	if group == nil {
		return nil
	}
	if why := describe.Unplaced(group); len(why) > 0 {
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
	if group == nil {
		return ""
	}
	place := describe.Place(group)
	if len(place) == 0 {
		return ""
	}
	return place[0]
}

// podsOfGang returns the pods of a PodGroup that exist or are to come.
func (c *cluster) podsOfGang(key string) (pods []*corev1.Pod) {
	for _, pod := range c.Pods {
		if groupKey(pod) == key {
			pods = append(pods, pod)
		}
	}
	return append(pods, c.Coming[key]...)
}

// roles returns the places of pods by role.
func roles(pods []*corev1.Pod, bound, domains map[string]string) (all []plan.Role) {
	counts, places := map[string]int{}, map[string]map[string]int{}
	for _, pod := range pods {
		role := pod.Annotations[vcbatch.TaskSpecKey]
		counts[role]++
		if places[role] == nil {
			places[role] = map[string]int{}
		}
		if node := bound[pod.Name]; node != "" {
			places[role][node]++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		role := plan.Role{Name: name, Pods: counts[name]}
		for node, n := range places[name] {
			role.Places = append(role.Places, plan.Place{Node: node, Domain: domains[node], Pods: n})
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
