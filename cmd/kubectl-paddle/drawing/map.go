// SPDX-License-Identifier: Apache-2.0

// Package drawing draws jobs into a cluster's topology, as text, a picture or a page. It makes no API calls and reads no clock; equal
// objects give equal bytes.
package drawing

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/plan"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/config"
)

// Objects are what is drawn. All but Network.Nodes and Tiers may be missing.
type Objects struct {
	Network plan.Network
	Tiers   *plan.Tiers // of Network
	Pods    []*corev1.Pod
	Jobs    []*v1.PaddleJob
	Groups  []*vcscheduling.PodGroup
	// Partial reports that pods of some namespaces could not be read. Unread names all that could not.
	Partial bool
	Unread  []string
	// Namespace and Name are those of the highlighted job, or empty.
	Namespace, Name string
	At              time.Time
}

// Map is a cluster with the jobs in it.
type Map struct {
	At time.Time `json:"at"`
	// Source is what the tiers come from, and Tiers are their names, nearest to the nodes first.
	Source string   `json:"source"`
	Tiers  []string `json:"tiers,omitempty"`
	// Notes are about what is missing or contradictory in the network, and Unread names what could not be read.
	Notes  []string `json:"notes,omitempty"`
	Unread []string `json:"unread,omitempty"`
	// Jobs are those that have nodes or want some.
	Jobs    []*Job  `json:"jobs"`
	Cluster *Domain `json:"cluster"`
	byKey   map[string]*Job
	chosen  *Job           // the highlighted job, nil for none
	racks   []*Domain      // the domains that have nodes themselves
	counts  map[string]int // of the domains that are known, by tier
}

// Job is a job of the legend.
type Job struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Sign stands for the job in text and on nodes; a job without nodes has none.
	Sign  string `json:"sign,omitempty"`
	Phase string `json:"phase,omitempty"`
	// Place is where the scheduler reports it to be, or else how many pods it has on how many nodes.
	Place []string        `json:"place,omitempty"`
	at    int             // its position among the jobs
	pods  int             // that have nodes
	nodes map[string]bool // of these pods
}

// Domain is one domain of a tier; the cluster itself has no tier and no name.
type Domain struct {
	Tier    string    `json:"tier,omitempty"`
	Name    string    `json:"name,omitempty"`
	Size    int       `json:"size"`
	Total   Amounts   `json:"total"`
	Free    *Amounts  `json:"free,omitempty"`
	Domains []*Domain `json:"domains,omitempty"`
	Nodes   []*Node   `json:"nodes,omitempty"`
	up      *Domain   // that it is in, nil for the cluster
}

// Node is one machine.
type Node struct {
	Name string `json:"name"`
	// State is why no pod is placed on it, empty if some may be.
	State string  `json:"state,omitempty"`
	Total Amounts `json:"total"`
	// Free is unset where not all pods may be read.
	Free *Amounts `json:"free,omitempty"`
	Pods []*Pod   `json:"pods,omitempty"`
}

// Pod is one pod on its node.
type Pod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Job is empty for pods that are not a PaddleJob's.
	Job   string  `json:"job,omitempty"`
	Role  string  `json:"role,omitempty"`
	Holds Amounts `json:"holds"`
	owner *Job    // its job, or others
}

// Amounts are what a node has, or a pod holds. GPUs are accelerators of any make.
type Amounts struct {
	GPUs      int64 `json:"gpus"`
	MilliCPUs int64 `json:"milliCPUs"`
}

func (a *Amounts) add(b Amounts) {
	a.GPUs += b.GPUs
	a.MilliCPUs += b.MilliCPUs
}

// Owners of cells that are no job's: others own the pods that are no PaddleJob's, unknown what perhaps has a pod that could not be read.
var others, free, unknown = &Job{Sign: "#", at: math.MaxInt}, &Job{Sign: "."}, &Job{Sign: "?"}

// New returns the map of a cluster.
func New(o *Objects) *Map {
	m := &Map{At: o.At.UTC().Truncate(time.Second), Source: o.Tiers.Source, Notes: o.Tiers.Notes, Unread: o.Unread}
	m.byKey, m.counts = map[string]*Job{}, map[string]int{}
	pods := slices.DeleteFunc(slices.Clone(o.Pods), func(pod *corev1.Pod) bool {
		return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed || pod.Spec.NodeName == ""
	})
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return cmp.Compare(key(a.Namespace, a.Name), key(b.Namespace, b.Name)) })
	on := map[string][]*Pod{}
	for _, pod := range pods {
		p := &Pod{Namespace: pod.Namespace, Name: pod.Name, Holds: amountsOf(resource.PodRequests(pod, resource.PodResourcesOptions{})), owner: others}
		if name := pod.Labels[v1.JobNameLabel]; name != "" {
			p.owner, p.Job, p.Role = m.job(pod.Namespace, name), name, observed.NewRolePod(pod).Role
			p.owner.pods++
			p.owner.nodes[pod.Spec.NodeName] = true
		}
		on[pod.Spec.NodeName] = append(on[pod.Spec.NodeName], p)
	}
	m.list(o)
	for _, tier := range o.Tiers.Tiers {
		m.Tiers = append(m.Tiers, tier.Name)
	}
	m.Cluster = &Domain{}
	if !o.Partial {
		m.Cluster.Free = &Amounts{}
	}
	for _, node := range slices.SortedFunc(slices.Values(o.Network.Nodes), o.compare) {
		n, domain := m.node(node, on[node.Name]), m.Cluster
		domain.add(n)
		for _, tier := range slices.Backward(o.Tiers.Tiers) {
			domain = m.below(domain, tier.Name, tier.Domains[node.Name])
			domain.add(n)
		}
		if len(domain.Nodes) == 0 {
			m.racks = append(m.racks, domain)
		}
		domain.Nodes = append(domain.Nodes, n)
	}
	return m
}

