// SPDX-License-Identifier: Apache-2.0

package render

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
)

func TestJobOfServersAndWorkers(t *testing.T) {
	job := paddleJob(2, 3)
	job.Labels = map[string]string{"team": "ads", keys.JobName: "stolen"}
	job.Annotations = map[string]string{"note": "n", corev1.LastAppliedConfigAnnotation: "{}"}
	got, told := mustJob(t, job)

	require.Empty(t, told)
	require.Equal(t, metav1.TypeMeta{APIVersion: "batch.volcano.sh/v1alpha1", Kind: "Job"}, got.TypeMeta)
	require.Equal(t, "wide", got.Name)
	require.Equal(t, "train", got.Namespace)
	require.Equal(t, map[string]string{"team": "ads", keys.JobName: "wide", keys.ExcludeFromBackup: "true"}, got.Labels)
	require.Equal(t, map[string]string{"note": "n", keys.Mode: "PS", keys.SpecHash: SpecHash(job)}, got.Annotations)
	require.Equal(t, []metav1.OwnerReference{{
		APIVersion: "batch.paddlepaddle.org/v1", Kind: "PaddleJob", Name: "wide", UID: "0f1e",
		Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
	}}, got.OwnerReferences)
	require.Empty(t, got.Finalizers)

	require.Equal(t, "volcano", got.Spec.SchedulerName)
	require.Equal(t, "default", got.Spec.Queue)
	require.Empty(t, got.Spec.PriorityClassName)
	require.EqualValues(t, 5, got.Spec.MinAvailable)
	require.Equal(t, unlimited, got.Spec.MaxRetry, "the controller counts")
	require.Equal(t, []vcbatch.LifecyclePolicy{
		{Event: vcbus.PodEvictedEvent, Action: vcbus.RestartJobAction},
		{Event: vcbus.PodFailedEvent, Action: vcbus.AbortJobAction, Timeout: &metav1.Duration{Duration: failureTimeout}},
	}, got.Spec.Policies)
	require.Equal(t, map[string][]string{"svc": {"--publish-not-ready-addresses=true", "--disable-network-policy=true"}}, got.Spec.Plugins)

	require.Len(t, got.Spec.Tasks, 2)
	for i, want := range []struct {
		name     string
		replicas int32
		policies []vcbatch.LifecyclePolicy
	}{
		{RolePS, 2, nil},
		{RoleWorker, 3, []vcbatch.LifecyclePolicy{{Event: vcbus.TaskCompletedEvent, Action: vcbus.CompleteJobAction}}},
	} {
		task := got.Spec.Tasks[i]
		require.Equal(t, want.name, task.Name)
		require.Equal(t, want.replicas, task.Replicas)
		require.Equal(t, ptr.To(want.replicas), task.MinAvailable)
		require.EqualValues(t, 3, task.MaxRetry)
		require.Equal(t, want.policies, task.Policies)
	}
}

func TestJobOfWorkersAlone(t *testing.T) {
	for workers, mode := range map[int]v1.Mode{1: v1.ModeSingle, 4: v1.ModeCollective} {
		got, told := mustJob(t, paddleJob(0, workers))
		require.Empty(t, told)
		require.Len(t, got.Spec.Tasks, 1)
		require.Equal(t, RoleWorker, got.Spec.Tasks[0].Name)
		require.EqualValues(t, workers, got.Spec.MinAvailable)
		require.Equal(t, string(mode), got.Annotations[keys.Mode])
	}
}

func TestJobFollowsPolicyThenPodGroup(t *testing.T) {
	own := policy(func(p *v1.SchedulingPolicy) { p.Queue, p.PriorityClass = "own", "high" })
	wish := Wish{Queue: "theirs", PriorityClassName: "low", MinMember: 3}
	cases := map[string]struct {
		job             *v1.PaddleJob
		wish            Wish
		queue, priority string
		min             int32
	}{
		"nothing":                      {paddleJob(2, 2), Wish{}, "default", "", 4},
		"the PodGroup":                 {paddleJob(2, 2), wish, "theirs", "low", 3},
		"the namespace":                {paddleJob(2, 2), Wish{NamespaceQueue: "team"}, "team", "", 4},
		"the PodGroup is in default":   {paddleJob(2, 2), Wish{Queue: "default", NamespaceQueue: "team"}, "team", "", 4},
		"the PodGroup, then namespace": {paddleJob(2, 2), Wish{Queue: "theirs", NamespaceQueue: "team"}, "theirs", "", 4},
		"the policy, then namespace":   {paddleJob(2, 2, own), Wish{NamespaceQueue: "team"}, "own", "high", 4},
		"the policy is default": {paddleJob(2, 2, policy(func(p *v1.SchedulingPolicy) { p.Queue = "default" })), Wish{NamespaceQueue: "team"},
			"default", "", 4},
		"the policy":     {paddleJob(2, 2, own, minAvailable(4)), wish, "own", "high", 4},
		"some of either": {paddleJob(2, 2, own), wish, "own", "high", 3},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, _ := Job(c.job, c.wish, Config{})
			require.Equal(t, c.queue, got.Spec.Queue)
			require.Equal(t, c.priority, got.Spec.PriorityClassName)
			require.Equal(t, c.min, got.Spec.MinAvailable)
			for i := range got.Spec.Tasks {
				require.Equal(t, c.priority, got.Spec.Tasks[i].Template.Spec.PriorityClassName)
			}
		})
	}
}

