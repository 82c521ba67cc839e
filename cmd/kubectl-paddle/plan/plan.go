// SPDX-License-Identifier: Apache-2.0

// Package plan asks the scheduler where PaddleJobs would be placed. The scheduler is in another program, paddle-simulator.
package plan

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	topologyv1alpha1 "volcano.sh/apis/pkg/apis/topology/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/describe"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/snapshot"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
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

// Question is where a job would be placed on a cluster, or on one with other nodes.
type Question struct {
	Snapshot *snapshot.Snapshot
	// Job is one that is not submitted, with its namespace. Without it, Name is one that waits.
	Job             *v1.PaddleJob
	Namespace, Name string
	// Requested and Config are those by which the controller creates the Volcano Job.
	Requested builder.PodGroupOverrides
	Config    builder.Config

	// AddNodes are so many copies of the node Like, or of a node of the largest group.
	AddNodes int
	Like     string
	// Without are nodes that are removed.
	Without []string
}

// ErrNotFound is the error of questions about what a snapshot does not have, and ErrPlaced that about a job that has its nodes.
var (
	ErrNotFound = errors.New("not found")
	ErrPlaced   = errors.New("it has its nodes already")

	kinds = []error{ErrNotFound, ErrPlaced}
)

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
	for _, err := range kinds {
		if err.Error() == f.Kind {
			return err
		}
	}
	return nil
}

// NewResponseError returns an error with the message and the kind of an error.
func NewResponseError(err error) *ResponseError {
	f := &ResponseError{Message: err.Error()}
	for _, kind := range kinds {
		if errors.Is(err, kind) {
			f.Kind = kind.Error()
		}
	}
	return f
}

// Requested returns what the PodGroup that the user made under the name of a job requests for it, if it is one of these.
func Requested(job *v1.PaddleJob, groups ...*vcscheduling.PodGroup) builder.PodGroupOverrides {
	for _, group := range groups {
		if group.Namespace == job.Namespace && group.Name == job.Name && metav1.GetControllerOf(group) == nil {
			return builder.PodGroupOverrides{MinMember: group.Spec.MinMember, Queue: group.Spec.Queue, PriorityClassName: group.Spec.PriorityClassName}
		}
	}
	return builder.PodGroupOverrides{}
}

// Simulator answers requests. Errors may wrap ErrNotFound and ErrPlaced.
type Simulator func(ctx context.Context, request *Request) (*Response, error)

// Program is the name of the program that has the scheduler in it.
const Program = "paddle-simulator"

// version is set by the linker in releases.
var version string

// Version returns the version of this program.
func Version() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return "unknown"
}

// RunProgram is the Simulator that runs Program.
func RunProgram(ctx context.Context, request *Request) (*Response, error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	program, err := find(executable)
	if err != nil {
		return nil, err
	}
	request.Version = Version()
	text, err := json.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("write the request to %s: %w", Program, err)
	}
	cmd := exec.CommandContext(ctx, program) //nolint:gosec // what find has found
	cmd.Stdin, cmd.Stderr = bytes.NewReader(text), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", program, err)
	}
	response := &Response{}
	if err := json.Unmarshal(out, response); err != nil {
		return nil, fmt.Errorf("read the answer of %s: %w", program, err)
	}
	if response.Error != nil {
		return nil, response.Error
	}
	return response, nil
}

// find finds Program in the folder of this program, or else in PATH.
func find(executable string) (string, error) {
	if target, err := filepath.EvalSymlinks(executable); err == nil {
		executable = target
	}
	if beside, err := exec.LookPath(filepath.Join(filepath.Dir(executable), Program)); err == nil {
		return beside, nil
	}
	found, err := exec.LookPath(Program)
	if err != nil {
		return "", fmt.Errorf("%s, which has the scheduler in it, is neither in the folder of %s nor in PATH: copy it there from where kubectl-paddle comes from (make kubectl builds both): %w",
			Program, filepath.Base(executable), err)
	}
	return found, nil
}
