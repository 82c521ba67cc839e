// SPDX-License-Identifier: Apache-2.0

package story

import (
	"reflect"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

// Progress is how far a job has come, by its status alone.
type Progress struct {
	Namespace string   `json:"namespace"`
	Name      string   `json:"name"`
	Phase     v1.Phase `json:"phase,omitempty"`
	// Since is when the phase began.
	Since time.Time `json:"since"`
	// Ready are the pods of each role that run, of how many: 2/3.
	Ready    map[string]string `json:"ready,omitempty"`
	Restarts int32             `json:"restarts"`
	Queue    string            `json:"queue,omitempty"`
	// Ahead are the jobs that the queue takes before it, where that was asked for.
	Ahead string `json:"aheadInQueue,omitempty"`
	// Why is why it does not run, in a few words.
	Why string `json:"why,omitempty"`
}

// NewProgress tells how far a job has come; most is how long its reason may be, 0 for any length.
func NewProgress(job *v1.PaddleJob, now time.Time, most int) *Progress {
	p := &Progress{
		Namespace: job.Namespace, Name: job.Name, Phase: job.Status.Phase, Since: phaseSince(job).UTC(), Ready: map[string]string{},
		Restarts: job.Status.Restarts, Queue: job.Status.Queue, Why: Short(job, now, most),
	}
	for _, role := range observed.Roles {
		if status := readyOf(job, role); status != nil && status.Ready != "" {
			p.Ready[role] = status.Ready
		}
	}
	return p
}

// Roles are the ready pods of all roles in words: "ps 2/2, worker 3/4".
func (p *Progress) Roles() string {
	var parts []string
	for _, role := range observed.Roles {
		if text := p.Ready[role]; text != "" {
			parts = append(parts, role+" "+text)
		}
	}
	return strings.Join(parts, ", ")
}

// For is how long the phase has lasted.
func (p *Progress) For(now time.Time) string { return duration.HumanDuration(max(now.Sub(p.Since), 0)) }

// phaseSince is when a job's phase began: when the condition changed that made it so.
func phaseSince(job *v1.PaddleJob) time.Time {
	o := &Objects{Job: job}
	kinds := map[v1.Phase]string{
		v1.Starting: v1.ConditionScheduled, v1.Running: v1.ConditionRunning, v1.Restarting: v1.ConditionRestarting,
		v1.Suspended: v1.ConditionSuspended, v1.Completed: v1.ConditionSucceeded, v1.Failed: v1.ConditionFailed,
	}
	switch {
	case job.DeletionTimestamp != nil:
		return job.DeletionTimestamp.Time
	case job.Status.Phase == v1.Pending:
		return o.waitsSince()
	}
	if c := o.condition(kinds[job.Status.Phase]); c != nil {
		return c.LastTransitionTime.Time
	}
	return job.CreationTimestamp.Time
}

func readyOf(job *v1.PaddleJob, role string) *v1.ResourceStatus {
	return map[string]*v1.ResourceStatus{builder.RolePS: job.Status.PS, builder.RoleWorker: job.Status.Worker, builder.RoleHeter: job.Status.Heter}[role]
}

// Same says whether nothing has changed that would be told.
func (p *Progress) Same(other *Progress) bool { return reflect.DeepEqual(p, other) }
