// SPDX-License-Identifier: Apache-2.0

// Package drawing draws jobs into a cluster's topology, as a page, a picture or text: no API calls, no clock; equal objects give equal bytes.
package drawing

import (
	"time"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/topology"
)

// Map is a cluster with the jobs in it.
type Map struct {
	At time.Time `json:"at"`
	// Source is what the tiers come from, and Tiers are their names, nearest to the nodes first.
	Source topology.Source `json:"source"`
	Tiers  []string        `json:"tiers,omitempty"`
	// Notes say what is odd about the tiers, and Unread names what could not be read.
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

// Job is what the legend says of a job.
type Job struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Sign stands for the job in text and on nodes; a job without nodes has none.
	Sign  string `json:"sign,omitempty"`
	Phase string `json:"phase,omitempty"`
	// Roles are how many pods have nodes, of how many.
	Roles []Role `json:"roles,omitempty"`
	Nodes int    `json:"nodes"`
	// Spread is over how many domains of each tier, in the order of Tiers.
	Spread []int `json:"spread,omitempty"`
	// Place is where the scheduler reports it to be.
	Place []string `json:"place,omitempty"`
}

// Role is one role of a job.
type Role struct {
	Name   string `json:"name"`
	Placed int    `json:"placed"`
	// Wanted is 0 where the job itself could not be read.
	Wanted int `json:"wanted,omitempty"`
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
	Bytes     int64 `json:"bytes"`
	Pods      int64 `json:"pods"`
}

func (a *Amounts) add(b Amounts) {
	a.GPUs += b.GPUs
	a.MilliCPUs += b.MilliCPUs
	a.Bytes += b.Bytes
	a.Pods += b.Pods
}

// less returns what is left of amounts, never below zero.
func (a Amounts) less(b Amounts) Amounts {
	return Amounts{max(a.GPUs-b.GPUs, 0), max(a.MilliCPUs-b.MilliCPUs, 0), max(a.Bytes-b.Bytes, 0), max(a.Pods-b.Pods, 0)}
}

// each calls a function for every node below a domain, with the domains above it, the nearest last.
func (d *Domain) each(above []*Domain, visit func(above []*Domain, n *Node)) {
	for _, n := range d.Nodes {
		visit(above, n)
	}
	for _, b := range d.Domains {
		b.each(append(above[:len(above):len(above)], b), visit)
	}
}

// cards calls a function for every domain that has nodes itself, with those above it.
func (d *Domain) cards(above []*Domain, visit func(above []*Domain, card *Domain)) {
	if len(d.Nodes) > 0 {
		visit(above, d)
	}
	for _, b := range d.Domains {
		b.cards(append(above[:len(above):len(above)], d), visit)
	}
}
