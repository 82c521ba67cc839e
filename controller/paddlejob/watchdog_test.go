// SPDX-License-Identifier: Apache-2.0

package paddlejob

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
	"github.com/paddle-volcano/paddle-volcano/controller/volcano"
)

// A Volcano that is away will execute the command; one that reads commands and does nothing does not know the Volcano Job.
func TestVolcanoHasLostAVolcanoJob(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	now := epoch
	d.now = func() time.Time { return now }
	d.cached(t, d.stored(t))
	require.NoError(t, d.work(t))
	d.workerPod(t, corev1.PodStatus{Phase: corev1.PodSucceeded})
	commands := d.volcano.BusV1alpha1().Commands("ml")
	pass := func(howLong time.Duration, reads bool) {
		t.Helper()
		for end := now.Add(howLong); now.Before(end); now = now.Add(16 * time.Second) {
			if reads {
				list, err := commands.List(t.Context(), metav1.ListOptions{})
				require.NoError(t, err)
				for i := range list.Items {
					require.NoError(t, commands.Delete(t.Context(), list.Items[i].Name, metav1.DeleteOptions{}))
				}
			}
			job, err := d.paddle.BatchV1().PaddleJobs("ml").Get(t.Context(), "job", metav1.GetOptions{})
			require.NoError(t, err)
			d.cached(t, job)
			d.cachedVolcanoJob(t, vcbatch.Running)
			require.NoError(t, d.work(t))
		}
	}
	pass(10*time.Minute, false)
	require.NotEqual(t, v1.Completed, d.status(t).Phase, "it does not read")
	pass(4*time.Minute, true)
	require.NotEqual(t, v1.Completed, d.status(t).Phase, "it has read for less than five minutes")
	pass(2*time.Minute, true)
	require.Equal(t, v1.Completed, d.status(t).Phase)
	require.True(t, d.status(t).CompletionTime.After(epoch.Add(14*time.Minute)), "not when it began to run")

	job, err := d.volcano.BatchV1alpha1().Jobs("ml").Get(t.Context(), "job", metav1.GetOptions{})
	require.NoError(t, err)
	d.workerCaps.put("vc", observed.WorkerCap{})
	d.volcanoJobChanged(job, true)
	require.Empty(t, d.unacknowledged.values)
	require.Empty(t, d.commandSent.values)
	require.Empty(t, d.workerCaps.values)
}

var epoch = time.Date(2025, 11, 1, 12, 0, 0, 0, time.UTC)

func at(seconds int) time.Time { return epoch.Add(time.Duration(seconds) * time.Second) }

func TestMutationCache(t *testing.T) {
	t.Parallel()
	cm := func(version string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ResourceVersion: version}}
	}
	for name, tc := range map[string]struct {
		over    string
		cached  *corev1.ConfigMap
		elapsed time.Duration
		want    string
	}{
		"nothing assumed, nothing cached":  {},
		"created, not cached":              {over: "", want: "7"},
		"created, cached":                  {over: "", cached: cm("7"), want: "7"},
		"created, and changed since":       {over: "", cached: cm("9"), want: "9"},
		"created, never seen":              {over: "", elapsed: mutationTTL + 1},
		"updated, the old one cached":      {over: "3", cached: cm("3"), want: "7"},
		"updated, the new one cached":      {over: "3", cached: cm("7"), want: "7"},
		"updated, another's update cached": {over: "3", cached: cm("8"), want: "8"},
		"updated, and deleted since":       {over: "3"},
		"created, an earlier one cached":   {over: "", cached: cm("5"), want: "7"},
		"updated, one in between cached":   {over: "3", cached: cm("5"), want: "7"},
		"updated, no number cached":        {over: "3", cached: cm("5a"), want: "5a"},
		"updated, never seen":              {over: "3", cached: cm("3"), elapsed: mutationTTL + 1, want: "3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := mutationCache[*corev1.ConfigMap]{}
			if name != "nothing assumed, nothing cached" {
				a.put("key", mutation[*corev1.ConfigMap]{cm("7"), tc.over, epoch})
			}
			got, ok := a.newest("key", tc.cached, tc.cached != nil, epoch.Add(tc.elapsed))
			require.Equal(t, tc.want != "", ok)
			if ok {
				require.Equal(t, tc.want, got.ResourceVersion)
			}
		})
	}
}

