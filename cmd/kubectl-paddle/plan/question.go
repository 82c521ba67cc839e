// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	topologyv1alpha1 "volcano.sh/apis/pkg/apis/topology/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/snapshot"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// Question is where a job would be placed on a cluster, or on one with other nodes.
type Question struct {
	Snapshot *snapshot.Snapshot
	// Job is one that is not submitted, with its namespace. Without it, Name is one that waits.
	Job             *v1.PaddleJob
	Namespace, Name string
	// Requested and Config are those by which the controller creates the Volcano Job.
	Requested builder.PodGroupOverrides
	Config    builder.Config

	// AddNodes are so many copies of Like, or of a node of the largest group.
	AddNodes int
	Like     string
	// Without are nodes that are removed.
	Without []string
}

// ErrNotFound is the error of questions about what a snapshot does not have.
var ErrNotFound = errors.New("not found")

// ErrPlaced is the error of questions about a job that has its nodes.
var ErrPlaced = errors.New("it has its nodes already")

// Network is what the scheduler reads the tiers of the network from.
type Network struct {
	Nodes      []*corev1.Node
	HyperNodes []topologyv1alpha1.HyperNode
	// Labels are the node labels that name racks, blocks and so on, if the user asks for some, and SchedulerLabels those of the
	// scheduler's configuration.
	Labels, SchedulerLabels []string
}

// Tiers are the tiers that the scheduler plans with, nearest to the nodes first.
type Tiers struct {
	// Source is what they come from: "hypernodes", "labels", or "flat" where there are none.
	Source string
	Tiers  []Tier
	// Notes are about what is missing or contradictory.
	Notes []string
}

// Tier is one tier. Domains are the domains of nodes, by the nodes' names.
type Tier struct {
	Name    string
	Domains map[string]string
}

// Request is one question: the field that is set.
type Request struct {
	// Version is that of the program that asks.
	Version string
	// Question asks for a Plan.
	Question *Question
	// Alone is a cluster with one running job. It asks for an Ideal: where the job would run on the empty cluster.
	Alone *snapshot.Snapshot
	// Network asks for Tiers.
	Network *Network
}

// Response is the answer to a Request.
type Response struct {
	// Error is why there is no answer.
	Error *ResponseError
	Plan  *Plan
	// Ideal is nil if the job would not fit on the empty cluster.
	Ideal *report.Placement
	Tiers *Tiers
}

// ResponseError is an error on its way from one program to another.
type ResponseError struct{ Message, Kind string }

func (f *ResponseError) Error() string { return f.Message }

// Unwrap returns the error of the kind.
func (f *ResponseError) Unwrap() error {
	for _, err := range []error{ErrNotFound, ErrPlaced} {
		if err.Error() == f.Kind {
			return err
		}
	}
	return nil
}

// NewResponseError returns an error with the message and the kind of an error.
func NewResponseError(err error) *ResponseError {
	f := &ResponseError{Message: err.Error()}
	for _, kind := range []error{ErrNotFound, ErrPlaced} {
		if errors.Is(err, kind) {
			f.Kind = kind.Error()
		}
	}
	return f
}

// OwnPodGroup returns the PodGroup of the user's own that has the name of a job, nil if there is none.
func OwnPodGroup(s *snapshot.Snapshot, namespace, name string) *vcscheduling.PodGroup {
	for _, group := range s.PodGroups {
		if group.Namespace == namespace && group.Name == name && metav1.GetControllerOf(group) == nil {
			return group
		}
	}
	return nil
}

// Requested returns what a PodGroup of the user's own, which may be nil, requests for its job.
func Requested(group *vcscheduling.PodGroup) builder.PodGroupOverrides {
	if group == nil {
		return builder.PodGroupOverrides{}
	}
	return builder.PodGroupOverrides{MinMember: group.Spec.MinMember, Queue: group.Spec.Queue, PriorityClassName: group.Spec.PriorityClassName}
}
