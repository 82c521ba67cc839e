// SPDX-License-Identifier: Apache-2.0

package status

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/policy"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// now is long after the jobs of these tests were created.
var now = time.Date(2025, 11, 1, 12, 0, 0, 0, time.UTC)

type change func(*view.View)

// seen is a job of one server and two workers whose Volcano Job is in a phase.
func seen(phase vcbatch.JobPhase, changes ...change) *view.View {
	created := metav1.NewTime(now.Add(-time.Hour))
	least := func(n int32) *int32 { return &n }
	v := &view.View{
		Job: &v1.PaddleJob{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "job", UID: "job-uid", Generation: 1},
			Spec: v1.PaddleJobSpec{
				PS:     &v1.ResourceSpec{Replicas: 1},
				Worker: &v1.ResourceSpec{Replicas: 2},
			},
		},
		VolcanoJob: &vcbatch.Job{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "job", CreationTimestamp: created, Annotations: map[string]string{}},
			Spec: vcbatch.JobSpec{Queue: "q", MaxRetry: 3, Tasks: []vcbatch.TaskSpec{
				{Name: render.RolePS, Replicas: 1, MinAvailable: least(1)},
				{Name: render.RoleWorker, Replicas: 2, MinAvailable: least(2)},
			}},
			Status: vcbatch.JobStatus{State: vcbatch.JobState{Phase: phase}},
		},
		PodGroup: &vcscheduling.PodGroup{Status: vcscheduling.PodGroupStatus{Phase: vcscheduling.PodGroupInqueue}},
	}
	for _, c := range changes {
		c(v)
	}
	return v
}

// pods are those of one server and of workers, in these states.
func pods(ps view.State, workers ...view.State) change {
	return func(v *view.View) {
		v.Pods = []*corev1.Pod{pod(render.RolePS, 0, ps)}
		for i, state := range workers {
			v.Pods = append(v.Pods, pod(render.RoleWorker, i, state))
		}
	}
}

func pod(role string, index int, state view.State) *corev1.Pod {
	name := view.PodName("job", role, int32(index))
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name, UID: types.UID(name + "-uid"), Labels: map[string]string{
			vcbatch.TaskSpecKey: role, keys.TaskIndex: strconv.Itoa(index),
		}},
		Spec:   corev1.PodSpec{NodeName: "node"},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	at := metav1.NewTime(now.Add(time.Duration(index-60) * time.Second))
	container := corev1.ContainerStatus{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at}}}
	switch state {
	case view.Unplaced:
		p.Spec.NodeName = ""
	case view.Running:
		p.Status.Phase = corev1.PodRunning
	case view.Unknown:
		p.Status.Phase = corev1.PodUnknown
	case view.Leaving:
		p.DeletionTimestamp = &at
		p.Annotations = map[string]string{keys.OutOfSync: "true"} // by Volcano
	case view.Succeeded, view.Failed:
		code := map[view.State]int32{view.Failed: 3}[state]
		p.Status.Phase = map[view.State]corev1.PodPhase{view.Succeeded: corev1.PodSucceeded, view.Failed: corev1.PodFailed}[state]
		container.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{StartedAt: at, ExitCode: code}}
	}
	if state != view.Unplaced && state != view.Starting {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{container}
	}
	return p
}

func retried(count int32) change {
	return func(v *view.View) { v.VolcanoJob.Status.RetryCount = count }
}

// was gives the view the status that was written before.
func was(status *v1.PaddleJobStatus) change { return func(v *view.View) { v.Job.Status = *status } }

// next is the status after a view, in which nothing was planned.
func next(v *view.View) *v1.PaddleJobStatus { return Next(v, &policy.Plan{}, now) }

// conditionsOf are a status's conditions as type=status/reason.
func conditionsOf(status *v1.PaddleJobStatus) map[string]string {
	short := map[string]string{}
	for _, c := range status.Conditions {
		short[c.Type] = string(c.Status) + " " + c.Reason
	}
	return short
}

func message(status *v1.PaddleJobStatus, kind string) string {
	if c := meta.FindStatusCondition(status.Conditions, kind); c != nil {
		return c.Message
	}
	return "no condition " + kind
}

