// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"fmt"
	"strings"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/lifecycle"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

// Fate is what becomes of a job in one word.
type Fate string

// Fates of jobs.
const (
	// Ours is one that the controller runs already.
	Ours Fate = "Ours"
	// StaysFinished is one that has ended.
	StaysFinished Fate = "StaysFinished"
	// RunsOn is one whose pods are left to finish as they were started.
	RunsOn Fate = "RunsOn"
	// StartsAnew is one whose pods are deleted and made again by Volcano.
	StartsAnew Fate = "StartsAnew"
	// Begins is one that has nothing yet, and is made by Volcano.
	Begins Fate = "Begins"
	// Refused is one that would not be run until its spec, or the cluster, is changed; what it has is deleted if it cannot finish.
	Refused Fate = "Refused"
	// Rests is one that is suspended.
	Rests Fate = "Rests"
	// Goes is one that is being deleted.
	Goes Fate = "Goes"
)

// Verdict is what would become of one job.
type Verdict struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Fate      Fate   `json:"fate"`
	// Says is the fate in a sentence.
	Says string `json:"says"`
	// Notes are what else would be different.
	Notes []string `json:"notes,omitempty"`
}

// Judge asks the controller's own rules what it would do with a job that it sees for the first time.
func Judge(seen *observed.State, cfg builder.Config) Verdict {
	job := seen.Job
	plan := lifecycle.Decide(seen, cfg)
	v := Verdict{Namespace: job.Namespace, Name: job.Name}
	switch {
	case job.DeletionTimestamp != nil:
		v.Fate, v.Says = Goes, "it is being deleted; paddle-operator's finalizer is taken off, so that it can go"
	case seen.VolcanoJob != nil:
		v.Fate, v.Says = Ours, "the controller runs it already"
	case observed.Finished(job):
		v.Fate, v.Says = StaysFinished, "it has ended and stays so; "+deletes(&plan)
	case plan.Suspended != nil:
		v.Fate, v.Says = Rests, "it is suspended and stays so"
	case plan.Waiting != nil && plan.Waiting.Reason == lifecycle.ReasonTakingOver:
		v.startsAnew(seen, cfg)
	case plan.Stalled != nil:
		v.refused(plan.Stalled)
	case seen.Operator.Empty():
		v.Fate, v.Says = Begins, fmt.Sprintf("it has no pods yet: Volcano makes and places its %d pods as one gang", pods(job))
		v.note(plan.Warnings)
	default:
		v.Fate, v.Says = RunsOn, fmt.Sprintf("its %d pods are well and know each other: they are left to finish as paddle-operator started them",
			len(seen.Operator.Pods))
	}
	if plan.Waiting != nil && plan.Waiting.Reason != lifecycle.ReasonTakingOver {
		v.note([]builder.Cause{*plan.Waiting})
	}
	return v
}

// startsAnew is about a job whose pods cannot finish; what it would be after that is judged too.
func (v *Verdict) startsAnew(seen *observed.State, cfg builder.Config) {
	v.Fate = StartsAnew
	v.Says = fmt.Sprintf("what paddle-operator made cannot finish (a pod is missing or has failed, or the addresses are not known): "+
		"its %d pods are deleted, and it starts anew under Volcano", len(seen.Operator.Pods))
	after := *seen
	after.Operator, after.Environment = observed.Operator{}, nil
	plan := lifecycle.Decide(&after, cfg)
	if plan.Stalled != nil {
		v.refused(plan.Stalled)
		v.Says = fmt.Sprintf("its %d pods cannot finish and are deleted, and then %s", len(seen.Operator.Pods), v.Says)
	}
	v.note(plan.Warnings)
}

func (v *Verdict) refused(why *builder.Cause) {
	v.Fate, v.Says = Refused, fmt.Sprintf("it is not run (%s): %s", why.Reason, why.Message)
}

func (v *Verdict) note(all []builder.Cause) {
	for _, notice := range all {
		v.Notes = append(v.Notes, notice.Reason+": "+notice.Message)
	}
}

// deletes is what a plan deletes, in words.
func deletes(plan *lifecycle.Plan) string {
	counts := map[lifecycle.Kind]int{}
	for _, action := range plan.Actions {
		if d, ok := action.(lifecycle.Delete); ok {
			counts[d.Kind]++
		}
	}
	var deleted []string
	for _, kind := range []lifecycle.Kind{lifecycle.KindPod, lifecycle.KindService, lifecycle.KindPodGroup, lifecycle.KindConfigMap} {
		if n := counts[kind]; n > 0 {
			deleted = append(deleted, fmt.Sprintf("%d %s(s)", n, kind))
		}
	}
	if len(deleted) == 0 {
		return "nothing of it is deleted"
	}
	return strings.Join(deleted, ", ") + " of it are deleted"
}

// pods is how many pods a job has when all are there.
func pods(job *v1.PaddleJob) int {
	sum := 0
	for _, role := range observed.Roles {
		if spec := observed.Spec(job, role); spec != nil {
			sum += spec.Replicas
		}
	}
	return sum
}
