// SPDX-License-Identifier: Apache-2.0

package reporter

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"volcano.sh/apis/pkg/apis/scheduling"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/diagnose"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/guard"
	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/planner"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// twoAndTwo is a gang of two servers and two workers.
var twoAndTwo = paddlejob.Gang{{Task: "ps", Role: paddlejob.Server, Min: 2}, {Task: "worker", Role: paddlejob.Worker, Min: 2}}

// jobOf returns a job whose pods are the minimums of a gang, all pending.
func jobOf(g paddlejob.Gang) *api.JobInfo {
	job := api.NewJobInfo("ns/job")
	job.SetPodGroup(&api.PodGroup{PodGroup: scheduling.PodGroup{}})
	for _, group := range g {
		job.TaskMinAvailable[group.Task] = group.Min
		for i := range group.Min {
			job.AddTaskInfo(podOf(fmt.Sprintf("%s-%d", group.Task, i), group.Task, "", api.Pending))
		}
	}
	job.MinAvailable = int32(len(job.Tasks))
	return job
}

// podOf returns a pod of a task.
func podOf(name, task, node string, status api.TaskStatus) *api.TaskInfo {
	return &api.TaskInfo{
		UID: api.TaskID(name), Job: "ns/job", Name: name, TaskRole: task, Resreq: api.EmptyResource(), InitResreq: api.EmptyResource(), Pod: &corev1.Pod{},
		TransactionContext: api.TransactionContext{NodeName: node, Status: status},
	}
}

// Resources that terminating pods will free were not counted when the gang was rejected.
func TestReportOfAGangThatPreempted(t *testing.T) {
	job := jobOf(twoAndTwo)
	r := New(Config{Gangs: map[api.JobID]paddlejob.Gang{job.UID: twoAndTwo}, Diagnoses: diagnose.NewCache(), Guard: guard.New()})
	job.PodGroup.Status.Phase = scheduling.PodGroupInqueue
	r.Rejected(job, nil, planner.ErrInfeasible)
	require.Contains(t, r.fitError(job, twoAndTwo), "the gang waits (InsufficientResources)")
	require.Equal(t, report.InsufficientResources, r.why(job, twoAndTwo).Reason)
	for _, task := range job.Tasks {
		require.NoError(t, job.UpdateTaskStatus(task, api.Pipelined))
	}
	require.Contains(t, r.fitError(job, twoAndTwo), "the gang waits (TerminatingPods)")
	got := r.why(job, twoAndTwo)
	require.Equal(t, report.TerminatingPods, got.Reason)
	require.Equal(t, "the gang fits once terminating pods are gone", got.Sentence())
}

// The planner's report on a gang is not used once the gang would fit.
func TestReportOfAPlanThatWentStale(t *testing.T) {
	job := jobOf(twoAndTwo)
	r := New(Config{Gangs: map[api.JobID]paddlejob.Gang{job.UID: twoAndTwo}, Diagnoses: diagnose.NewCache(), Guard: guard.New()})
	for reason, useful := range map[report.Reason]bool{report.InsufficientResources: true, report.AssignmentOutdated: false} {
		r.Diagnoses = diagnose.NewCache()
		want := report.Report{Reason: reason, Message: "text"}
		r.Diagnoses.Get(job.UID, func() (report.Report, error) { return want, nil })
		got, ok := r.planReport(&planner.Plan{Scope: planner.Scope{Job: job}, Err: fmt.Errorf("plan: %w", placement.ErrNoFit)})
		require.Equal(t, useful, ok)
		if useful {
			require.Equal(t, want, got)
		}
	}
	_, ok := r.planReport(&planner.Plan{Scope: planner.Scope{Job: job}})
	require.False(t, ok)
}

func TestReportOfError(t *testing.T) {
	for _, test := range []struct {
		err  error
		want report.Report
	}{
		{fmt.Errorf("%w: tier 7", planner.ErrInvalidConstraint), report.Report{Reason: report.UnknownTier, Message: planner.ErrInvalidConstraint.Error() + ": tier 7"}},
		{planner.ErrInfeasible, report.Report{Reason: report.InsufficientResources, Message: planner.ErrInfeasible.Error()}},
		{planner.ErrNoNodes, report.Report{Reason: report.NoReadyNodes}},
		{placement.ErrNoFit, report.Report{Reason: report.InsufficientResources, Message: placement.ErrNoFit.Error()}},
		{errors.New("odd"), report.Report{Reason: report.AssignmentNotFound, Message: "odd"}},
	} {
		require.Equal(t, test.want, reportOf(test.err))
	}
}
