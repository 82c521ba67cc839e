// SPDX-License-Identifier: Apache-2.0

package drawing

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/config"
)

// others owns pods that are no PaddleJob's.
const others = -1

// New returns the map of a cluster.
func New(o *Objects) *Map {
	m := &Map{At: o.At.UTC().Truncate(time.Second), Source: o.Tiers.Source, Notes: o.Tiers.Notes, Unread: o.Unread, partial: o.Partial}
	pods := slices.DeleteFunc(slices.Clone(o.Pods), func(pod *corev1.Pod) bool {
		return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed || pod.Spec.NodeName == ""
	})
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return cmp.Compare(key(a.Namespace, a.Name), key(b.Namespace, b.Name)) })
	at := m.list(o, pods)
	on := map[string][]*Pod{}
	for _, pod := range pods {
		p := &Pod{Namespace: pod.Namespace, Name: pod.Name, Holds: amountsOf(resource.PodRequests(pod, resource.PodResourcesOptions{})), owner: others}
		if name := pod.Labels[v1.JobNameLabel]; name != "" {
			p.owner, p.Job, p.Role = at[key(pod.Namespace, name)], name, observed.NewRolePod(pod).Role
		}
		on[pod.Spec.NodeName] = append(on[pod.Spec.NodeName], p)
	}
	for _, tier := range o.Tiers.Tiers {
		m.Tiers = append(m.Tiers, tier.Name)
	}
	m.Cluster = &Domain{}
	nodes := slices.Clone(o.Network.Nodes)
	slices.SortFunc(nodes, func(a, b *corev1.Node) int { return CompareNatural(a.Name, b.Name) })
	for _, node := range nodes {
		domain := m.Cluster
		for _, tier := range slices.Backward(o.Tiers.Tiers) {
			domain = domain.below(tier.Name, tier.Domains[node.Name])
		}
		domain.Nodes = append(domain.Nodes, m.node(node, on[node.Name]))
	}
	m.sum(m.Cluster)
	return m
}

func key(namespace, name string) string { return namespace + "/" + name }

// list lists the jobs, those that have nodes first, and returns where each is.
func (m *Map) list(o *Objects, pods []*corev1.Pod) (at map[string]int) {
	found := map[string]*Job{}
	add := func(namespace, name string) *Job {
		job := found[key(namespace, name)]
		if job == nil {
			job = &Job{Namespace: namespace, Name: name, nodes: map[string]bool{}}
			found[key(namespace, name)] = job
			m.Jobs = append(m.Jobs, job)
		}
		return job
	}
	for _, pod := range pods {
		if name := pod.Labels[v1.JobNameLabel]; name != "" {
			job := add(pod.Namespace, name)
			job.pods++
			job.nodes[pod.Spec.NodeName] = true
		}
	}
	for _, job := range o.Jobs {
		chosen := job.Namespace == o.Namespace && job.Name == o.Name
		if found[key(job.Namespace, job.Name)] != nil || chosen || !observed.Finished(job) {
			add(job.Namespace, job.Name).Phase = string(job.Status.Phase)
		}
	}
	for _, group := range o.Groups {
		if job := found[key(group.Namespace, group.Labels[v1.JobNameLabel])]; job != nil && job.pods > 0 {
			job.Place = append(job.Place, describe.Place(group)...)
		}
	}
	slices.SortFunc(m.Jobs, func(a, b *Job) int {
		return cmp.Or(cmp.Compare(min(b.pods, 1), min(a.pods, 1)), cmp.Compare(key(a.Namespace, a.Name), key(b.Namespace, b.Name)))
	})
	at, m.chosen = map[string]int{}, -1
	for i, job := range m.Jobs {
		at[key(job.Namespace, job.Name)] = i
		if job.Namespace == o.Namespace && job.Name == o.Name {
			m.chosen = i
		}
		if job.pods == 0 {
			continue
		}
		job.Sign = signs[min(i, len(signs)-1):][:1]
		if len(job.Place) == 0 {
			job.Place = []string{describe.Count(job.pods, "pod") + " on " + describe.Count(len(job.nodes), "node")}
		}
	}
	return at
}

// signs stand for jobs. With more jobs than these, the last ones share the last one.
const signs = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789*"

// node returns a node with its pods, those of jobs first.
func (m *Map) node(node *corev1.Node, pods []*Pod) *Node {
	n := &Node{Name: node.Name, State: stateOf(node), Total: amountsOf(node.Status.Allocatable), Pods: pods}
	slices.SortStableFunc(n.Pods, func(a, b *Pod) int { return cmp.Compare(uint(a.owner), uint(b.owner)) }) //nolint:gosec // others come last
	if !m.partial {
		free := n.Total
		for _, p := range n.Pods {
			free.GPUs, free.MilliCPUs = max(free.GPUs-p.Holds.GPUs, 0), max(free.MilliCPUs-p.Holds.MilliCPUs, 0)
		}
		n.Free = &free
	}
	return n
}

