// SPDX-License-Identifier: Apache-2.0

package kubeflow

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"

	batchv1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	kubeflowv1 "github.com/paddle-volcano/paddle-volcano/controller/api/kubeflow/v1"
	paddlefake "github.com/paddle-volcano/paddle-volcano/controller/client/clientset/versioned/fake"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob"
	"github.com/paddle-volcano/paddle-volcano/controller/workers"
)

// world is a controller whose caches hold what the test puts there.
type world struct {
	*Controller
	paddle *paddlefake.Clientset
	kube   *kubefake.Clientset
	events *record.FakeRecorder
}

func newWorld(t *testing.T, j *kubeflowv1.PaddleJob) *world {
	t.Helper()
	w := &world{paddle: paddlefake.NewSimpleClientset(), kube: kubefake.NewClientset(), events: record.NewFakeRecorder(100)}
	c, err := New(paddlejob.Clients{Paddle: w.paddle, Kube: w.kube}, w.events, paddlejob.Options{Workers: 1})
	require.NoError(t, err)
	c.now = func() time.Time { return at }
	w.Controller = c
	w.store(t, j)
	w.cached(t, j)
	return w
}

// store has the API server hold a job, or none if that is nil.
func (w *world) store(t *testing.T, j *kubeflowv1.PaddleJob) {
	t.Helper()
	resource := kubeflowv1.SchemeGroupVersion.WithResource(kubeflowv1.ResourcePaddleJobs)
	if err := w.paddle.Tracker().Delete(resource, "team", "train"); !apierrors.IsNotFound(err) {
		require.NoError(t, err)
	}
	if j != nil {
		require.NoError(t, w.paddle.Tracker().Create(resource, j, "team"))
	}
}

// stored is the job that the API server holds.
func (w *world) stored(t *testing.T) *kubeflowv1.PaddleJob {
	t.Helper()
	j, err := w.paddle.KubeflowV1().PaddleJobs("team").Get(t.Context(), "train", metav1.GetOptions{})
	require.NoError(t, err)
	return j
}

// writes is how often the status of the job was written.
func (w *world) writes() (n int) {
	for _, action := range w.paddle.Actions() {
		if action.GetSubresource() == "status" {
			n++
		}
	}
	return n
}

// fails has the API server refuse what is written of the job itself.
func (w *world) fails(verb string, err error) {
	w.paddle.PrependReactor(verb, kubeflowv1.ResourcePaddleJobs, func(action clienttesting.Action) (bool, runtime.Object, error) {
		return action.GetResource().Group == kubeflowv1.GroupName, nil, err
	})
}

// cached puts the job as it is now into the cache, and its PaddleJob.
func (w *world) cached(t *testing.T, j *kubeflowv1.PaddleJob) {
	t.Helper()
	require.NoError(t, w.Controller.jobs.GetIndexer().Add(j))
	if made, err := w.paddle.BatchV1().PaddleJobs(j.Namespace).Get(t.Context(), j.Name, metav1.GetOptions{}); err == nil {
		require.NoError(t, w.made.GetIndexer().Add(made))
	}
}

