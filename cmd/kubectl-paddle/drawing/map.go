// SPDX-License-Identifier: Apache-2.0

// Package drawing draws jobs into a cluster's topology, as text, a picture or a page. It makes no API calls and reads no clock; equal
// objects give equal bytes.
package drawing

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/plan"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// Objects are what is drawn. All but Network.Nodes and Tiers may be missing.
type Objects struct {
	Network plan.Network
	// Tiers are those of Network.
	Tiers  *plan.Tiers
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
	// chosen is the highlighted job, -1 for none.
	chosen int
	// partial reports that pods of some namespaces could not be read.
	partial bool
}

// Job is a job of the legend.
type Job struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Sign stands for the job in text and on nodes; a job without nodes has none.
	Sign  string `json:"sign,omitempty"`
	Phase string `json:"phase,omitempty"`
	// Place is where the scheduler reports it to be, or else how many pods it has on how many nodes.
	Place []string `json:"place,omitempty"`
	// pods is how many pods of the job have nodes, and nodes are these.
	pods  int
	nodes map[string]bool
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
}

// Node is one machine.
type Node struct {
	Name string `json:"name"`
	// State is why no pod is placed on it, empty if some may be.
	State string  `json:"state,omitempty"`
	Total Amounts `json:"total"`
	// Free is unset where not all pods may be read.
	Free *Amounts `json:"free,omitempty"`
	// Pods are those that hold something of the node, those of jobs first.
	Pods []*Pod `json:"pods,omitempty"`
}

// Pod is one pod on its node.
type Pod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Job is empty for pods that are not a PaddleJob's.
	Job   string  `json:"job,omitempty"`
	Role  string  `json:"role,omitempty"`
	Holds Amounts `json:"holds"`
	// owner is the position of its job, or others.
	owner int
}

// Amounts are what a node has, or a pod holds.
type Amounts struct {
	// GPUs are accelerators of any make.
	GPUs      int64 `json:"gpus"`
	MilliCPUs int64 `json:"milliCPUs"`
}

func (a *Amounts) add(b Amounts) {
	a.GPUs += b.GPUs
	a.MilliCPUs += b.MilliCPUs
}

// racks calls a function for every domain that has nodes itself, with those above it, the cluster first.
func (d *Domain) racks(above []*Domain, visit func(above []*Domain, rack *Domain)) {
	if len(d.Nodes) > 0 {
		visit(above, d)
	}
	for _, b := range d.Domains {
		b.racks(append(above[:len(above):len(above)], d), visit)
	}
}
