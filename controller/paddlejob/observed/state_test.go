// SPDX-License-Identifier: Apache-2.0

package observed

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
)

func waits() corev1.ContainerStatus {
	return corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}}
}

func exited(code int32, reason string) corev1.ContainerStatus {
	return corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason}}}
}

func TestState(t *testing.T) {
	t.Parallel()
	leaving := &metav1.Time{}
	for name, tc := range map[string]struct {
		pod  corev1.Pod
		want PodState
	}{
		"without a node":       {pod: corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodPending}}, want: Unscheduled},
		"on a node":            {pod: corev1.Pod{Spec: corev1.PodSpec{NodeName: "n"}, Status: corev1.PodStatus{Phase: corev1.PodPending}}, want: Starting},
		"runs":                 {pod: corev1.Pod{Spec: corev1.PodSpec{NodeName: "n"}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}, want: Running},
		"restarts in place":    {pod: corev1.Pod{Spec: corev1.PodSpec{NodeName: "n"}, Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{waits()}}}, want: Starting},
		"has succeeded":        {pod: corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodSucceeded}}, want: Succeeded},
		"has failed":           {pod: corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed}}, want: Failed},
		"is not heard of":      {pod: corev1.Pod{Spec: corev1.PodSpec{NodeName: "n"}, Status: corev1.PodStatus{Phase: corev1.PodUnknown}}, want: Unknown},
		"runs and leaves":      {pod: corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: leaving}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}, want: Terminating},
		"succeeded and leaves": {pod: corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: leaving}, Status: corev1.PodStatus{Phase: corev1.PodSucceeded}}, want: Succeeded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, NewRolePod(&tc.pod).State)
		})
	}
}

func TestMember(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		name   string
		labels map[string]string
		role   string
		index  int
	}{
		"Volcano's":         {name: "j-ps-7", labels: map[string]string{vcbatch.TaskSpecKey: "ps", v1.TaskIndexLabel: "1", v1.ResourceTypeLabel: "worker"}, role: "ps", index: 1},
		"paddle-operator's": {name: "my-job-worker-12", labels: map[string]string{v1.ResourceTypeLabel: "worker"}, role: "worker", index: 12},
		"neither":           {name: "pod", index: -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := NewRolePod(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: tc.name, Labels: tc.labels}})
			require.Equal(t, tc.role, m.Role)
			require.Equal(t, tc.index, m.Index)
		})
	}
}

func TestEnding(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status corev1.PodStatus
		want   string
	}{
		"exit code":         {status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{exited(0, "Completed"), exited(3, "Error")}}, want: "p exited with code 3"},
		"out of memory":     {status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{exited(137, "OOMKilled")}}, want: "p exited with code 137 (OOMKilled)"},
		"an init container": {status: corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{exited(1, "")}, ContainerStatuses: []corev1.ContainerStatus{waits()}}, want: "p exited with code 1"},
		"evicted":           {status: corev1.PodStatus{Reason: "Evicted", Message: "disk pressure"}, want: "p failed: Evicted disk pressure"},
		"no reason":         {want: "p failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, TerminationMessage(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Status: tc.status}))
		})
	}
}

func TestSortPods(t *testing.T) {
	t.Parallel()
	var pods []*corev1.Pod
	for _, name := range []string{"j-worker-10", "j-worker-2", "j-ps-1", "j-worker-0", "j-ps-0"} {
		role := "worker"
		if name[2] == 'p' {
			role = "ps"
		}
		pods = append(pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.ResourceTypeLabel: role}}})
	}
	SortPods(pods)
	var names []string
	for _, pod := range pods {
		names = append(names, pod.Name)
	}
	require.Equal(t, []string{"j-ps-0", "j-ps-1", "j-worker-0", "j-worker-2", "j-worker-10"}, names)
}

func TestSize(t *testing.T) {
	t.Parallel()
	least := int32(2)
	v := &State{Job: &v1.PaddleJob{Spec: v1.PaddleJobSpec{Worker: &v1.ResourceSpec{Replicas: 9}, PS: &v1.ResourceSpec{Replicas: 1}}}}
	size := func(role string) [2]int32 {
		total, minimum := v.Size(role)
		return [2]int32{total, minimum}
	}
	require.Equal(t, [2]int32{9, 9}, size("worker"), "of the spec, before there is a Volcano Job")
	require.Equal(t, [2]int32{}, size("heter"))
	v.VolcanoJob = &vcbatch.Job{Spec: vcbatch.JobSpec{Tasks: []vcbatch.TaskSpec{{Name: "worker", Replicas: 3, MinAvailable: &least}, {Name: "ps", Replicas: 4}}}}
	require.Equal(t, [2]int32{3, 2}, size("worker"), "of what runs, also after the spec has changed")
	require.Equal(t, [2]int32{4, 4}, size("ps"))
	require.Equal(t, [2]int32{}, size("heter"))
}

