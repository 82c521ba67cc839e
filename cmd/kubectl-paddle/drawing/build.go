// SPDX-License-Identifier: Apache-2.0

package drawing

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/story"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/tree"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

// Objects are what is drawn. All but Tree may be missing.
type Objects struct {
	Tree   *tree.Tree
	Pods   []*corev1.Pod
	Jobs   []*v1.PaddleJob
	Groups []*vcscheduling.PodGroup
	// Partly says that there may be pods which could not be read, and Unread names all that could not.
	Partly bool
	Unread []string
	// Namespace and Name are those of the job to be seen before all others, or empty.
	Namespace, Name string
	At              time.Time
}

// others owns pods that are no PaddleJob's.
const others = -1

// New makes the map of what was read.
func New(o *Objects) *Map {
	m := &Map{At: o.At.UTC().Truncate(time.Second), Source: o.Tree.Source, Tiers: o.Tree.Tiers, Notes: o.Tree.Notes, Unread: o.Unread, partly: o.Partly}
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
		p := &Pod{Namespace: pod.Namespace, Name: pod.Name, Holds: held(pod), owner: others}
		if job, ok := at[key(pod.Namespace, pod.Labels[keys.JobName])]; ok {
			p.owner, p.Job, p.Role = job, m.Jobs[job].Name, observed.NewRolePod(pod).Role
		}
		on[pod.Spec.NodeName] = append(on[pod.Spec.NodeName], p)
	}
	m.Cluster = m.domain(o.Tree.Root, on)
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
			add(pod.Namespace, name)
			k := key(pod.Namespace, name)
			if placed[k] == nil {
				placed[k] = map[string]int{}
			}
			placed[k][observed.NewRolePod(pod).Role]++
		}
	}
	for _, job := range o.Jobs {
		chosen := job.Namespace == o.Namespace && job.Name == o.Name
		if j := found[key(job.Namespace, job.Name)]; j != nil || chosen || !observed.Finished(job) {
			m.tell(add(job.Namespace, job.Name), job, o, placed[key(job.Namespace, job.Name)])
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

// tell adds what the job itself and its PodGroup say.
func (m *Map) tell(to *Job, job *v1.PaddleJob, o *Objects, placed map[string]int) {
	to.Phase = string(job.Status.Phase)
	to.Roles = rolesOf(job, placed)
	for _, group := range o.Groups {
		if group.Namespace == job.Namespace && group.Labels[keys.JobName] == job.Name && placed != nil {
			if to.Place = story.Place(group); len(to.Place) > 0 {
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
				r.Wanted = spec.Replicas
			}
		}
		if r.Placed+r.Wanted > 0 {
			roles = append(roles, r)
		}
	}
	return roles
}

// domain adds up a domain and what is below.
func (m *Map) domain(from *tree.Domain, on map[string][]*Pod) *Domain {
	d := &Domain{Tier: from.Tier, Name: from.Name}
	free := Amounts{}
	for _, node := range from.Nodes {
		n := m.node(node, on[node.Name])
		d.Nodes = append(d.Nodes, n)
		d.Size++
		d.Total.add(n.Total)
		if n.Free != nil && n.State == "" {
			free.add(*n.Free)
		}
	}
	for _, below := range from.Below {
		b := m.domain(below, on)
		d.Domains = append(d.Domains, b)
		d.Size += b.Size
		d.Total.add(b.Total)
		if b.Free != nil {
			free.add(*b.Free)
		}
	}
	if !m.partly {
		d.Free = &free
	}
	return d
}

func (m *Map) node(node *corev1.Node, pods []*Pod) *Node {
	n := &Node{Name: node.Name, State: stateOf(node), Total: amountsOf(node.Status.Allocatable), Pods: pods}
	slices.SortStableFunc(n.Pods, func(a, b *Pod) int {
		if (a.owner == others) != (b.owner == others) {
			return b.owner - a.owner
		}
		return cmp.Compare(a.owner, b.owner)
	})
	if !m.partly {
		taken := Amounts{}
		for _, p := range n.Pods {
			taken.add(p.Holds)
		}
		left := n.Total.less(taken)
		n.Free = &left
	}
	return n
}

// spread counts the nodes and domains of each job.
func (m *Map) spread() {
	nodes := make([]map[string]bool, len(m.Jobs))
	domains := make([][]map[string]bool, len(m.Jobs))
	for i := range m.Jobs {
		nodes[i] = map[string]bool{}
		domains[i] = make([]map[string]bool, len(m.Tiers))
		for tier := range m.Tiers {
			domains[i][tier] = map[string]bool{}
		}
	}
	m.Cluster.each(nil, func(above []*Domain, n *Node) {
		for _, p := range n.Pods {
			if p.owner == others {
				continue
			}
			nodes[p.owner][n.Name] = true
			path := ""
			for depth, d := range above {
				path += "/" + strings.ReplaceAll(d.Name, "/", "%2F")
				apart := path
				if d.Name == "" {
					apart = path + "/" + n.Name // counts as apart from all others
				}
				domains[p.owner][len(m.Tiers)-1-depth][apart] = true
			}
		}
	})
	for i, job := range m.Jobs {
		job.Nodes = len(nodes[i])
		if job.Nodes == 0 {
			continue
		}
		for tier := range m.Tiers {
			job.Spread = append(job.Spread, len(domains[i][tier]))
		}
	}
}
