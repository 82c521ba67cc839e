// SPDX-License-Identifier: Apache-2.0

// Package plan asks the scheduler where PaddleJobs would be placed. The scheduler is in another program, paddle-simulator.
package plan

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
)

// Plan is where a job would be placed.
type Plan struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Taken is the time of the snapshot.
	Taken metav1.Time `json:"taken"`
	// Fits reports whether the job's gang would start now.
	Fits bool `json:"fits"`
	// Where is the scheduler's message about it.
	Where string `json:"where,omitempty"`
	// Roles are in the order of their names.
	Roles []Role `json:"roles,omitempty"`
	// Traffic is what a step of training sends, from the nodes up.
	Traffic []Traffic `json:"traffic,omitempty"`
	// Unit of the traffic: bytes, or sizes of the model.
	Unit string `json:"unit,omitempty"`
	// Why it does not fit, and what helps.
	Why []describe.Sentence `json:"why,omitempty"`
	// Empty is the same on the empty cluster.
	Empty Empty `json:"emptyCluster"`
	// First are pending jobs that would get their nodes at the same time. Blocked reports that the job would fit without them.
	First   []Gang `json:"first,omitempty"`
	Blocked bool   `json:"fitsWithoutThem,omitempty"`
	// Evicted are the jobs with pods that would be evicted, and Displaced those with pods on removed nodes.
	Evicted   []Gang `json:"evicted,omitempty"`
	Displaced []Gang `json:"displaced,omitempty"`
	// Notes are the assumptions of the plan.
	Notes []string `json:"notes,omitempty"`
}

// Units of traffic.
const (
	Bytes = "bytes"
	Sizes = "sizes of the model"
)

// Role is where the pods of one role would be placed.
type Role struct {
	Name string `json:"name"`
	Pods int    `json:"pods"`
	// Places are in the order of the network.
	Places []Place `json:"places,omitempty"`
}

// Place is a node, with how many pods of a role it has.
type Place struct {
	Node string `json:"node"`
	// Domain is the node's place in the network, from the outside in, such as block-0/rack-3.
	Domain string `json:"domain,omitempty"`
	Pods   int    `json:"pods"`
}

// Traffic is what a step of training sends between the domains of one tier.
type Traffic struct {
	Tier string  `json:"tier"`
	Now  float64 `json:"now"`
	// Best is the same on the empty cluster, if the job fits there.
	Best *float64 `json:"best,omitempty"`
}

// Empty is the plan on the empty cluster.
type Empty struct {
	Fits  bool                `json:"fits"`
	Where string              `json:"where,omitempty"`
	Why   []describe.Sentence `json:"why,omitempty"`
}

// Gang is a job or PodGroup of others, with so many of its pods.
type Gang struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Pods      int    `json:"pods"`
}
