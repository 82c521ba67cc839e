// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"volcano.sh/volcano/pkg/scheduler/api"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// What Volcano writes to each pod of a gang that waits does not change with what is free in the cluster; the condition
// PaddleScheduled, which is one object, has the amounts.
func TestPodsOfAWaitingGangAreNotWrittenAgainAsAmountsChange(t *testing.T) {
	objects := []any{podGroup("job", 4, twoTwo), pods("job", "ps", 2, oneCPU), pods("job", "worker", 2, resources{"cpu": "6"}),
		node("n1", resources{"cpu": "8", "memory": "64Gi"}), node("n2", resources{"cpu": "5", "memory": "64Gi"})}
	c := newCluster(t, shipped, objects...)
	c.session()
	const wait = "gang not started: servers and workers wait (InsufficientResources); condition PaddleScheduled of the PodGroup says what is missing"
	for i := range 4 {
		other := plainPods(fmt.Sprint("other", i), "task", 1, oneCPU)
		other[0].Spec.NodeName = "n2"
		other[0].Status.Phase = corev1.PodRunning
		c.add(other)
		for range 2 {
			c.session()
			for _, pod := range allFour {
				require.Equal(t, wait, c.podMessage(pod))
			}
		}
		require.Equal(t, string(report.InsufficientResources), c.condition("job").Reason)
	}
}

// No reason brings a number to the pods.
func TestVolcanoIsGivenReasonAndRolesOnly(t *testing.T) {
	job := paddleJob(t, "job", api.Pending)
	p := opened(t, job)
	g := p.gangs[job.UID]
	for _, why := range []report.Reason{"", report.WaitingToBeEnqueued, report.QueueClosed, report.QueueCapacity, report.ResourceQuota, report.Overcommit,
		report.RefusedByPlugin, report.WaitingForPods, report.SchedulingGated, report.QueueOverused, report.UnknownTier, report.TopologyNotReady, report.InsufficientResources,
		report.TopologyConstraint, report.ColocationConstraint, report.NodeAffinity, report.AssignmentNotFound, report.AssignmentOutdated, report.TerminatingPods} {
		text := diagnosisOf(job, g).FitError(why)
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
		diagnosisOf(job, g).FitError(report.InsufficientResources))
	for _, task := range job.Tasks {
		require.NoError(t, job.UpdateTaskStatus(task, api.Running))
	}
	require.Contains(t, diagnosisOf(job, g).FitError(report.InsufficientResources), "pods wait")
	require.Contains(t, diagnosisOf(job, paddlejob.Gang{{Task: "ps", Role: paddlejob.Server, Min: 1}}).FitError(report.InsufficientResources), "wait")
	require.Contains(t, diagnosisOf(&api.JobInfo{}, paddlejob.Gang{{Task: "ps", Role: paddlejob.Server, Min: 1}, {Task: "worker", Role: paddlejob.Worker, Min: 2}}).FitError(report.InsufficientResources),
		"gang not started: server and workers wait (InsufficientResources)")
	require.Contains(t, diagnosisOf(&api.JobInfo{}, paddlejob.Gang{{Task: "ps", Role: paddlejob.Server, Min: 1}}).FitError(report.InsufficientResources), "gang not started: server waits (InsufficientResources)")
}