func (w *world) paddleJob(t *testing.T) *batchv1.PaddleJob {
	t.Helper()
	made, err := w.paddle.BatchV1().PaddleJobs("team").Get(t.Context(), "train", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	require.NoError(t, err)
	return made
}

func (w *world) warnings() []string {
	var events []string
	for len(w.events.Events) > 0 {
		events = append(events, <-w.events.Events)
	}
	return events
}

func TestSyncMakesAndKeeps(t *testing.T) {
	t.Parallel()
	w := newWorld(t, job())
	repeated, err := w.sync(t.Context(), "team/train")
	require.NoError(t, err)
	require.Zero(t, repeated)
	require.NotNil(t, w.paddleJob(t))
	require.Equal(t, 1, w.writes(), "the status follows at once")
	require.Equal(t, []string{"Normal PaddleJobCreated PaddleJob train is created."}, w.warnings())

	_, err = w.sync(t.Context(), "team/train")
	require.NoError(t, err, "the caches know nothing of it yet")
	require.Equal(t, 1, w.writes())
	require.Empty(t, w.warnings())

	w.cached(t, w.stored(t))
	w.paddle.ClearActions()
	_, err = w.sync(t.Context(), "team/train")
	require.NoError(t, err)
	require.Empty(t, w.paddle.Actions(), "nothing is read or written without a reason")

	edited := w.stored(t).DeepCopy()
	worker(edited).Template.Spec.Containers[0].Image = "another"
	w.cached(t, edited)
	_, err = w.sync(t.Context(), "team/train")
	require.NoError(t, err)
	require.Equal(t, "another", w.paddleJob(t).Spec.Worker.Template.Spec.Containers[0].Image)

	_, err = w.sync(t.Context(), "team/other")
	require.NoError(t, err, "a job that is gone is none to work on")
}

// A cached job may be older than its end, and one that has ended must never start again.
func TestNothingIsCreatedFromAStaleCache(t *testing.T) {
	t.Parallel()
	for name, now := range map[string]*kubeflowv1.PaddleJob{
		"it has ended": job(ended(batchv1.ConditionSucceeded, 0)),
		"it is gone":   nil,
		"another of its name is there": job(func(j *kubeflowv1.PaddleJob) {
			j.UID = "kubeflow-2"
		}),
	} {
		w := newWorld(t, job())
		w.store(t, now)
		_, err := w.sync(t.Context(), "team/train")
		require.NoError(t, err)
		require.Nil(t, w.paddleJob(t), name)
		require.Zero(t, w.writes(), name)
	}
}

func TestOthersAreLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, job())
	others := &batchv1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "train"}}
	_, err := w.paddle.BatchV1().PaddleJobs("team").Create(t.Context(), others, metav1.CreateOptions{})
	require.NoError(t, err)
	repeated, err := w.sync(t.Context(), "team/train")
	require.NoError(t, err)
	require.Equal(t, pollInterval, repeated)
	require.Equal(t, others, w.paddleJob(t))
	require.Equal(t, "NameTaken", find(&w.stored(t).Status, batchv1.ConditionStalled).Reason)
	require.Len(t, w.warnings(), 1)

	w = newWorld(t, job())
	for _, name := range []string{"train-worker-1", "train-worker-0"} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, Labels: podLabels("train", kubeflowv1.Worker)}}
		pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job(), kubeflowv1.SchemeGroupVersion.WithKind(kubeflowv1.Kind))}
		if name == "train-worker-1" {
			pod.OwnerReferences[0].UID = "made-1" // as its pods are not the job's own
		}
		_, err := w.kube.CoreV1().Pods("team").Create(t.Context(), pod, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	repeated, err = w.sync(t.Context(), "team/train")
	require.NoError(t, err)
	require.Equal(t, pollInterval, repeated)
	require.Nil(t, w.paddleJob(t))
	require.Contains(t, find(&w.stored(t).Status, batchv1.ConditionStalled).Message, "1 pods of its are there, for example train-worker-0")
}

func TestRefusalsAreReported(t *testing.T) {
	t.Parallel()
	w := newWorld(t, job())
	w.paddle.PrependReactor("create", "paddlejobs", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "paddlejobs"}, "train", errors.New("quota"))
	})
	_, err := w.sync(t.Context(), "team/train")
	require.True(t, apierrors.IsForbidden(err), "it is tried again")
	stalled := find(&w.stored(t).Status, batchv1.ConditionStalled)
	require.Equal(t, ReasonRefusedByServer, stalled.Reason)
	require.Contains(t, stalled.Message, "quota")
}

func TestStaleWritesAreRetried(t *testing.T) {
	t.Parallel()
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "paddlejobs"}, "train", errors.New("newer"))
	w := newWorld(t, job())
	w.fails("update", conflict)
	_, err := w.sync(t.Context(), "team/train")
	require.ErrorIs(t, err, workers.ErrStale)
	require.Empty(t, w.warnings(), "what was not written has no event")

	w = newWorld(t, job(ended(batchv1.ConditionSucceeded, time.Minute), ttl(0)))
	w.fails("delete", conflict)
	_, err = w.sync(t.Context(), "team/train")
	require.ErrorIs(t, err, workers.ErrStale)

	w = newWorld(t, job())
	w.paddle.PrependReactor("create", "paddlejobs", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewAlreadyExists(schema.GroupResource{Resource: "paddlejobs"}, "train")
	})
	_, err = w.sync(t.Context(), "team/train")
	require.ErrorIs(t, err, workers.ErrStale)

	w = newWorld(t, job())
	_, err = w.sync(t.Context(), "team/train")
	require.NoError(t, err)
	edited := w.stored(t).DeepCopy()
	worker(edited).Template.Spec.Containers[0].Image = "another"
	w.cached(t, edited)
	w.paddle.PrependReactor("update", "paddlejobs", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, conflict })
	_, err = w.sync(t.Context(), "team/train")
	require.ErrorIs(t, err, workers.ErrStale)
}

func TestJobsAreDeletedAfterTheirTTL(t *testing.T) {
	t.Parallel()
	w := newWorld(t, job(ended(batchv1.ConditionSucceeded, time.Minute), ttl(60)))
	repeated, err := w.sync(t.Context(), "team/train")
	require.NoError(t, err)
	require.Zero(t, repeated)
	_, err = w.paddle.KubeflowV1().PaddleJobs("team").Get(t.Context(), "train", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err))
	require.Zero(t, w.writes())
}
