// SPDX-License-Identifier: Apache-2.0

// Package plan simulates where PaddleJobs would be placed. The scheduler is in another program, paddle-simulator.
package plan

import (
	"bytes"
	"context"
	"encoding/json"
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
	Namespace string      `json:"namespace"`
	Name      string      `json:"name"`
	Taken     metav1.Time `json:"taken"` // of the snapshot
	Fits      bool        `json:"fits"`
	Where     string      `json:"where,omitempty"` // the scheduler's message
	Roles     []Role      `json:"roles,omitempty"`
	// Traffic is what a step of training sends, from the nodes up.
	Traffic []Traffic `json:"traffic,omitempty"`
	Unit    string    `json:"unit,omitempty"`
	// Why it does not fit, and what helps.
	Why   []describe.Sentence `json:"why,omitempty"`
	Empty Empty               `json:"emptyCluster"`
	// First are pending jobs that would get their nodes at the same time. Blocked reports that the job would fit without them.
	First   []Gang `json:"first,omitempty"`
	Blocked bool   `json:"fitsWithoutThem,omitempty"`
	// Evicted are the jobs with pods that would be evicted, and Displaced those with pods on removed nodes.
	Evicted   []Gang   `json:"evicted,omitempty"`
	Displaced []Gang   `json:"displaced,omitempty"`
	Notes     []string `json:"notes,omitempty"`
}

// Units of traffic.
const (
	Bytes = "bytes"
	Sizes = "sizes of the model"
)

// Role is where the pods of one role would be placed, in the order of the network.
type Role struct {
	Name   string  `json:"name"`
	Pods   int     `json:"pods"`
	Places []Place `json:"places,omitempty"`
}

// Place is a node, with how many pods of a role it has.
type Place struct {
	Node   string `json:"node"`
	Domain string `json:"domain,omitempty"` // from the outside in, such as block-0/rack-3
	Pods   int    `json:"pods"`
}

// Traffic is what a step of training sends between the domains of one tier.
type Traffic struct {
	Tier string   `json:"tier"`
	Now  float64  `json:"now"`
	Best *float64 `json:"best,omitempty"` // on the empty cluster, if the job fits there
}

// Empty is a plan on the empty cluster.
type Empty struct {
	Fits  bool                `json:"fits"`
	Where string              `json:"where,omitempty"`
	Why   []describe.Sentence `json:"why,omitempty"`
}

// Gang is a job or PodGroup of others, with the number of its pods.
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

	// AddNodes is the number of copies of the node Like, or of a node of the largest group, and Without are nodes that are removed.
	AddNodes int
	Like     string
	Without  []string
}

// ExitError is an error with the exit code of kubectl paddle. Without a message nothing is printed. The simulator sends it to kubectl paddle.
type ExitError struct {
	Code    int
	Message string
}

func (e *ExitError) Error() string { return e.Message }

// Errorf returns an ExitError.
func Errorf(code int, format string, args ...any) error {
	return &ExitError{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Exit codes; the help and deploy/docs/reference/kubectl-paddle.md list them.
const (
	Failed      = 1
	Usage       = 2
	NotFound    = 3
	Refused     = 4
	Waits       = 5
	Interrupted = 130 // as shells report programs that ^C ended
)

// Network is what the scheduler reads the tiers of the network from.
type Network struct {
	Nodes      []*corev1.Node
	HyperNodes []topologyv1alpha1.HyperNode
	// Labels name racks, blocks and so on, if the user names some; SchedulerLabels are those of the scheduler's configuration.
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

// Tier is one tier, with the domain of each node.
type Tier struct {
	Name    string
	Domains map[string]string
}

// Request is one question, of the program of a version: the field that is set.
type Request struct {
	Version  string
	Question *Question // requests a Plan
	Network  *Network  // requests Tiers
	// Alone is a cluster with one running job. It requests an Ideal: where the job would run on the empty cluster.
	Alone *snapshot.Snapshot
}

// Response is the answer to a Request, or an error.
type Response struct {
	Error *ExitError
	Plan  *Plan
	Tiers *Tiers
	// Ideal is nil if the job would not fit on the empty cluster.
	Ideal *report.Placement
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

// Simulator answers requests.
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