func TestSucceeded(t *testing.T) {
	t.Parallel()
	worker := func(index string, phase corev1.PodPhase, end time.Time) *corev1.Pod {
		done := exited(0, "")
		done.State.Terminated.FinishedAt = metav1.NewTime(end)
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{vcbatch.TaskSpecKey: "worker", v1.TaskIndexLabel: index}},
			Status:     corev1.PodStatus{Phase: phase, ContainerStatuses: []corev1.ContainerStatus{done}},
		}
	}
	early, late := time.Unix(10, 0), time.Unix(20, 0)
	observedState := func(pods ...*corev1.Pod) *State {
		return &State{
			Job: &v1.PaddleJob{}, Pods: pods,
			VolcanoJob: &vcbatch.Job{Spec: vcbatch.JobSpec{Tasks: []vcbatch.TaskSpec{{Name: "worker", Replicas: 2}}}},
		}
	}
	both := observedState(worker("0", corev1.PodSucceeded, late), worker("1", corev1.PodSucceeded, early))
	require.True(t, both.Succeeded())
	require.True(t, both.LastEnd().Equal(late))
	require.False(t, observedState(worker("0", corev1.PodSucceeded, late), worker("1", corev1.PodRunning, early)).Succeeded())
	require.False(t, observedState(worker("0", corev1.PodSucceeded, late), worker("0", corev1.PodSucceeded, early)).Succeeded(), "one index twice")
	require.False(t, (&State{Job: &v1.PaddleJob{}}).Succeeded(), "no workers at all")
}

func TestEnded(t *testing.T) {
	t.Parallel()
	for phase, want := range map[vcbatch.JobPhase]bool{
		"": false, vcbatch.Pending: false, vcbatch.Running: false, vcbatch.Restarting: false, vcbatch.Aborting: false, vcbatch.Aborted: false,
		vcbatch.Completing: true, vcbatch.Completed: true, vcbatch.Terminating: true, vcbatch.Terminated: true, vcbatch.Failed: false,
	} {
		job := &vcbatch.Job{Status: vcbatch.JobStatus{RetryCount: 2, State: vcbatch.JobState{Phase: phase}}}
		require.Equal(t, want, (&State{Job: &v1.PaddleJob{}, VolcanoJob: job}).Ended(), phase)
	}
	require.False(t, (&State{Job: &v1.PaddleJob{}}).Ended(), "no Volcano Job")
}

func TestMissingPods(t *testing.T) {
	t.Parallel()
	job := func(phase vcbatch.JobPhase) *vcbatch.Job {
		return &vcbatch.Job{
			Spec:   vcbatch.JobSpec{Tasks: []vcbatch.TaskSpec{{Name: "worker", Replicas: 2}}},
			Status: vcbatch.JobStatus{State: vcbatch.JobState{Phase: phase}},
		}
	}
	group := func(phase vcscheduling.PodGroupPhase) *vcscheduling.PodGroup {
		return &vcscheduling.PodGroup{Status: vcscheduling.PodGroupStatus{Phase: phase}}
	}
	for name, tc := range map[string]struct {
		observedState State
		want          bool
	}{
		"admitted":           {observedState: State{VolcanoJob: job(vcbatch.Pending), PodGroup: group(vcscheduling.PodGroupInqueue), Pods: make([]*corev1.Pod, 1)}, want: true},
		"unknown to Volcano": {observedState: State{VolcanoJob: job(""), PodGroup: group(vcscheduling.PodGroupInqueue)}, want: true},
		"all are made":       {observedState: State{VolcanoJob: job(vcbatch.Pending), PodGroup: group(vcscheduling.PodGroupInqueue), Pods: make([]*corev1.Pod, 2)}},
		"not admitted":       {observedState: State{VolcanoJob: job(vcbatch.Pending), PodGroup: group(vcscheduling.PodGroupPending)}},
		"not listed":         {observedState: State{VolcanoJob: job(vcbatch.Pending), PodGroup: group("")}},
		"no PodGroup":        {observedState: State{VolcanoJob: job(vcbatch.Pending)}},
		"it runs":            {observedState: State{VolcanoJob: job(vcbatch.Running), PodGroup: group(vcscheduling.PodGroupRunning)}},
		"no Volcano Job":     {observedState: State{PodGroup: group(vcscheduling.PodGroupInqueue)}},
	} {
		tc.observedState.Job = &v1.PaddleJob{}
		require.Equal(t, tc.want, tc.observedState.PodsMissing(), name)
	}
}

