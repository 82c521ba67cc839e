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
	r := New(Config{Gangs: map[api.JobID]paddlejob.Gang{job.UID: twoAndTwo}, Diagnoses: diagnose.NewCache(), Guard: guard.New(guard.Metrics{})})
	job.PodGroup.Status.Phase = scheduling.PodGroupInqueue
	r.Rejected(job, nil, planner.ErrInfeasible)
	require.Contains(t, r.fitError(job, twoAndTwo), "servers and workers wait (InsufficientResources)")
	require.Equal(t, report.InsufficientResources, r.why(job, twoAndTwo).Reason)
	for _, task := range job.Tasks {
		require.NoError(t, job.UpdateTaskStatus(task, api.Pipelined))
	}
	const why = "gang not started: 2 of 2 servers and 2 of 2 workers fit once terminating pods are gone"
	require.Contains(t, r.fitError(job, twoAndTwo), "servers and workers wait (TerminatingPods)")
	got := r.why(job, twoAndTwo)
	require.Equal(t, report.TerminatingPods, got.Reason)
	require.Equal(t, why, got.Message)
}

// The planner's report on a gang is not used once the gang would fit.
func TestReportOfAPlanThatWentStale(t *testing.T) {
	job := jobOf(twoAndTwo)
	r := New(Config{Gangs: map[api.JobID]paddlejob.Gang{job.UID: twoAndTwo}, Diagnoses: diagnose.NewCache(), Guard: guard.New(guard.Metrics{})})
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

// No reason brings a number to the pods.
func TestVolcanoIsGivenReasonAndRolesOnly(t *testing.T) {
	job := jobOf(twoAndTwo)
	for _, why := range []report.Reason{"", report.WaitingToBeEnqueued, report.QueueClosed, report.QueueCapacity, report.ResourceQuota, report.Overcommit,
		report.RefusedByPlugin, report.WaitingForPods, report.SchedulingGated, report.QueueOverused, report.UnknownTier, report.TopologyNotReady, report.InsufficientResources,
		report.TopologyConstraint, report.ColocationConstraint, report.NodeAffinity, report.AssignmentNotFound, report.AssignmentOutdated, report.TerminatingPods} {
		text := diagnosisOf(job, twoAndTwo).FitError(why)
		require.Contains(t, text, "gang not started: servers and workers wait")
		require.Contains(t, text, string(why))
		require.NotRegexp(t, `[0-9]`, text)
	}
	for _, task := range job.Tasks {
		if task.TaskRole == "ps" {
			require.NoError(t, job.UpdateTaskStatus(task, api.Running))
		}
	}
	require.Equal(t, "gang incomplete: workers wait (InsufficientResources); condition PaddleScheduled of the PodGroup says what is missing",
		diagnosisOf(job, twoAndTwo).FitError(report.InsufficientResources))
	for _, task := range job.Tasks {
		require.NoError(t, job.UpdateTaskStatus(task, api.Running))
	}
	require.Contains(t, diagnosisOf(job, twoAndTwo).FitError(report.InsufficientResources), "pods wait")
	require.Contains(t, diagnosisOf(job, paddlejob.Gang{{Task: "ps", Role: paddlejob.Server, Min: 1}}).FitError(report.InsufficientResources), "wait")
	require.Contains(t, diagnosisOf(&api.JobInfo{}, paddlejob.Gang{{Task: "ps", Role: paddlejob.Server, Min: 1}, {Task: "worker", Role: paddlejob.Worker, Min: 2}}).FitError(report.InsufficientResources),
		"gang not started: server and workers wait (InsufficientResources)")
	require.Contains(t, diagnosisOf(&api.JobInfo{}, paddlejob.Gang{{Task: "ps", Role: paddlejob.Server, Min: 1}}).FitError(report.InsufficientResources), "gang not started: server waits (InsufficientResources)")
}