func TestMutationIsDropped(t *testing.T) {
	t.Parallel()
	cm := func(uid types.UID) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "key", UID: uid}}
	}
	a := mutationCache[*corev1.ConfigMap]{}
	a.put("key", mutation[*corev1.ConfigMap]{cm("2"), "", epoch})
	a.forgetDeleted(cm("1"))
	_, ok := a.newest("key", nil, false, epoch)
	require.True(t, ok, "an earlier one of the name was deleted")
	a.forgetDeleted(cm("2"))
	_, ok = a.newest("key", nil, false, epoch)
	require.False(t, ok)
}

// A pod that lingers keeps the next Volcano Job of the name waiting; pods that come and go with every restart do not.
func TestDeletions(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	now := epoch
	d.now = func() time.Time { return now }
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "job-worker-0", Labels: map[string]string{v1.JobNameLabel: "job"}}}
	d.podChanged(pod, true)
	require.Empty(t, d.deletions.values)
	job := &vcbatch.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "job"}}
	d.volcanoJobChanged(job, true)
	now = now.Add(10 * time.Second)
	d.podChanged(pod, true)
	deletion, _ := d.deletions.get("ml/job")
	require.Equal(t, volcano.Deletion{Job: epoch, LastPod: now}, deletion)
	now = now.Add(time.Minute)
	job.Name = "other"
	d.volcanoJobChanged(job, true)
	require.Len(t, d.deletions.values, 1, "what is over is forgotten")
}

func TestFailures(t *testing.T) {
	t.Parallel()
	pod := func(name, attempt string, phase corev1.PodPhase) *corev1.Pod {
		controls := true
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Name: name, Annotations: map[string]string{vcbatch.JobRetryCountKey: attempt},
				OwnerReferences: []metav1.OwnerReference{{Kind: "Job", UID: "vc", Controller: &controls}},
			},
			Status: corev1.PodStatus{Phase: phase},
		}
	}
	evicted := pod("c", "0", corev1.PodRunning)
	evicted.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "PreemptionByScheduler", Message: "for a better one",
	}}
	killed := pod("d", "0", corev1.PodRunning)
	killed.Annotations[v1.OutOfSyncAnnotation] = "true"
	ended := pod("f", "0", corev1.PodFailed)
	ended.Annotations[v1.OutOfSyncAnnotation] = "true"
	foreign := pod("e", "0", corev1.PodFailed)
	foreign.OwnerReferences[0].Kind = "ReplicaSet"
	type sight struct {
		pod     *corev1.Pod
		deleted bool
	}
	for name, tc := range map[string]struct {
		seen []sight
		want *observed.Failure
	}{
		"nothing":             {},
		"runs":                {seen: []sight{{pod: pod("a", "0", corev1.PodRunning)}}},
		"fails":               {seen: []sight{{pod: pod("a", "0", corev1.PodFailed)}}, want: &observed.Failure{Reason: "PodFailed", Message: "a failed"}},
		"the first counts":    {seen: []sight{{pod: pod("a", "1", corev1.PodFailed)}, {pod: pod("b", "1", corev1.PodFailed)}}, want: &observed.Failure{Attempt: 1, Reason: "PodFailed", Message: "a failed"}},
		"the last attempt's":  {seen: []sight{{pod: pod("a", "0", corev1.PodFailed)}, {pod: pod("b", "1", corev1.PodFailed)}}, want: &observed.Failure{Attempt: 1, Reason: "PodFailed", Message: "b failed"}},
		"an old one, late":    {seen: []sight{{pod: pod("b", "1", corev1.PodFailed)}, {pod: pod("a", "0", corev1.PodFailed)}}, want: &observed.Failure{Attempt: 1, Reason: "PodFailed", Message: "b failed"}},
		"deleted":             {seen: []sight{{pod: pod("a", "0", corev1.PodRunning), deleted: true}}, want: &observed.Failure{Reason: "PodEvicted", Message: "a was deleted or evicted"}},
		"evicted":             {seen: []sight{{pod: evicted, deleted: true}}, want: &observed.Failure{Reason: "PodEvicted", Message: "c was evicted: PreemptionByScheduler for a better one"}},
		"deleted by Volcano":  {seen: []sight{{pod: killed, deleted: true}}},
		"deleted when done":   {seen: []sight{{pod: pod("a", "0", corev1.PodSucceeded), deleted: true}}},
		"stopped":             {seen: []sight{{pod: ended}}, want: &observed.Failure{Reason: "PodFailed", ByVolcano: true, Message: "f failed"}},
		"stopped before":      {seen: []sight{{pod: ended}, {pod: pod("a", "0", corev1.PodFailed)}}, want: &observed.Failure{Reason: "PodFailed", Message: "a failed"}},
		"stopped after":       {seen: []sight{{pod: pod("a", "0", corev1.PodFailed)}, {pod: ended}}, want: &observed.Failure{Reason: "PodFailed", Message: "a failed"}},
		"somebody else's":     {seen: []sight{{pod: foreign}}},
		"without its attempt": {seen: []sight{{pod: pod("a", "", corev1.PodFailed)}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var failures memory[observed.Failure]
			for _, s := range tc.seen {
				noteFailure(&failures, s.pod, s.deleted)
			}
			failure, ok := failures.get("vc")
			require.Equal(t, tc.want != nil, ok)
			if ok {
				require.Equal(t, *tc.want, failure)
			}
		})
	}
}