func TestPhase(t *testing.T) {
	t.Parallel()
	deleting := func(v *view.View) { v.Job.DeletionTimestamp = &metav1.Time{} }
	none := func(v *view.View) { v.VolcanoJob = nil }
	fewer := func(v *view.View) { *v.VolcanoJob.Spec.Tasks[1].MinAvailable = 1 }
	phase := func(p v1.Phase) change { return func(v *view.View) { v.Job.Status.Phase = p } }
	replaced := func(v *view.View) { v.VolcanoJob.DeletionTimestamp = &metav1.Time{} }
	for name, tc := range map[string]struct {
		volcano vcbatch.JobPhase
		with    []change
		want    v1.Phase
	}{
		"not created":              {with: []change{none}, want: v1.Pending},
		"no pods":                  {volcano: vcbatch.Pending, want: v1.Pending},
		"a pod unplaced":           {volcano: vcbatch.Pending, with: []change{pods(view.Running, view.Starting, view.Unplaced)}, want: v1.Pending},
		"all placed":               {volcano: vcbatch.Pending, with: []change{pods(view.Starting, view.Starting, view.Running)}, want: v1.Starting},
		"all run":                  {volcano: vcbatch.Running, with: []change{pods(view.Running, view.Running, view.Running)}, want: v1.Running},
		"one has succeeded":        {volcano: vcbatch.Running, with: []change{pods(view.Running, view.Running, view.Succeeded)}, want: v1.Running},
		"below the minimum":        {volcano: vcbatch.Running, with: []change{pods(view.Running, view.Running, view.Unplaced)}, want: v1.Pending},
		"minimum runs":             {volcano: vcbatch.Running, with: []change{fewer, pods(view.Running, view.Running, view.Unplaced)}, want: v1.Running},
		"restarting":               {volcano: vcbatch.Restarting, with: []change{retried(1)}, want: v1.Restarting},
		"about to fail":            {volcano: vcbatch.Restarting, with: []change{retried(3), phase(v1.Running)}, want: v1.Running},
		"completing":               {volcano: vcbatch.Completing, with: []change{phase(v1.Running)}, want: v1.Running},
		"completed":                {volcano: vcbatch.Completed, want: v1.Completed},
		"failed":                   {volcano: vcbatch.Failed, want: v1.Failed},
		"given up":                 {volcano: vcbatch.Terminated, want: v1.Failed},
		"aborted":                  {volcano: vcbatch.Aborted, want: v1.Pending},
		"being deleted":            {volcano: vcbatch.Running, with: []change{deleting}, want: v1.Terminating},
		"deleted when completed":   {volcano: vcbatch.Completed, with: []change{deleting, phase(v1.Completed)}, want: v1.Completed},
		"completed, seen running":  {volcano: vcbatch.Running, with: []change{phase(v1.Completed)}, want: v1.Completed},
		"failed, Volcano Job gone": {with: []change{none, phase(v1.Failed)}, want: v1.Failed},
		"operator's workers are done": {with: []change{none, func(v *view.View) {
			v.Operator.Pods = []*corev1.Pod{pod(render.RoleWorker, 0, view.Succeeded), pod(render.RoleWorker, 1, view.Succeeded)}
		}}, want: v1.Completed},
		"operator's workers run": {with: []change{none, func(v *view.View) {
			v.Operator.Pods = []*corev1.Pod{pod(render.RolePS, 0, view.Running), pod(render.RoleWorker, 0, view.Running), pod(render.RoleWorker, 1, view.Running)}
		}}, want: v1.Running},
		"resumed while the pods before it end": {
			volcano: vcbatch.Running, with: []change{phase(v1.Suspended), replaced, pods(view.Running, view.Running, view.Running)}, want: v1.Pending,
		},
		"still waiting for them": {
			volcano: vcbatch.Running, with: []change{phase(v1.Pending), replaced, pods(view.Running, view.Running, view.Running)}, want: v1.Pending,
		},
		"the Volcano Job of a running job is deleted": {
			volcano: vcbatch.Running, with: []change{phase(v1.Running), replaced, pods(view.Running, view.Running, view.Running)}, want: v1.Running,
		},
		"servers leave after success": {
			volcano: vcbatch.Running, with: []change{phase(v1.Running), pods(view.Leaving, view.Succeeded, view.Succeeded)}, want: v1.Running,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, next(seen(tc.volcano, tc.with...)).Phase)
		})
	}
}

func TestAJobIsPendingWhilePaddleOperatorsPodsAreReplaced(t *testing.T) {
	t.Parallel()
	v := seen("", func(v *view.View) {
		v.VolcanoJob = nil
		v.Operator.Pods = []*corev1.Pod{pod(render.RolePS, 0, view.Running), pod(render.RoleWorker, 0, view.Running), pod(render.RoleWorker, 1, view.Running)}
	})
	plan := policy.Decide(v, render.Config{})
	require.Equal(t, policy.ReasonTakingOver, plan.Waiting.Reason)
	require.Equal(t, v1.Pending, Next(v, &plan, now).Phase)
}

