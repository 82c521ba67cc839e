// SPDX-License-Identifier: Apache-2.0

package paddlejob

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/lifecycle"
	"github.com/paddle-volcano/paddle-volcano/controller/volcano"
)

// workerPod puts the only worker into the cache.
func (d *desk) workerPod(t *testing.T, status corev1.PodStatus) *corev1.Pod {
	t.Helper()
	owner := &vcbatch.Job{ObjectMeta: metav1.ObjectMeta{Name: "job", UID: "vc"}}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ml", Name: "job-worker-0", UID: "pod",
			Labels:          map[string]string{v1.JobNameLabel: "job", vcbatch.TaskSpecKey: "worker", v1.TaskIndexLabel: "0"},
			Annotations:     map[string]string{vcbatch.TaskSpecKey: "worker", vcbatch.JobRetryCountKey: "0"},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, vcbatch.SchemeGroupVersion.WithKind("Job"))},
		},
		Spec: corev1.PodSpec{NodeName: "node"}, Status: status,
	}
	require.NoError(t, d.pods.Add(pod))
	return pod
}

// A ConfigMap that comes up after the Volcano Job was made is not seen by the check before, nor by the cache.
func TestForeignEnvironmentIsNeverOverwritten(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		owner            types.UID
		label            string
		stalls, restored bool
	}{
		"somebody's":                 {owner: "other", stalls: true},
		"our own, not cached yet":    {owner: "uid", label: "job"},
		"our own, without its label": {owner: "uid", restored: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.cached(t, d.stored(t))
			require.NoError(t, d.work(t))
			controls := true
			existing := &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "job", OwnerReferences: []metav1.OwnerReference{{UID: tc.owner, Controller: &controls}}},
				Data:       map[string]string{"mine": "mine"},
			}
			if tc.label != "" {
				existing.Labels = map[string]string{v1.JobNameLabel: tc.label}
			}
			require.NoError(t, d.kube.Tracker().Add(existing))
			d.workerPod(t, corev1.PodStatus{Phase: corev1.PodPending, PodIP: "10.0.0.1"})
			err := d.work(t)
			if tc.restored {
				require.NoError(t, err)
				created, err := d.kube.CoreV1().ConfigMaps("ml").Get(t.Context(), "job", metav1.GetOptions{})
				require.NoError(t, err)
				require.Equal(t, "job", created.Labels[v1.JobNameLabel])
				require.NotContains(t, created.Data, "mine")
				return
			}
			if !tc.stalls {
				require.ErrorIs(t, err, errStale)
				return
			}
			var refused *rejection
			require.ErrorAs(t, err, &refused)
			c := meta.FindStatusCondition(d.status(t).Conditions, v1.ConditionStalled)
			require.Equal(t, lifecycle.ReasonNameTaken, c.Reason)
			kept, err := d.kube.CoreV1().ConfigMaps("ml").Get(t.Context(), "job", metav1.GetOptions{})
			require.NoError(t, err)
			require.Equal(t, existing.Data, kept.Data)
		})
	}
}

func TestCommandIsGivenOnceAtATime(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	now := epoch
	d.now = func() time.Time { return now }
	d.cached(t, d.stored(t))
	require.NoError(t, d.work(t))
	d.cachedVolcanoJob(t, vcbatch.Running)
	end := metav1.NewTime(epoch)
	d.workerPod(t, corev1.PodStatus{Phase: corev1.PodSucceeded, ContainerStatuses: []corev1.ContainerStatus{{
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: end}},
	}}})
	commands := func() int {
		count := 0
		for _, action := range d.volcano.Actions() {
			if action.Matches("create", "commands") {
				count++
			}
		}
		return count
	}
	wait, err := d.sync(t.Context(), "ml/job")
	require.NoError(t, err)
	require.LessOrEqual(t, wait, volcano.CompletionGracePeriod, "it comes back when the time is over")
	require.Positive(t, wait)
	require.Zero(t, commands(), "Volcano may do it by itself")

	now = now.Add(volcano.CompletionGracePeriod)
	require.NoError(t, d.work(t))
	require.NoError(t, d.work(t))
	require.Equal(t, 1, commands())
	now = now.Add(volcano.CommandPeriod)
	require.NoError(t, d.work(t), "Volcano has not read the first one yet")
	require.Equal(t, 2, commands())
}

func TestFinalizer(t *testing.T) {
	t.Parallel()
	withFinalizers := func(job *v1.PaddleJob) { job.Finalizers = []string{"keep/this", v1.OperatorFinalizer} }
	d := newDesk(t)
	d.cached(t, d.stored(t, withFinalizers))
	require.NoError(t, d.work(t))
	job, err := d.paddle.BatchV1().PaddleJobs("ml").Get(t.Context(), "job", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"keep/this"}, job.Finalizers)
	require.Equal(t, v1.Pending, job.Status.Phase, "the same sync goes on")

	d = newDesk(t)
	d.cached(t, d.stored(t, withFinalizers))
	d.paddle.PrependReactor("patch", "paddlejobs", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewConflict(v1.Resource("paddlejobs"), "job", errors.New("changed"))
	})
	require.ErrorIs(t, d.work(t), errStale)
}

