// SPDX-License-Identifier: Apache-2.0

// Package migrate finds what changes if the controller takes over the PaddleJobs of paddle-operator: the outcome for each job, by the
// controller's own rules, and the steps of the migration. It makes no API calls.
package migrate

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/lifecycle"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

// Outcome is what becomes of a job.
type Outcome string

// Outcomes.
const (
	AlreadyManaged Outcome = "AlreadyManaged" // the controller runs it
	Finished       Outcome = "Finished"       // it has ended
	KeepsRunning   Outcome = "KeepsRunning"   // its pods finish as they were started
	Restarts       Outcome = "Restarts"       // its pods are deleted, and Volcano creates others
	Starts         Outcome = "Starts"         // it has no pods yet, and Volcano creates them
	StaysSuspended Outcome = "StaysSuspended"
	Deleting       Outcome = "Deleting"
	// Refused jobs do not run until their spec, or the cluster, is changed. Their pods are deleted if they cannot finish.
	Refused Outcome = "Refused"
)

// Words returns the outcome in words, such as "keeps running".
func (o Outcome) Words() string {
	return strings.ToLower(capital.ReplaceAllString(string(o), "$1 $2"))
}

var capital = regexp.MustCompile("([a-z])([A-Z])")

// Assessment is what would become of one job.
type Assessment struct {
	Namespace string  `json:"namespace"`
	Name      string  `json:"name"`
	Outcome   Outcome `json:"outcome"`
	// Message explains the outcome.
	Message string `json:"message"`
	// Notes are other differences.
	Notes []string `json:"notes,omitempty"`
}

// Assess returns what the controller would do with a job that it sees for the first time.
func Assess(seen *observed.State, cfg builder.Config) Assessment {
	job := seen.Job
	plan := lifecycle.Decide(seen, cfg)
	a := Assessment{Namespace: job.Namespace, Name: job.Name}
	switch {
	case job.DeletionTimestamp != nil:
		a.Outcome, a.Message = Deleting, "it is being deleted; paddle-operator's finalizer is removed"
	case seen.VolcanoJob != nil:
		a.Outcome, a.Message = AlreadyManaged, "the controller runs it already"
	case observed.Finished(job):
		a.Outcome, a.Message = Finished, "it has ended, and stays so"
		if slices.ContainsFunc(plan.Actions, func(a lifecycle.Action) bool { _, deletes := a.(lifecycle.Delete); return deletes }) {
			a.Message += "; what paddle-operator left of it is deleted"
		}
	case plan.Suspended != nil:
		a.Outcome, a.Message = StaysSuspended, "it is suspended and stays so"
	case plan.Waiting != nil && plan.Waiting.Reason == lifecycle.ReasonTakingOver:
		a.restart(seen, cfg)
	case plan.Stalled != nil:
		a.refuse(plan.Stalled)
	case seen.Operator.Empty():
		a.Outcome, a.Message = Starts, fmt.Sprintf("it has no pods yet: Volcano creates its %d pods, and places all of them together", pods(job))
		a.note(plan.Warnings)
	default:
		a.Outcome, a.Message = KeepsRunning, fmt.Sprintf("its %d pods keep running until they end, as paddle-operator started them",
			len(seen.Operator.Pods))
	}
	if plan.Waiting != nil && plan.Waiting.Reason != lifecycle.ReasonTakingOver {
		a.note([]builder.Cause{*plan.Waiting})
	}
	return a
}

// restart fills in a job whose pods cannot finish, and what follows.
func (a *Assessment) restart(seen *observed.State, cfg builder.Config) {
	a.Outcome = Restarts
	a.Message = fmt.Sprintf("a pod is missing or has failed, or the addresses are not known: "+
		"its %d pods are deleted, and Volcano starts the job again", len(seen.Operator.Pods))
	after := *seen
	after.Operator, after.Environment = observed.Operator{}, nil
	plan := lifecycle.Decide(&after, cfg)
	if plan.Stalled != nil {
		a.refuse(plan.Stalled)
		a.Message = fmt.Sprintf("its %d pods cannot finish and are deleted, and then %s", len(seen.Operator.Pods), a.Message)
	}
	a.note(plan.Warnings)
}

func (a *Assessment) refuse(why *builder.Cause) {
	a.Outcome, a.Message = Refused, fmt.Sprintf("it does not run (%s): %s", why.Reason, why.Message)
}

func (a *Assessment) note(all []builder.Cause) {
	for _, n := range all {
		a.Notes = append(a.Notes, n.Reason+": "+n.Message)
	}
}

// pods returns how many pods a complete job has.
func pods(job *v1.PaddleJob) int {
	sum := 0
	for _, role := range builder.Roles(job) {
		sum += int(role.Spec.Replicas)
	}
	return sum
}