// A job of 2 to 4 has succeeded when every worker that has started has, and at least two did.
func TestElasticSucceeded(t *testing.T) {
	t.Parallel()
	const waits, runs, good, bad = corev1.PodPending, corev1.PodRunning, corev1.PodSucceeded, corev1.PodFailed
	for name, tc := range map[string]struct {
		pods []corev1.PodPhase
		want bool
		all  bool
	}{
		"all":                       {pods: []corev1.PodPhase{good, good, good, good}, want: true, all: true},
		"those that ran":            {pods: []corev1.PodPhase{good, good, waits, waits}, want: true},
		"those that there are":      {pods: []corev1.PodPhase{good, good}, want: true},
		"one still runs":            {pods: []corev1.PodPhase{good, good, runs, waits}},
		"one failed":                {pods: []corev1.PodPhase{good, good, bad, waits}},
		"fewer than training needs": {pods: []corev1.PodPhase{good, waits, waits, waits}},
		"none":                      {pods: []corev1.PodPhase{waits, waits, waits, waits}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := &State{Job: &v1.PaddleJob{}, VolcanoJob: &vcbatch.Job{Spec: vcbatch.JobSpec{Tasks: []vcbatch.TaskSpec{
				{Name: builder.RoleWorker, Replicas: 4, MinAvailable: ptr.To[int32](2)},
			}}}}
			v.Job.Spec.Worker = &v1.ResourceSpec{Replicas: 4}
			for i, phase := range tc.pods {
				pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("job-worker-%d", i), Labels: map[string]string{vcbatch.TaskSpecKey: builder.RoleWorker}}}
				pod.Status.Phase = phase
				if phase != waits {
					pod.Spec.NodeName = "node"
				}
				v.Pods = append(v.Pods, pod)
			}
			require.Equal(t, tc.all, v.Succeeded(), "not elastic")
			v.Job.Spec.Elastic = ptr.To[int32](1)
			require.Equal(t, tc.want, v.Succeeded())
			require.Equal(t, tc.all, v.AllSucceeded())
		})
	}
}

func TestBackoffLimit(t *testing.T) {
	t.Parallel()
	v := &State{Job: &v1.PaddleJob{}}
	require.EqualValues(t, 2, v.BackoffLimit())
	v.Job.Spec.RunPolicy = &v1.RunPolicy{BackoffLimit: ptr.To[int32](7)}
	require.EqualValues(t, 7, v.BackoffLimit())
}

func TestOutcomeAndPlacement(t *testing.T) {
	t.Parallel()
	is := func(kind, reason string, status metav1.ConditionStatus) metav1.Condition {
		return metav1.Condition{Type: kind, Status: status, Reason: reason}
	}
	scheduled := is(v1.ConditionScheduled, "GangPlaced", metav1.ConditionTrue)
	for name, tc := range map[string]struct {
		status             v1.PaddleJobStatus
		outcome            v1.Phase
		restarting, placed bool
	}{
		"new":                         {},
		"succeeded":                   {status: v1.PaddleJobStatus{Conditions: []metav1.Condition{scheduled, is(v1.ConditionSucceeded, "", metav1.ConditionTrue)}}, outcome: v1.Completed},
		"failed":                      {status: v1.PaddleJobStatus{Conditions: []metav1.Condition{scheduled, is(v1.ConditionFailed, "", metav1.ConditionTrue)}}, outcome: v1.Failed},
		"placed":                      {status: v1.PaddleJobStatus{Conditions: []metav1.Condition{scheduled}}, placed: true},
		"waits":                       {status: v1.PaddleJobStatus{Conditions: []metav1.Condition{is(v1.ConditionAdmitted, "Queueing", metav1.ConditionFalse)}}},
		"restarts":                    {status: v1.PaddleJobStatus{Conditions: []metav1.Condition{is(v1.ConditionAdmitted, ReasonRestarting, metav1.ConditionFalse)}}, restarting: true, placed: true},
		"ended under paddle-operator": {status: v1.PaddleJobStatus{Phase: v1.Completed}, outcome: v1.Completed},
		"runs under paddle-operator":  {status: v1.PaddleJobStatus{Phase: v1.Running}},
		"a phase against conditions":  {status: v1.PaddleJobStatus{Phase: v1.Failed, Conditions: []metav1.Condition{scheduled}}, placed: true},
	} {
		require.Equal(t, tc.outcome, Outcome(&tc.status), name)
		require.Equal(t, tc.restarting, Restarting(&tc.status), name)
		require.Equal(t, tc.placed, Placed(&tc.status), name)
	}
}
