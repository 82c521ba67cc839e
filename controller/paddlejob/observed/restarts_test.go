// SPDX-License-Identifier: Apache-2.0

package observed

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

func TestLag(t *testing.T) {
	t.Parallel()
	now := time.Date(2025, 11, 1, 12, 0, 0, 0, time.UTC)
	worker := func(phase corev1.PodPhase) func(*State) {
		return func(s *State) {
			s.Pods = []*corev1.Pod{{
				ObjectMeta: metav1.ObjectMeta{Name: "j-worker-0", Labels: map[string]string{vcbatch.TaskSpecKey: "worker"}},
				Spec:       corev1.PodSpec{NodeName: "n"}, Status: corev1.PodStatus{Phase: phase},
			}}
		}
	}
	attempt := func(n int32) func(*State) {
		return func(s *State) { s.Failure = &Failure{Attempt: n, Reason: ReasonPodFailed} }
	}
	delayed := func(more func(*State)) func(*State) {
		return func(s *State) {
			more(s)
		}
	}
	for name, tc := range map[string]struct {
		phase vcbatch.JobPhase
		ago   time.Duration
		with  func(*State)
		want  time.Duration
	}{
		"success is not seen yet":    {phase: vcbatch.Completed, ago: 2 * time.Second, with: worker(corev1.PodRunning), want: 3 * time.Second},
		"nor any pod":                {phase: vcbatch.Completed, want: 5 * time.Second},
		"success is seen":            {phase: vcbatch.Completed, with: worker(corev1.PodSucceeded)},
		"ended by somebody":          {phase: vcbatch.Completed, ago: 5 * time.Second, with: worker(corev1.PodRunning)},
		"failure is not seen yet":    {phase: vcbatch.Failed, ago: time.Second, with: worker(corev1.PodRunning), want: 4 * time.Second},
		"failure is seen":            {phase: vcbatch.Failed, with: worker(corev1.PodFailed)},
		"failure was seen":           {phase: vcbatch.Terminated, with: attempt(1)},
		"one before was seen":        {phase: vcbatch.Terminated, with: attempt(0), want: 5 * time.Second},
		"why it stopped is not seen": {phase: vcbatch.Aborting, ago: time.Second, with: delayed(worker(corev1.PodRunning)), want: 4 * time.Second},
		"why it stopped is seen":     {phase: vcbatch.Aborted, with: delayed(worker(corev1.PodFailed))},
		"stopped by somebody":        {phase: vcbatch.Aborted, ago: 5 * time.Second, with: delayed(worker(corev1.PodRunning))},
		"it starts again": {phase: vcbatch.Aborted, with: delayed(func(s *State) {
			s.Job.Status.Conditions = []metav1.Condition{{Type: v1.ConditionAdmitted, Status: metav1.ConditionFalse, Reason: ReasonRestarting}}
		})},
		"runs":           {phase: vcbatch.Running, with: worker(corev1.PodRunning)},
		"is over":        {phase: vcbatch.Failed, with: func(s *State) { s.Job.Status.Phase = v1.Failed }},
		"time not known": {phase: vcbatch.Failed, with: func(s *State) { s.VolcanoJob.Status.State.LastTransitionTime = metav1.Time{} }},
		"there is none":  {with: func(s *State) { s.VolcanoJob = nil }},
	} {
		s := &State{Now: now, Job: &v1.PaddleJob{}, VolcanoJob: &vcbatch.Job{
			Spec: vcbatch.JobSpec{Tasks: []vcbatch.TaskSpec{{Name: "worker", Replicas: 1}}},
			Status: vcbatch.JobStatus{RetryCount: 1, State: vcbatch.JobState{
				Phase: tc.phase, LastTransitionTime: metav1.NewTime(now.Add(-tc.ago)),
			}},
		}}
		if tc.with != nil {
			tc.with(s)
		}
		require.Equal(t, tc.want, s.PodStatusLag(), name)
	}
}

func TestResumed(t *testing.T) {
	t.Parallel()
	made := func(attempts ...string) *State {
		v := &State{VolcanoJob: &vcbatch.Job{Status: vcbatch.JobStatus{RetryCount: 1}}}
		for _, n := range attempts {
			v.Pods = append(v.Pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{vcbatch.JobRetryCountKey: n}}})
		}
		return v
	}
	require.True(t, made("1", "2").Resumed())
	require.False(t, made("0", "1", "x", "").Resumed())
	require.False(t, made().Resumed())
}