// compare orders nodes by their domains, from the outside in and the unknown ones last, and by their names.
func (o *Objects) compare(a, b *corev1.Node) int {
	for _, tier := range slices.Backward(o.Tiers.Tiers) {
		switch x, y := tier.Domains[a.Name], tier.Domains[b.Name]; {
		case x == y:
		case x == "" || y == "":
			return len(y) - len(x)
		default:
			return CompareNatural(x, y)
		}
	}
	return CompareNatural(a.Name, b.Name)
}

func key(namespace, name string) string { return namespace + "/" + name }

// job returns the job of a name, and adds it if there is none.
func (m *Map) job(namespace, name string) *Job {
	job := m.byKey[key(namespace, name)]
	if job == nil {
		job = &Job{Namespace: namespace, Name: name, nodes: map[string]bool{}}
		m.byKey[key(namespace, name)] = job
		m.Jobs = append(m.Jobs, job)
	}
	return job
}

// list adds the jobs without pods, and lists all, those that have nodes first.
func (m *Map) list(o *Objects) {
	for _, job := range o.Jobs {
		chosen := job.Namespace == o.Namespace && job.Name == o.Name
		if m.byKey[key(job.Namespace, job.Name)] != nil || chosen || !observed.Finished(job) {
			m.job(job.Namespace, job.Name).Phase = string(job.Status.Phase)
		}
	}
	for _, group := range o.Groups {
		if job := m.byKey[key(group.Namespace, group.Labels[v1.JobNameLabel])]; job != nil && job.pods > 0 {
			job.Place = append(job.Place, describe.Place(group)...)
		}
	}
	slices.SortFunc(m.Jobs, func(a, b *Job) int {
		return cmp.Or(cmp.Compare(min(b.pods, 1), min(a.pods, 1)), cmp.Compare(key(a.Namespace, a.Name), key(b.Namespace, b.Name)))
	})
	m.chosen = m.byKey[key(o.Namespace, o.Name)]
	for i, job := range m.Jobs {
		if job.at = i; job.pods == 0 {
			continue
		}
		job.Sign = signs[min(i, len(signs)-1):][:1]
		if len(job.Place) == 0 {
			job.Place = []string{describe.Count(job.pods, "pod") + " on " + describe.Count(len(job.nodes), "node")}
		}
	}
}

// signs stand for jobs. With more jobs than these, the last ones share the last one.
const signs = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789*"

// node returns a node with its pods, those of jobs first.
func (m *Map) node(node *corev1.Node, pods []*Pod) *Node {
	n := &Node{Name: node.Name, State: stateOf(node), Total: amountsOf(node.Status.Allocatable), Pods: pods}
	slices.SortStableFunc(n.Pods, func(a, b *Pod) int { return cmp.Compare(a.owner.at, b.owner.at) })
	if m.Cluster.Free != nil {
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
		q := list[corev1.ResourceName(name)]
		a.GPUs += q.Value()
	}
	return a
}

// below returns the domain of a name within another one, and adds it if there is none.
func (m *Map) below(d *Domain, tier, name string) *Domain {
	if at := slices.IndexFunc(d.Domains, func(b *Domain) bool { return b.Name == name }); at >= 0 {
		return d.Domains[at]
	}
	b := &Domain{Tier: tier, Name: name, up: d}
	if d.Free != nil {
		b.Free = &Amounts{}
	}
	if name != "" {
		m.counts[tier]++
	}
	d.Domains = append(d.Domains, b)
	return b
}

// add adds what a node has to a domain.
func (d *Domain) add(n *Node) {
	d.Size++
	d.Total.add(n.Total)
	if d.Free != nil && n.State == "" {
		d.Free.add(*n.Free)
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

// eighths are the cells of a node that has no GPUs: shares of its CPUs.
const eighths = 8

// cells returns the owner of each cell of a node, from left to right. Which of its GPUs a pod has is not known.
func (n *Node) cells() (owners []*Job) {
	total := eighths
	if n.Total.GPUs > 0 {
		total = int(n.Total.GPUs)
		for _, p := range n.Pods {
			owners = append(owners, slices.Repeat([]*Job{p.owner}, int(p.Holds.GPUs))...)
		}
		owners = owners[:min(len(owners), total)]
	} else {
		owners = shares(n)
	}
	rest := free
	if n.Free == nil {
		rest = unknown
	}
	return append(owners, slices.Repeat([]*Job{rest}, total-len(owners))...)
}

// shares returns the owners of the eighths of a node's CPUs. Each job that has a pod there has at least one, if there are enough.
func shares(n *Node) (owners []*Job) {
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
		owners = append(owners, slices.Repeat([]*Job{p.owner}, max(to-len(owners), 0))...)
	}
	return owners
}

// cpuJobs returns the jobs that have pods without GPUs on a node with GPUs.
func cpuJobs(n *Node) (owners []*Job) {
	for _, p := range n.Pods {
		if n.Total.GPUs > 0 && p.Holds.GPUs == 0 && p.owner != others && !slices.Contains(owners, p.owner) {
			owners = append(owners, p.owner)
		}
	}
	return owners
}