func TestJobKeepsServersWhole(t *testing.T) {
	cases := map[string]struct {
		job     *v1.PaddleJob
		servers int32
		workers int32
		raised  bool
	}{
		"all":               {paddleJob(2, 4, minAvailable(6)), 2, 4, false},
		"fewer workers":     {paddleJob(2, 4, minAvailable(4)), 2, 2, false},
		"one worker":        {paddleJob(2, 4, minAvailable(3)), 2, 1, false},
		"servers only":      {paddleJob(2, 4, minAvailable(2)), 2, 1, true},
		"less than servers": {paddleJob(2, 4, minAvailable(1)), 2, 1, true},
		"no servers":        {paddleJob(0, 4, minAvailable(1)), 0, 1, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, told := mustJob(t, c.job)
			if c.servers > 0 {
				require.Equal(t, c.servers, *taskOf(t, got, RolePS).MinAvailable)
			}
			require.Equal(t, c.workers, *taskOf(t, got, RoleWorker).MinAvailable)
			// Below the sum, stock Volcano would forget the roles' minimums.
			require.Equal(t, c.servers+c.workers, got.Spec.MinAvailable)
			if c.raised {
				requireNotice(t, told, ReasonMinAvailableRaised, "spec.schedulingPolicy.minAvailable", "3 is used")
			} else {
				require.NotContains(t, reasons(told), ReasonMinAvailableRaised)
			}
		})
	}
}

func TestJobTellsThatTrainingWaits(t *testing.T) {
	_, told := mustJob(t, paddleJob(2, 4, minAvailable(4)))
	requireNotice(t, told, ReasonWaitsForAll, "4 pods", "all 6", "Service")
	for _, addresses := range []v1.Intranet{v1.PodIP, v1.Service} {
		_, told := mustJob(t, paddleJob(0, 4, minAvailable(2), intranet(addresses)))
		requireNotice(t, told, ReasonWaitsForAll, "2 pods", "all 4 workers", "launcher")
	}
	for name, job := range map[string]*v1.PaddleJob{
		"names are known beforehand": paddleJob(2, 4, minAvailable(4), intranet(v1.Service)),
		"all are wanted":             paddleJob(2, 4, minAvailable(6)),
		"nothing is said":            paddleJob(2, 4),
	} {
		_, told := mustJob(t, job)
		require.Empty(t, told, name)
	}
	_, told = Job(paddleJob(2, 4), Wish{MinMember: 5}, Config{})
	requireNotice(t, told, ReasonWaitsForAll, "spec.minMember of the PodGroup wide")
}

func TestJobTellsWhatHasNoEffect(t *testing.T) {
	for _, policy := range []v1.CleanPodPolicy{"", v1.CleanAlways, v1.CleanNever, v1.CleanOnFailure, v1.CleanOnCompletion} {
		_, told := mustJob(t, paddleJob(0, 2, func(job *v1.PaddleJob) { job.Spec.CleanPodPolicy = policy }))
		require.Empty(t, told, policy)
	}
	_, told := mustJob(t, paddleJob(0, 2, func(job *v1.PaddleJob) { job.Spec.CleanPodPolicy = "OnFailed" }))
	requireNotice(t, told, ReasonCleanPodPolicy, "cleanPodPolicy", "OnFailed", "Never")
	_, told = mustJob(t, paddleJob(0, 2, policy(func(p *v1.SchedulingPolicy) { p.MinResources = list("cpu", "1") })))
	requireNotice(t, told, ReasonMinResources, "spec.schedulingPolicy.minResources")
}

// The reconciler renders also what it has refused, to tell about it.
func TestJobOfNonsenseIsHarmless(t *testing.T) {
	job := paddleJob(math.MaxInt, math.MaxInt)
	got, _ := Job(job, Wish{MinMember: math.MinInt32}, Config{})
	require.EqualValues(t, math.MaxInt32, got.Spec.MinAvailable)
	addresses, _, missing := PodAddresses(job, nil)
	require.LessOrEqual(t, len(missing), 2*longestRole)
	require.Len(t, ServiceAddresses(job)[RolePS], longestRole)
	require.Len(t, addresses[RoleWorker], longestRole)

	got, _ = Job(paddleJob(-1, -1), Wish{}, Config{})
	require.Empty(t, got.Spec.Tasks)
	got, _ = Job(paddleJob(0, 2, func(job *v1.PaddleJob) { job.Spec.Worker.Replicas = -5 }), Wish{}, Config{})
	require.Zero(t, got.Spec.MinAvailable)
}

func reasons(all []Notice) []string {
	found := make([]string, 0, len(all))
	for _, notice := range all {
		found = append(found, notice.Reason)
	}
	return found
}
