// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

// now is long after the jobs of these tests were created.
var now = time.Date(2025, 11, 1, 12, 0, 0, 0, time.UTC)

// seen is a job of one server and two workers whose Volcano Job is in a phase.
func seen(phase vcbatch.JobPhase, changes ...change) *observed.State {
	created := metav1.NewTime(now.Add(-time.Hour))
	least := func(n int32) *int32 { return &n }
	obs := &observed.State{
		Job: &v1.PaddleJob{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "job", UID: "job-uid", Generation: 1},
			Spec: v1.PaddleJobSpec{
				PS:     &v1.ResourceSpec{Replicas: 1},
				Worker: &v1.ResourceSpec{Replicas: 2},
			},
		},
		VolcanoJob: &vcbatch.Job{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "job", CreationTimestamp: created, Annotations: map[string]string{}},
			Spec: vcbatch.JobSpec{Queue: "q", Tasks: []vcbatch.TaskSpec{
				{Name: builder.RolePS, Replicas: 1, MinAvailable: least(1)},
				{Name: builder.RoleWorker, Replicas: 2, MinAvailable: least(2)},
			}},
			Status: vcbatch.JobStatus{State: vcbatch.JobState{Phase: phase}},
		},
		PodGroup: &vcscheduling.PodGroup{Status: vcscheduling.PodGroupStatus{Phase: vcscheduling.PodGroupInqueue}},
	}
	for _, c := range changes {
		c(obs)
	}
	return obs
}

// pods are those of one server and of workers, in these states.
func pods(ps observed.PodState, workers ...observed.PodState) change {
	return func(obs *observed.State) {
		obs.Pods = []*corev1.Pod{pod(builder.RolePS, 0, ps)}
		for i, state := range workers {
			obs.Pods = append(obs.Pods, pod(builder.RoleWorker, i, state))
		}
	}
}

func pod(role string, index int, state observed.PodState) *corev1.Pod {
	name := fmt.Sprintf("job-%s-%d", role, index)
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name, UID: types.UID(name + "-uid"), Labels: map[string]string{
			vcbatch.TaskSpecKey: role, v1.TaskIndexLabel: strconv.Itoa(index),
		}},
		Spec:   corev1.PodSpec{NodeName: "node"},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	at := metav1.NewTime(now.Add(time.Duration(index-60) * time.Second))
	container := corev1.ContainerStatus{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at}}}
	switch state {
	case observed.Unscheduled:
		p.Spec.NodeName = ""
	case observed.Running:
		p.Status.Phase = corev1.PodRunning
	case observed.Unknown:
		p.Status.Phase = corev1.PodUnknown
	case observed.Terminating:
		p.DeletionTimestamp = &at
		p.Annotations = map[string]string{v1.OutOfSyncAnnotation: "true"} // by Volcano
	case observed.Succeeded, observed.Failed:
		code := map[observed.PodState]int32{observed.Failed: 3}[state]
		p.Status.Phase = map[observed.PodState]corev1.PodPhase{observed.Succeeded: corev1.PodSucceeded, observed.Failed: corev1.PodFailed}[state]
		container.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{StartedAt: at, ExitCode: code}}
	}
	if state != observed.Unscheduled && state != observed.Starting {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{container}
	}
	return p
}

func retriedTimes(count int32) change {
	return func(obs *observed.State) { obs.VolcanoJob.Status.RetryCount = count }
}

// was gives the observed state the status that was written before.
func was(status *v1.PaddleJobStatus) change {
	return func(obs *observed.State) { obs.Job.Status = *status }
}

// next is the status after an observed state, in which nothing was planned.
func next(obs *observed.State) *v1.PaddleJobStatus { return Next(obs, &Plan{}, now) }