func TestRefusedOr(t *testing.T) {
	t.Parallel()
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "jobs"}, "job", errors.New("quota"))
	var refused *rejection
	require.ErrorAs(t, rejectionOr(forbidden), &refused)
	require.Equal(t, ReasonRefused, refused.reason)
	require.ErrorIs(t, rejectionOr(forbidden), forbidden)
	other := errors.New("connection refused")
	require.Equal(t, other, rejectionOr(other))
}

// A Volcano Job of the job's name that comes up while the controller creates its own is looked at again, and never adopted.
func TestVolcanoJobOfOthersIsNotAdopted(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		owner types.UID
		is    error
	}{
		"controlled by another object": {owner: "other", is: errStale},
		"controlled by the PaddleJob":  {owner: "uid"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			job := d.stored(t)
			d.cached(t, job)
			owner := job.DeepCopy()
			owner.UID = tc.owner
			d.volcano.PrependReactor("create", "jobs", func(action clienttesting.Action) (bool, runtime.Object, error) {
				create, ok := action.(clienttesting.CreateAction)
				require.True(t, ok)
				made, ok := create.GetObject().(*vcbatch.Job)
				require.True(t, ok)
				found := made.DeepCopy()
				found.UID, found.ResourceVersion = "found", "1"
				found.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, v1.SchemeGroupVersion.WithKind(v1.Kind))}
				require.NoError(t, d.volcano.Tracker().Add(found))
				return true, nil, apierrors.NewAlreadyExists(vcbatch.SchemeGroupVersion.WithResource("jobs").GroupResource(), "job")
			})
			err := d.work(t)
			if tc.is != nil {
				require.ErrorIs(t, err, tc.is)
				require.NotContains(t, wrote(d.volcano.Actions()), "patch podgroups/", "it has no PodGroup of the controller")
				return
			}
			require.NoError(t, err)
			group, err := d.volcano.SchedulingV1beta1().PodGroups("ml").Get(t.Context(), "job-found", metav1.GetOptions{})
			require.NoError(t, err)
			require.Equal(t, types.UID("found"), group.OwnerReferences[0].UID)
		})
	}
}

// A PodGroup of the user's that requests what the gang has is noted on the Volcano Job, and an event says so, once.
func TestPodGroupOfTheUserIsReported(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.cached(t, d.stored(t))
	require.NoError(t, d.work(t))
	d.cachedVolcanoJob(t, vcbatch.Pending)
	require.NoError(t, d.sources.volcano.Scheduling().V1beta1().PodGroups().Informer().GetStore().Add(&vcscheduling.PodGroup{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "job", UID: "user"}, Spec: vcscheduling.PodGroupSpec{MinMember: 1},
	}))
	d.reported()
	require.NoError(t, d.work(t))
	require.Contains(t, strings.Join(d.reported(), "\n"), "Normal PodGroupNotNeeded")
	noted, err := d.volcano.BatchV1alpha1().Jobs("ml").Get(t.Context(), "job", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, "user", noted.Annotations[v1.UserPodGroupAnnotation])
	require.NoError(t, d.work(t))
	require.NotContains(t, strings.Join(d.reported(), "\n"), "PodGroupNotNeeded")
}

func TestDeleteDeletesOnlyTheObservedObject(t *testing.T) {
	t.Parallel()
	for name, rejection := range map[string]struct {
		code   int32
		reason metav1.StatusReason
		want   error
	}{
		"gone": {http.StatusNotFound, metav1.StatusReasonNotFound, nil},
		// Nothing else need happen to the job that would have it looked at again.
		"changed, or another of its name": {http.StatusConflict, metav1.StatusReasonConflict, errStale},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			job := d.stored(t, func(job *v1.PaddleJob) {
				job.Status.Phase = v1.Completed
				job.Status.Conditions = []metav1.Condition{{Type: v1.ConditionSucceeded, Status: metav1.ConditionTrue}}
			})
			d.cached(t, job)
			controls := true
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
				Namespace: "ml", Name: "job-worker-0", UID: "pod",
				OwnerReferences: []metav1.OwnerReference{{Kind: v1.Kind, Name: "job", UID: job.UID, Controller: &controls}},
			}}
			require.NoError(t, d.pods.Add(pod))
			var sent *metav1.DeleteOptions
			d.kube.PrependReactor("delete", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
				if remove, ok := action.(clienttesting.DeleteActionImpl); ok {
					sent = &remove.DeleteOptions
				}
				return true, nil, &apierrors.StatusError{ErrStatus: metav1.Status{Code: rejection.code, Reason: rejection.reason}}
			})
			require.ErrorIs(t, d.work(t), rejection.want)
			require.Equal(t, pod.UID, *sent.Preconditions.UID)
		})
	}
}
