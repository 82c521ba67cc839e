// SPDX-License-Identifier: Apache-2.0

package drawing

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	topologyv1alpha1 "volcano.sh/apis/pkg/apis/topology/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/config"
)

// Objects are what is drawn. All but Nodes may be missing.
type Objects struct {
	Nodes      []*corev1.Node
	HyperNodes []topologyv1alpha1.HyperNode
	// Labels are the node labels that name racks, blocks and so on, if the user asks for some, and SchedulerLabels those of the
	// scheduler's configuration.
	Labels, SchedulerLabels []string

	Pods   []*corev1.Pod
	Jobs   []*v1.PaddleJob
	Groups []*vcscheduling.PodGroup
	// Partial reports that pods of some namespaces could not be read. Unread names all that could not.
	Partial bool
	Unread  []string
	// Namespace and Name are those of the highlighted job, or empty.
	Namespace, Name string
	At              time.Time
}

// others owns pods that are no PaddleJob's.
const others = -1

// New returns the map of a cluster.
func New(o *Objects) *Map {
	m := &Map{At: o.At.UTC().Truncate(time.Second), Unread: o.Unread, partial: o.Partial}
	tiers := m.tiers(o)
	pods := slices.DeleteFunc(slices.Clone(o.Pods), func(pod *corev1.Pod) bool {
		return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed || pod.Spec.NodeName == ""
	})
	slices.SortFunc(pods, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	at := m.list(o, pods)
	m.sign()
	on := map[string][]*Pod{}
	for _, pod := range pods {
		p := &Pod{Namespace: pod.Namespace, Name: pod.Name, Holds: podAmounts(pod), owner: others}
		if job, ok := at[key(pod.Namespace, pod.Labels[keys.JobName])]; ok {
			p.owner, p.Job, p.Role = job, m.Jobs[job].Name, observed.NewRolePod(pod).Role
		}
		on[pod.Spec.NodeName] = append(on[pod.Spec.NodeName], p)
	}
	m.Cluster = m.tree(o.Nodes, tiers, on)
	m.spread()
	return m
}

func key(namespace, name string) string { return namespace + "/" + name }

// list lists the jobs, those that have nodes first, and returns where each is.
func (m *Map) list(o *Objects, pods []*corev1.Pod) map[string]int {
	found := map[string]*Job{}
	placed := map[string]map[string]int{}
	add := func(namespace, name string) *Job {
		job := found[key(namespace, name)]
		if job == nil {
			job = &Job{Namespace: namespace, Name: name}
			found[key(namespace, name)] = job
			m.Jobs = append(m.Jobs, job)
		}
		return job
	}
	for _, pod := range pods {
		if name := pod.Labels[keys.JobName]; name != "" {
			k := key(pod.Namespace, name)
			if add(pod.Namespace, name); placed[k] == nil {
				placed[k] = map[string]int{}
			}
			placed[k][observed.NewRolePod(pod).Role]++
		}
	}
	for _, job := range o.Jobs {
		chosen := job.Namespace == o.Namespace && job.Name == o.Name
		if j := found[key(job.Namespace, job.Name)]; j != nil || chosen || !observed.Finished(job) {
			m.describe(add(job.Namespace, job.Name), job, o, placed[key(job.Namespace, job.Name)])
		}
	}
	for k, job := range found {
		if len(job.Roles) == 0 {
			job.Roles = rolesOf(nil, placed[k])
		}
	}
	slices.SortFunc(m.Jobs, func(a, b *Job) int {
		p, q := placed[key(a.Namespace, a.Name)] == nil, placed[key(b.Namespace, b.Name)] == nil
		if p != q {
			return map[bool]int{true: 1, false: -1}[p]
		}
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	at := map[string]int{}
	m.chosen = -1
	for i, job := range m.Jobs {
		at[key(job.Namespace, job.Name)] = i
		if job.Namespace == o.Namespace && job.Name == o.Name {
			m.chosen = i
		}
	}
	return at
}

// describe adds what the job itself and its PodGroup report.
func (m *Map) describe(to *Job, job *v1.PaddleJob, o *Objects, placed map[string]int) {
	to.Phase = string(job.Status.Phase)
	to.Roles = rolesOf(job, placed)
	for _, group := range o.Groups {
		if group.Namespace == job.Namespace && group.Labels[keys.JobName] == job.Name && placed != nil {
			if to.Place = describe.Place(group); len(to.Place) > 0 {
				return
			}
		}
	}
}

func rolesOf(job *v1.PaddleJob, placed map[string]int) (roles []Role) {
	for _, role := range observed.Roles {
		r := Role{Name: role, Placed: placed[role]}
		if job != nil {
			if spec := observed.Spec(job, role); spec != nil {
				r.Wanted = int(spec.Replicas)
			}
		}
		if r.Placed+r.Wanted > 0 {
			roles = append(roles, r)
		}
	}
	return roles
}

// node returns a node with its pods, those of jobs first.
func (m *Map) node(node *corev1.Node, pods []*Pod) *Node {
	n := &Node{Name: node.Name, State: stateOf(node), Total: amountsOf(node.Status.Allocatable), Pods: pods}
	slices.SortStableFunc(n.Pods, func(a, b *Pod) int {
		if (a.owner == others) != (b.owner == others) {
			return b.owner - a.owner
		}
		return cmp.Compare(a.owner, b.owner)
	})
	if !m.partial {
		taken := Amounts{}
		for _, p := range n.Pods {
			taken.add(p.Holds)
		}
		left := n.Total.less(taken)
		n.Free = &left
	}
	return n
}

// spread counts the nodes and domains of each job. A node whose domain is not known counts as apart from all others.
func (m *Map) spread() {
	type place struct {
		job, tier int
		in        any // a *Domain, or a *Node
	}
	seen := map[place]bool{}
	isNew := func(p place) bool {
		known := seen[p]
		seen[p] = true
		return !known
	}
	m.Cluster.each(nil, func(above []*Domain, n *Node) {
		for _, p := range n.Pods {
			if p.owner == others || !isNew(place{p.owner, len(m.Tiers), n}) {
				continue
			}
			job := m.Jobs[p.owner]
			job.Nodes++
			if job.Spread == nil {
				job.Spread = make([]int, len(m.Tiers))
			}
			for depth, d := range above {
				at := place{p.owner, len(m.Tiers) - 1 - depth, d}
				if d.Name == "" {
					at.in = n
				}
				if isNew(at) {
					job.Spread[at.tier]++
				}
			}
		}
	})
}

// podAmounts returns what a pod takes of its node.
func podAmounts(pod *corev1.Pod) Amounts {
	a := amountsOf(resource.PodRequests(pod, resource.PodResourcesOptions{}))
	a.Pods = 1
	return a
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
	a := Amounts{MilliCPUs: list.Cpu().MilliValue(), Bytes: list.Memory().Value(), Pods: list.Pods().Value()}
	for _, name := range accelerators {
		if q, ok := list[corev1.ResourceName(name)]; ok {
			a.GPUs += q.Value()
		}
	}
	return a
}