func TestFirstSeen(t *testing.T) {
	t.Parallel()
	s := firstSeen{}
	_, known := s.since("key", at(0))
	require.False(t, known)
	ago, known := s.since("key", at(10))
	require.True(t, known)
	require.Equal(t, 10*time.Second, ago)
	_, known = s.since("other", at(10))
	require.False(t, known)
	s.forget("key")
	_, known = s.since("key", at(11))
	require.False(t, known)
}

func TestSoonest(t *testing.T) {
	t.Parallel()
	require.Zero(t, minNonZero())
	require.Zero(t, minNonZero(0, 0))
	require.Equal(t, time.Second, minNonZero(0, time.Minute, time.Second))
}

func TestSlim(t *testing.T) {
	t.Parallel()
	since := metav1.NewTime(time.Date(2025, 11, 1, 12, 0, 0, 0, time.UTC))
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "a", ManagedFields: []metav1.ManagedFieldsEntry{{}},
			Labels:      map[string]string{v1.JobNameLabel: "a", v1.TaskIndexLabel: "0", "volcano.sh/job-name": "a"},
			Annotations: map[string]string{v1.OutOfSyncAnnotation: "true", vcbatch.JobRetryCountKey: "1", vcbatch.TaskSpecKey: "ps", "another": "b"},
		},
		Spec: corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Name: "c"}}},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, PodIP: "10.0.0.1",
			Conditions: []corev1.PodCondition{
				{Type: corev1.PodReady}, {Type: corev1.DisruptionTarget, Reason: "r"},
				{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: since, LastProbeTime: since},
			},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "c", Image: "i", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}}},
		},
	}
	_, err := stripUnusedFields(pod)
	require.NoError(t, err)
	require.Equal(t, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "a", Labels: map[string]string{v1.JobNameLabel: "a", v1.TaskIndexLabel: "0"},
			Annotations: map[string]string{v1.OutOfSyncAnnotation: "true", vcbatch.JobRetryCountKey: "1", vcbatch.TaskSpecKey: "ps"},
		},
		Spec: corev1.PodSpec{NodeName: "n"},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, PodIP: "10.0.0.1",
			Conditions: []corev1.PodCondition{
				{Type: corev1.DisruptionTarget, Reason: "r"},
				{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: since},
			},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "c", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}}},
		},
	}, pod)

	job := func(labels map[string]string) *vcbatch.Job {
		return &vcbatch.Job{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: vcbatch.JobSpec{Queue: "q"}}
	}
	labeled, other := job(map[string]string{v1.JobNameLabel: "a"}), job(nil)
	_, err = stripUnusedFields(labeled)
	require.NoError(t, err)
	_, err = stripUnusedFields(other)
	require.NoError(t, err)
	require.Equal(t, "q", labeled.Spec.Queue)
	require.Empty(t, other.Spec.Queue, "only that it exists counts")
}