// stateOf returns why no pod is placed on a node, "" if some may be.
func stateOf(node *corev1.Node) string {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue {
			return "not ready"
		}
	}
	if node.Spec.Unschedulable {
		return "cordoned"
	}
	return ""
}

// accelerators are the resources that are counted as GPUs.
var accelerators = config.Default().Accelerators

func amountsOf(list corev1.ResourceList) Amounts {
	a := Amounts{MilliCPUs: list.Cpu().MilliValue()}
	for _, name := range accelerators {
		if q, ok := list[corev1.ResourceName(name)]; ok {
			a.GPUs += q.Value()
		}
	}
	return a
}

// below returns the domain of a name, and adds it if there is none.
func (d *Domain) below(tier, name string) *Domain {
	for _, b := range d.Domains {
		if b.Name == name {
			return b
		}
	}
	b := &Domain{Tier: tier, Name: name}
	d.Domains = append(d.Domains, b)
	return b
}

// sum orders the domains below by name, the unknown one last, and adds up what they have.
func (m *Map) sum(d *Domain) {
	slices.SortFunc(d.Domains, func(a, b *Domain) int {
		if (a.Name == "") != (b.Name == "") {
			return len(b.Name) - len(a.Name)
		}
		return CompareNatural(a.Name, b.Name)
	})
	free := Amounts{}
	for _, n := range d.Nodes {
		d.Size++
		d.Total.add(n.Total)
		if n.Free != nil && n.State == "" {
			free.add(*n.Free)
		}
	}
	for _, b := range d.Domains {
		m.sum(b)
		d.Size += b.Size
		d.Total.add(b.Total)
		if b.Free != nil {
			free.add(*b.Free)
		}
	}
	if !m.partial {
		d.Free = &free
	}
}

// CompareNatural orders names by the numbers in them: rack-2 comes before rack-10.
func CompareNatural(a, b string) int {
	return cmp.Or(cmp.Compare(padded(a), padded(b)), cmp.Compare(a, b))
}

var number = regexp.MustCompile("[0-9]+")

// padded returns a name with all numbers in it of one length.
func padded(name string) string {
	return number.ReplaceAllStringFunc(name, func(digits string) string { return strings.Repeat("0", max(20-len(digits), 0)) + digits })
}

// Who has a cell if no pod that was read has it: nobody, or perhaps a pod that could not be read.
const (
	free    = -2
	unknown = -3
)

// eighths are the cells of a node that has no GPUs: shares of its CPUs.
const eighths = 8

// cells returns who has each cell of a node, from left to right. Which of its GPUs a pod has is not known.
func (m *Map) cells(n *Node) (owners []int) {
	total := eighths
	if n.Total.GPUs > 0 {
		total = int(n.Total.GPUs)
		for _, p := range n.Pods {
			owners = append(owners, slices.Repeat([]int{p.owner}, int(p.Holds.GPUs))...)
		}
		owners = owners[:min(len(owners), total)]
	} else {
		owners = shares(n)
	}
	rest := free
	if m.partial {
		rest = unknown
	}
	return append(owners, slices.Repeat([]int{rest}, total-len(owners))...)
}

// shares returns who has the eighths of a node's CPUs. Each job that has a pod there has at least one, if there are enough.
func shares(n *Node) (owners []int) {
	sum := int64(0)
	for i, p := range n.Pods {
		sum += p.Holds.MilliCPUs
		if i+1 < len(n.Pods) && n.Pods[i+1].owner == p.owner {
			continue
		}
		to := eighths
		if n.Total.MilliCPUs > 0 {
			to = int(min((sum*eighths+n.Total.MilliCPUs/2)/n.Total.MilliCPUs, eighths))
		}
		if p.owner != others {
			to = min(max(to, len(owners)+1), eighths)
		}
		owners = append(owners, slices.Repeat([]int{p.owner}, max(to-len(owners), 0))...)
	}
	return owners
}

// beside returns the jobs that have pods without GPUs on a node with GPUs.
func beside(n *Node) (owners []int) {
	for _, p := range n.Pods {
		if n.Total.GPUs > 0 && p.Holds.GPUs == 0 && p.owner != others && !slices.Contains(owners, p.owner) {
			owners = append(owners, p.owner)
		}
	}
	return owners
}