func TestRoleCounts(t *testing.T) {
	t.Parallel()
	status := next(seen(vcbatch.Running, pods(view.Running, view.Starting, view.Unplaced)))
	require.Equal(t, "1/1", status.PS.Ready)
	require.Equal(t, "0/2", status.Worker.Ready)
	require.Equal(t, 1, status.Worker.Starting)
	require.Equal(t, 1, status.Worker.Pending)
	require.Nil(t, status.Heter)
	require.Equal(t, []corev1.ObjectReference{
		{APIVersion: "v1", Kind: "Pod", Namespace: "ml", Name: "job-worker-0", UID: "job-worker-0-uid"},
		{APIVersion: "v1", Kind: "Pod", Namespace: "ml", Name: "job-worker-1", UID: "job-worker-1-uid"},
	}, status.Worker.Refs)

	status = next(seen(vcbatch.Running, pods(view.Leaving, view.Unknown, view.Failed)))
	require.Equal(t, v1.ResourceStatus{Ready: "0/1"}, *status.PS, "a pod on its way out counts for nothing")
	require.Equal(t, 1, status.Worker.Unknown)
	require.Equal(t, 1, status.Worker.Failed)

	status = next(seen("", func(v *view.View) { v.VolcanoJob = nil }))
	require.Equal(t, "0/2", status.Worker.Ready)
}

func TestEndedJobKeepsItsCounts(t *testing.T) {
	t.Parallel()
	running := next(seen(vcbatch.Running, pods(view.Running, view.Running, view.Running)))
	// The cache of pods lags behind: one worker is still seen running.
	end := next(seen(vcbatch.Completed, was(running), pods(view.Leaving, view.Succeeded, view.Running)))
	require.Equal(t, v1.Completed, end.Phase)
	require.Equal(t, v1.ResourceStatus{Ready: "0/1"}, *end.PS)
	require.Equal(t, "0/2", end.Worker.Ready)
	require.Equal(t, 1, end.Worker.Succeeded)

	later := next(seen(vcbatch.Completed, was(end), pods(view.Leaving, view.Succeeded, view.Succeeded)))
	require.Equal(t, 2, later.Worker.Succeeded)
	require.Len(t, later.Worker.Refs, 2)

	cleaned := next(seen(vcbatch.Completed, was(later)))
	require.Equal(t, later, cleaned, "cleaning changes nothing of what was")
	gone := next(seen("", was(later), func(v *view.View) { v.VolcanoJob = nil }))
	require.Equal(t, later, gone)
}

func TestRestarts(t *testing.T) {
	t.Parallel()
	earlier := func(n string) change {
		return func(v *view.View) { v.VolcanoJob.Annotations[keys.EarlierRestarts] = n }
	}
	before := func(n int32) change { return func(v *view.View) { v.Job.Status.Restarts = n } }
	for name, tc := range map[string]struct {
		with []change
		want int32
	}{
		"none":                         {want: 0},
		"one":                          {with: []change{retried(1)}, want: 1},
		"after a replaced Volcano Job": {with: []change{retried(1), earlier("2")}, want: 3},
		"an annotation by hand":        {with: []change{retried(1), earlier("-4")}, want: 1},
		"a cache that lags":            {with: []change{before(2), retried(1)}, want: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, next(seen(vcbatch.Running, tc.with...)).Restarts)
		})
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	running := next(seen(vcbatch.Running, pods(view.Running, view.Running, view.Running)))
	require.True(t, running.StartTime.Equal(&metav1.Time{Time: now.Add(-59 * time.Second)}), "when the last container started")
	require.Nil(t, running.CompletionTime)

	ended := metav1.NewTime(now.Add(-5 * time.Second))
	end := next(seen(vcbatch.Completed, was(running), func(v *view.View) { v.VolcanoJob.Status.State.LastTransitionTime = ended }))
	require.Equal(t, running.StartTime, end.StartTime)
	require.Equal(t, &ended, end.CompletionTime)
	again := next(seen(vcbatch.Completed, was(end), func(v *view.View) {
		v.VolcanoJob.Status.State.LastTransitionTime = metav1.NewTime(now)
	}))
	require.Equal(t, end.CompletionTime, again.CompletionTime, "it ends once")

	require.Nil(t, next(seen(vcbatch.Pending, pods(view.Running, view.Starting, view.Starting))).StartTime)
	missed := next(seen(vcbatch.Completed, pods(view.Leaving, view.Succeeded, view.Succeeded)))
	require.NotNil(t, missed.StartTime, "also of a job whose running nobody saw")
}

func TestOther(t *testing.T) {
	t.Parallel()
	status := next(seen(vcbatch.Pending))
	require.Equal(t, v1.ModePS, status.Mode)
	require.Equal(t, "q", status.Queue)
	require.EqualValues(t, 1, status.ObservedGeneration)
	wished := next(seen("", func(v *view.View) {
		v.VolcanoJob, v.Job.Spec.SchedulingPolicy = nil, &v1.SchedulingPolicy{Queue: "wish"}
	}))
	require.Equal(t, "wish", wished.Queue)
}
