// SPDX-License-Identifier: Apache-2.0

package story

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

func TestProgress(t *testing.T) {
	t.Parallel()
	begun := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	after := func(minutes int) metav1.Time { return metav1.NewTime(begun.Add(time.Duration(minutes) * time.Minute)) }
	job := &v1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "a", CreationTimestamp: after(0)}}
	condition := func(kind string, minutes int) {
		job.Status.Conditions = append(job.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionTrue, LastTransitionTime: after(minutes)})
	}
	condition(v1.ConditionScheduled, 1)
	condition(v1.ConditionRunning, 2)
	condition(v1.ConditionRestarting, 3)
	condition(v1.ConditionSuspended, 4)
	condition(v1.ConditionSucceeded, 5)
	condition(v1.ConditionFailed, 6)
	for phase, minutes := range map[v1.Phase]int{
		"": 0, v1.Pending: 0, v1.Starting: 1, v1.Running: 2, v1.Restarting: 3, v1.Suspended: 4, v1.Completed: 5, v1.Failed: 6,
	} {
		job.Status.Phase = phase
		require.Equal(t, after(minutes).Time, NewProgress(job, begun, 0).Since, "%s", phase)
	}
	job.Status.Phase, job.Status.Restarts = v1.Pending, 1
	require.Equal(t, after(1).Time, NewProgress(job, begun, 0).Since, "it waits again")

	job.Status.PS, job.Status.Worker = &v1.ResourceStatus{Ready: "2/2"}, &v1.ResourceStatus{Ready: "3/4"}
	p := NewProgress(job, begun, 0)
	require.Equal(t, "ps 2/2, worker 3/4", p.Roles())
	require.Equal(t, "9m", p.For(begun.Add(10*time.Minute)))
	require.True(t, p.Same(NewProgress(job, begun.Add(time.Hour), 0)), "time alone changes nothing")
	job.Status.Worker.Ready = "4/4"
	require.False(t, p.Same(NewProgress(job, begun, 0)))
	deleted := after(9)
	job.DeletionTimestamp = &deleted
	require.Equal(t, deleted.Time, NewProgress(job, begun, 0).Since)
}