// conditionsOf are a status's conditions as type=status/reason.
func conditionsOf(status *v1.PaddleJobStatus) map[string]string {
	short := map[string]string{}
	for _, c := range status.Conditions {
		if c.Type == v1.ConditionReady {
			continue // TestReadyIsTheSummary
		}
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
	deleting := func(obs *observed.State) { obs.Job.DeletionTimestamp = &metav1.Time{} }
	none := func(obs *observed.State) { obs.VolcanoJob = nil }
	fewer := func(obs *observed.State) { *obs.VolcanoJob.Spec.Tasks[1].MinAvailable = 1 }
	replaced := func(obs *observed.State) { obs.VolcanoJob.DeletionTimestamp = &metav1.Time{} }
	for name, tc := range map[string]struct {
		volcano vcbatch.JobPhase
		with    []change
		want    v1.Phase
	}{
		"not created":              {with: []change{none}, want: v1.Pending},
		"no pods":                  {volcano: vcbatch.Pending, want: v1.Pending},
		"a pod unplaced":           {volcano: vcbatch.Pending, with: []change{pods(observed.Running, observed.Starting, observed.Unscheduled)}, want: v1.Pending},
		"all placed":               {volcano: vcbatch.Pending, with: []change{pods(observed.Starting, observed.Starting, observed.Running)}, want: v1.Starting},
		"all run":                  {volcano: vcbatch.Running, with: []change{pods(observed.Running, observed.Running, observed.Running)}, want: v1.Running},
		"one has succeeded":        {volcano: vcbatch.Running, with: []change{pods(observed.Running, observed.Running, observed.Succeeded)}, want: v1.Running},
		"below the minimum":        {volcano: vcbatch.Running, with: []change{pods(observed.Running, observed.Running, observed.Unscheduled)}, want: v1.Pending},
		"minimum runs":             {volcano: vcbatch.Running, with: []change{fewer, pods(observed.Running, observed.Running, observed.Unscheduled)}, want: v1.Running},
		"restarting":               {volcano: vcbatch.Restarting, with: []change{retriedTimes(1)}, want: v1.Restarting},
		"completing":               {volcano: vcbatch.Completing, with: []change{phase(v1.Running)}, want: v1.Running},
		"completed":                {volcano: vcbatch.Completed, want: v1.Completed},
		"failed":                   {volcano: vcbatch.Failed, want: v1.Failed},
		"given up":                 {volcano: vcbatch.Terminated, want: v1.Failed},
		"aborted":                  {volcano: vcbatch.Aborted, want: v1.Pending},
		"being deleted":            {volcano: vcbatch.Running, with: []change{deleting}, want: v1.Terminating},
		"deleted when completed":   {volcano: vcbatch.Completed, with: []change{deleting, phase(v1.Completed)}, want: v1.Completed},
		"completed, seen running":  {volcano: vcbatch.Running, with: []change{phase(v1.Completed)}, want: v1.Completed},
		"failed, Volcano Job gone": {with: []change{none, phase(v1.Failed)}, want: v1.Failed},
		"operator's workers are done": {with: []change{none, func(obs *observed.State) {
			obs.Operator.Pods = []*corev1.Pod{pod(builder.RoleWorker, 0, observed.Succeeded), pod(builder.RoleWorker, 1, observed.Succeeded)}
		}}, want: v1.Completed},
		"operator's workers run": {with: []change{none, func(obs *observed.State) {
			obs.Operator.Pods = []*corev1.Pod{pod(builder.RolePS, 0, observed.Running), pod(builder.RoleWorker, 0, observed.Running), pod(builder.RoleWorker, 1, observed.Running)}
		}}, want: v1.Running},
		"resumed while the pods before it end": {
			volcano: vcbatch.Running, with: []change{phase(v1.Suspended), replaced, pods(observed.Running, observed.Running, observed.Running)}, want: v1.Pending,
		},
		"still waiting for them": {
			volcano: vcbatch.Running, with: []change{phase(v1.Pending), replaced, pods(observed.Running, observed.Running, observed.Running)}, want: v1.Pending,
		},
		"the Volcano Job of a running job is deleted": {
			volcano: vcbatch.Running, with: []change{phase(v1.Running), replaced, pods(observed.Running, observed.Running, observed.Running)}, want: v1.Running,
		},
		"servers leave after success": {
			volcano: vcbatch.Running, with: []change{phase(v1.Running), pods(observed.Terminating, observed.Succeeded, observed.Succeeded)}, want: v1.Running,
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
	obs := seen("", func(obs *observed.State) {
		obs.VolcanoJob = nil
		obs.Operator.Pods = []*corev1.Pod{pod(builder.RolePS, 0, observed.Running), pod(builder.RoleWorker, 0, observed.Running), pod(builder.RoleWorker, 1, observed.Running)}
	})
	plan := Decide(obs, builder.Config{})
	require.Equal(t, ReasonTakingOver, plan.Waiting.Reason)
	require.Equal(t, v1.Pending, Next(obs, &plan, now).Phase)
}

func TestRoleCounts(t *testing.T) {
	t.Parallel()
	status := next(seen(vcbatch.Running, pods(observed.Running, observed.Starting, observed.Unscheduled)))
	require.Equal(t, "1/1", status.PS.Ready)
	require.Equal(t, "0/2", status.Worker.Ready)
	require.EqualValues(t, 1, status.Worker.Starting)
	require.EqualValues(t, 1, status.Worker.Pending)
	require.Nil(t, status.Heter)
	require.Equal(t, []corev1.ObjectReference{
		{APIVersion: "v1", Kind: "Pod", Namespace: "ml", Name: "job-worker-0", UID: "job-worker-0-uid"},
		{APIVersion: "v1", Kind: "Pod", Namespace: "ml", Name: "job-worker-1", UID: "job-worker-1-uid"},
	}, status.Worker.Refs)

	status = next(seen(vcbatch.Running, pods(observed.Terminating, observed.Unknown, observed.Failed)))
	require.Equal(t, v1.ResourceStatus{Ready: "0/1"}, *status.PS, "a pod on its way out counts for nothing")
	require.EqualValues(t, 1, status.Worker.Unknown)
	require.EqualValues(t, 1, status.Worker.Failed)

	status = next(seen("", func(obs *observed.State) { obs.VolcanoJob = nil }))
	require.Equal(t, "0/2", status.Worker.Ready)
}

func TestEndedJobKeepsItsCounts(t *testing.T) {
	t.Parallel()
	running := next(seen(vcbatch.Running, pods(observed.Running, observed.Running, observed.Running)))
	// The cache of pods lags behind: one worker is still seen running.
	end := next(seen(vcbatch.Completed, was(running), pods(observed.Terminating, observed.Succeeded, observed.Running)))
	require.Equal(t, v1.Completed, end.Phase)
	require.Equal(t, v1.ResourceStatus{Ready: "0/1"}, *end.PS)
	require.Equal(t, "0/2", end.Worker.Ready)
	require.EqualValues(t, 1, end.Worker.Succeeded)

	later := next(seen(vcbatch.Completed, was(end), pods(observed.Terminating, observed.Succeeded, observed.Succeeded)))
	require.EqualValues(t, 2, later.Worker.Succeeded)
	require.Len(t, later.Worker.Refs, 2)

	cleaned := next(seen(vcbatch.Completed, was(later)))
	require.Equal(t, later, cleaned, "cleaning changes nothing of what was")
	absent := next(seen("", was(later), func(obs *observed.State) { obs.VolcanoJob = nil }))
	require.Equal(t, later, absent)
}

func TestRestarts(t *testing.T) {
	t.Parallel()
	earlier := func(n string) change {
		return func(obs *observed.State) { obs.VolcanoJob.Annotations[v1.EarlierRestartsAnnotation] = n }
	}
	before := func(n int32) change { return func(obs *observed.State) { obs.Job.Status.Restarts = n } }
	for name, tc := range map[string]struct {
		with []change
		want int32
	}{
		"none":                         {want: 0},
		"one":                          {with: []change{retriedTimes(1)}, want: 1},
		"after a replaced Volcano Job": {with: []change{retriedTimes(1), earlier("2")}, want: 3},
		"an annotation by hand":        {with: []change{retriedTimes(1), earlier("-4")}, want: 1},
		"a cache that lags":            {with: []change{before(2), retriedTimes(1)}, want: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, next(seen(vcbatch.Running, tc.with...)).Restarts)
		})
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	running := next(seen(vcbatch.Running, pods(observed.Running, observed.Running, observed.Running)))
	require.True(t, running.StartTime.Equal(&metav1.Time{Time: now.Add(-59 * time.Second)}), "when the last container started")
	require.Nil(t, running.CompletionTime)

	ended := metav1.NewTime(now.Add(-5 * time.Second))
	end := next(seen(vcbatch.Completed, was(running), func(obs *observed.State) { obs.VolcanoJob.Status.State.LastTransitionTime = ended }))
	require.Equal(t, running.StartTime, end.StartTime)
	require.Equal(t, &ended, end.CompletionTime)
	repeated := next(seen(vcbatch.Completed, was(end), func(obs *observed.State) {
		obs.VolcanoJob.Status.State.LastTransitionTime = metav1.NewTime(now)
	}))
	require.Equal(t, end.CompletionTime, repeated.CompletionTime, "it ends once")

	require.Nil(t, next(seen(vcbatch.Pending, pods(observed.Running, observed.Starting, observed.Starting))).StartTime)
	unseen := next(seen(vcbatch.Completed, pods(observed.Terminating, observed.Succeeded, observed.Succeeded)))
	require.NotNil(t, unseen.StartTime, "also of a job that was not seen running")
}

func TestOther(t *testing.T) {
	t.Parallel()
	status := next(seen(vcbatch.Pending))
	require.Equal(t, v1.ModePS, status.Mode)
	require.Equal(t, "q", status.Queue)
	require.EqualValues(t, 1, status.ObservedGeneration)
	requested := next(seen("", func(obs *observed.State) {
		obs.VolcanoJob, obs.Job.Spec.SchedulingPolicy = nil, &v1.SchedulingPolicy{Queue: "requested"}
	}))
	require.Equal(t, "requested", requested.Queue)
}

// What etcd and every watch have to carry must not depend on how many pods the job has.
func TestStatusDoesNotGrowWithTheGang(t *testing.T) {
	t.Parallel()
	gang := func(workers int, state observed.PodState, volcano vcbatch.JobPhase) *v1.PaddleJobStatus {
		obs := seen(volcano, pods(state, slices.Repeat([]observed.PodState{state}, workers)...), func(obs *observed.State) {
			obs.Job.Spec.Worker.Replicas = int32(workers)
			obs.VolcanoJob.Spec.Tasks[1].Replicas = int32(workers)
			obs.VolcanoJob.Spec.Tasks[1].MinAvailable = ptr.To(int32(workers))
		})
		plan := &Plan{}
		for _, pod := range obs.Pods {
			plan.Missing = append(plan.Missing, pod.Name)
		}
		return Next(obs, plan, now)
	}
	for state, phase := range map[observed.PodState]vcbatch.JobPhase{
		observed.Unscheduled: vcbatch.Pending, observed.Starting: vcbatch.Running, observed.Running: vcbatch.Running,
		observed.Failed: vcbatch.Failed, observed.Succeeded: vcbatch.Completed,
	} {
		size := func(workers int) int {
			text, err := json.Marshal(gang(workers, state, phase))
			require.NoError(t, err)
			return len(text)
		}
		require.Less(t, size(2000), size(20)+64, "%v: the digits of some numbers", state)
		status := gang(2000, state, phase)
		require.Len(t, status.Worker.Refs, 10)
		require.Equal(t, "job-worker-0", status.Worker.Refs[0].Name)
		require.Equal(t, "job-worker-9", status.Worker.Refs[9].Name)
		require.Len(t, status.PS.Refs, 1)
	}
}

// Each role counts each state in a field of its own, and points to the pods that count.
func TestEachStateOfEachRoleHasItsCount(t *testing.T) {
	t.Parallel()
	of := map[string]func(*v1.PaddleJobStatus) *v1.ResourceStatus{
		builder.RolePS:     func(s *v1.PaddleJobStatus) *v1.ResourceStatus { return s.PS },
		builder.RoleWorker: func(s *v1.PaddleJobStatus) *v1.ResourceStatus { return s.Worker },
		builder.RoleHeter:  func(s *v1.PaddleJobStatus) *v1.ResourceStatus { return s.Heter },
	}
	for state, want := range map[observed.PodState]v1.ResourceStatus{
		observed.Unscheduled: {Ready: "0/1", Replicas: 1, Pending: 1},
		observed.Starting:    {Ready: "0/1", Replicas: 1, Starting: 1},
		observed.Running:     {Ready: "1/1", Replicas: 1, Running: 1},
		observed.Succeeded:   {Ready: "0/1", Succeeded: 1},
		observed.Failed:      {Ready: "0/1", Failed: 1},
		observed.Unknown:     {Ready: "0/1", Replicas: 1, Unknown: 1},
		observed.Terminating: {Ready: "0/1"},
	} {
		for role, part := range of {
			obs := seen(vcbatch.Running, func(obs *observed.State) {
				obs.Job.Spec.PS, obs.Job.Spec.Worker, obs.Job.Spec.Heter = &v1.ResourceSpec{Replicas: 1}, &v1.ResourceSpec{Replicas: 1}, &v1.ResourceSpec{Replicas: 1}
				obs.VolcanoJob.Spec.Tasks = []vcbatch.TaskSpec{{Name: builder.RolePS, Replicas: 1}, {Name: builder.RoleWorker, Replicas: 1}, {Name: builder.RoleHeter, Replicas: 1}}
				obs.Pods = []*corev1.Pod{pod(role, 0, state)}
			})
			got := part(next(obs)).DeepCopy()
			refs := 1
			if state == observed.Terminating {
				refs = 0
			}
			require.Len(t, got.Refs, refs, "%s %v", role, state)
			got.Refs = nil
			require.Equal(t, want, *got, "%s %v", role, state)
		}
	}
}

// The mode is that of the spec from the first look on.
func TestModeFollowsTheRoles(t *testing.T) {
	t.Parallel()
	for want, spec := range map[v1.Mode]v1.PaddleJobSpec{
		v1.ModePS:         {PS: &v1.ResourceSpec{Replicas: 1}, Worker: &v1.ResourceSpec{Replicas: 1}},
		v1.ModeCollective: {Worker: &v1.ResourceSpec{Replicas: 2}},
		v1.ModeSingle:     {Worker: &v1.ResourceSpec{Replicas: 1}},
	} {
		require.Equal(t, want, next(seen("", func(obs *observed.State) { obs.VolcanoJob, obs.Job.Spec = nil, spec })).Mode)
	}
}

// The field has no writer, as in paddle-operator; what stands there is kept.
func TestElasticIsNotWritten(t *testing.T) {
	t.Parallel()
	elastic := func(obs *observed.State) {
		obs.Job.Spec.PS, obs.Job.Spec.Elastic, obs.VolcanoJob.Spec.Tasks = nil, ptr.To[int32](1), obs.VolcanoJob.Spec.Tasks[1:]
	}
	require.Nil(t, next(seen(vcbatch.Running, elastic)).Elastic)
	require.Equal(t, "DONE", *next(seen(vcbatch.Running, elastic, was(&v1.PaddleJobStatus{Elastic: ptr.To("DONE")}))).Elastic)
}

// The queue's phases of the PodGroup are Volcano's affair: pods that run are what makes a job run.
func TestPhaseDoesNotDependOnThePodGroup(t *testing.T) {
	t.Parallel()
	absent := seen(vcbatch.Running, pods(observed.Running, observed.Running, observed.Running), func(obs *observed.State) { obs.PodGroup = nil })
	require.Equal(t, v1.Running, Next(absent, &Plan{}, now).Phase)
	strange := seen(vcbatch.Running, pods(observed.Running, observed.Running, observed.Running), func(obs *observed.State) { obs.PodGroup.Status.Phase = "Unknown" })
	require.Equal(t, v1.Running, Next(strange, &Plan{}, now).Phase)
}

func TestSelectorOfTheWorkers(t *testing.T) {
	t.Parallel()
	require.Equal(t, "batch.paddlepaddle.org/job-name=job,paddle-res-type=worker", next(seen(vcbatch.Running)).Selector)
}

// The phase is for people: whatever it says, a job with the same conditions goes on in the same way.
func TestNothingReadsThePhase(t *testing.T) {
	t.Parallel()
	suspends := func(obs *observed.State) { obs.Job.Spec.RunPolicy = &v1.RunPolicy{Suspend: ptr.To(true)} }
	for _, volcano := range []vcbatch.JobPhase{vcbatch.Pending, vcbatch.Running, vcbatch.Aborting, vcbatch.Aborted, vcbatch.Restarting, vcbatch.Completing, vcbatch.Completed, vcbatch.Failed} {
		for _, before := range []v1.Phase{v1.Pending, v1.Starting, v1.Running, v1.Restarting, v1.Suspended, v1.Completed, v1.Failed} {
			for name, more := range map[string]change{
				"runs": pods(observed.Running, observed.Running, observed.Running), "failed": pods(observed.Running, observed.Running, observed.Failed),
				"without pods": func(*observed.State) {}, "suspends": suspends,
				"replaced": func(obs *observed.State) {
					pods(observed.Running, observed.Running, observed.Running)(obs)
					obs.VolcanoJob.DeletionTimestamp = &metav1.Time{Time: now}
				},
			} {
				decide := func(lie v1.Phase) (Plan, *v1.PaddleJobStatus) {
					obs := seen(volcano, phase(before), more)
					obs.Now, obs.Job.Status.Phase = now, lie
					plan := Decide(obs, builder.Config{})
					return plan, Next(obs, &plan, now)
				}
				plan, status := decide(before)
				for _, lie := range []v1.Phase{"", v1.Running, v1.Restarting, v1.Failed} {
					other, got := decide(lie)
					require.Equal(t, gistOf(plan), gistOf(other), "%s, %s, %s is called %q", volcano, name, before, lie)
					require.Equal(t, status, got, "%s, %s, %s is called %q", volcano, name, before, lie)
				}
			}
		}
	}
}
