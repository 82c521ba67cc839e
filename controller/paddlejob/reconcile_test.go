// SPDX-License-Identifier: Apache-2.0

package paddlejob

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	vcfake "volcano.sh/apis/pkg/client/clientset/versioned/fake"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	paddlefake "github.com/paddle-volcano/paddle-volcano/controller/client/clientset/versioned/fake"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/lifecycle"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
	"github.com/paddle-volcano/paddle-volcano/controller/volcano"
)

// desk is a controller over fake clients whose caches the test fills itself: for what is hard to bring about in a real
// cluster, such as caches that lag and answers that come at the wrong moment.
type desk struct {
	*Controller
	paddle  *paddlefake.Clientset
	volcano *vcfake.Clientset
	kube    *kubefake.Clientset
	events  *record.FakeRecorder
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{
		paddle: paddlefake.NewSimpleClientset(), volcano: vcfake.NewSimpleClientset(), kube: kubefake.NewClientset(),
		events: record.NewFakeRecorder(100),
	}
	require.NoError(t, d.kube.Tracker().Add(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ml"}}))
	controller, err := New(Clients{Paddle: d.paddle, Volcano: d.volcano, Kube: d.kube}, d.events,
		Options{Workers: 1, Render: builder.Config{DefaultIntranet: v1.PodIP}})
	require.NoError(t, err)
	controller.now = func() time.Time { return epoch }
	d.Controller = controller
	d.serve()
	require.NoError(t, d.sources.volcano.Scheduling().V1beta1().Queues().Informer().GetStore().Add(&vcscheduling.Queue{
		ObjectMeta: metav1.ObjectMeta{Name: "default"}, Status: vcscheduling.QueueStatus{State: vcscheduling.QueueStateOpen},
	}))
	return d
}

// serve makes the fake API server do what it does not by itself: give Volcano Jobs a uid, and apply PodGroups.
func (d *desk) serve() {
	d.volcano.PrependReactor("create", "jobs", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if create, ok := action.(clienttesting.CreateAction); ok {
			if job, ok := create.GetObject().(*vcbatch.Job); ok {
				job.UID, job.ResourceVersion, job.CreationTimestamp = "vc", "1", metav1.NewTime(epoch)
			}
		}
		return false, nil, nil
	})
	d.volcano.PrependReactor("patch", "podgroups", func(action clienttesting.Action) (bool, runtime.Object, error) {
		patch, ok := action.(clienttesting.PatchActionImpl)
		if !ok || patch.PatchType != types.ApplyPatchType {
			return false, nil, nil
		}
		group := &vcscheduling.PodGroup{}
		if err := json.Unmarshal(patch.Patch, group); err != nil {
			return true, nil, err
		}
		group.ResourceVersion = "1"
		groups := vcscheduling.SchemeGroupVersion.WithResource("podgroups")
		if _, err := d.volcano.Tracker().Get(groups, group.Namespace, group.Name); err == nil {
			return true, group, d.volcano.Tracker().Update(groups, group, group.Namespace)
		}
		return true, group, d.volcano.Tracker().Create(groups, group, group.Namespace)
	})
}

// stored is a PaddleJob that the API server has.
func (d *desk) stored(t *testing.T, changes ...func(*v1.PaddleJob)) *v1.PaddleJob {
	t.Helper()
	container := corev1.PodSpec{Containers: []corev1.Container{{Name: "paddle", Image: "paddle"}}}
	job := &v1.PaddleJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "job", UID: "uid", Generation: 1, ResourceVersion: "1"},
		Spec:       v1.PaddleJobSpec{Worker: &v1.ResourceSpec{Replicas: 1, Template: corev1.PodTemplateSpec{Spec: container}}},
	}
	for _, c := range changes {
		c(job)
	}
	require.NoError(t, d.paddle.Tracker().Add(job))
	return job
}

// cached puts a PaddleJob into the cache.
func (d *desk) cached(t *testing.T, job *v1.PaddleJob) {
	t.Helper()
	require.NoError(t, d.sources.paddle.Batch().V1().PaddleJobs().Informer().GetStore().Add(job.DeepCopy()))
}

// cachedVolcanoJob puts the Volcano Job that the API server has into the cache, as it would be in another phase.
func (d *desk) cachedVolcanoJob(t *testing.T, phase vcbatch.JobPhase) {
	t.Helper()
	job, err := d.volcano.BatchV1alpha1().Jobs("ml").Get(t.Context(), "job", metav1.GetOptions{})
	require.NoError(t, err)
	job = job.DeepCopy()
	job.Status.State.Phase = phase
	d.mutatedVolcanoJobs.forget("ml/job")
	require.NoError(t, d.sources.volcano.Batch().V1alpha1().Jobs().Informer().GetStore().Add(job))
}

func (d *desk) work(t *testing.T) error {
	t.Helper()
	_, err := d.sync(t.Context(), "ml/job")
	return err
}

// reported drains the events.
func (d *desk) reported() []string {
	var all []string
	for {
		select {
		case event := <-d.events.Events:
			all = append(all, event)
		default:
			return all
		}
	}
}

func wrote(actions []clienttesting.Action) []string {
	var all []string
	for _, a := range actions {
		switch a.GetVerb() {
		case "get", "list", "watch":
		default:
			all = append(all, a.GetVerb()+" "+a.GetResource().Resource+"/"+a.GetSubresource())
		}
	}
	return all
}

func refuse(message string, code int32) clienttesting.ReactionFunc {
	return func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code, Message: message}}
	}
}

func (d *desk) status(t *testing.T) *v1.PaddleJobStatus {
	t.Helper()
	job, err := d.paddle.BatchV1().PaddleJobs("ml").Get(t.Context(), "job", metav1.GetOptions{})
	require.NoError(t, err)
	return &job.Status
}

func TestCacheThatLagsBehindTheEnd(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.cached(t, d.stored(t))
	require.NoError(t, d.paddle.Tracker().Update(v1.SchemeGroupVersion.WithResource("paddlejobs"), func() *v1.PaddleJob {
		done := &v1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "job", UID: "uid", ResourceVersion: "2"}}
		done.Status.Phase = v1.Completed
		return done
	}(), "ml"))
	require.NoError(t, d.work(t))
	require.Empty(t, wrote(d.volcano.Actions()), "a finished job makes nothing again")
}

func TestCacheThatLagsBehindARecreation(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	old := d.stored(t).DeepCopy()
	old.UID = "an earlier one"
	d.cached(t, old)
	require.ErrorIs(t, d.work(t), errStale)
	require.Empty(t, wrote(d.volcano.Actions()))
}

func TestCachesThatLagBehindOurOwnWrites(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.cached(t, d.stored(t))
	require.NoError(t, d.work(t))
	require.Len(t, d.reported(), 1, "Created")
	before := len(wrote(append(d.volcano.Actions(), d.paddle.Actions()...)))
	require.NoError(t, d.work(t))
	require.Len(t, wrote(append(d.volcano.Actions(), d.paddle.Actions()...)), before, "nothing is written twice")
	require.Empty(t, d.reported())
}

func TestVolcanoJobFromBeforeARestart(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.cached(t, d.stored(t))
	require.NoError(t, d.work(t))
	d.reported()
	// The controller is restarted, and its new cache does not have the Volcano Job yet.
	repeated := newDesk(t)
	repeated.clients = d.clients
	repeated.cached(t, func() *v1.PaddleJob {
		job, err := d.paddle.BatchV1().PaddleJobs("ml").Get(t.Context(), "job", metav1.GetOptions{})
		require.NoError(t, err)
		return job
	}())
	require.NoError(t, repeated.work(t))
	require.Empty(t, repeated.reported(), "it was created before, with an event")
	jobs, err := d.volcano.BatchV1alpha1().Jobs("ml").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, jobs.Items, 1)
}

func TestVolcanoJobWithoutItsLabelIsRepaired(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.cached(t, d.stored(t))
	require.NoError(t, d.work(t))
	job, err := d.volcano.BatchV1alpha1().Jobs("ml").Get(t.Context(), "job", metav1.GetOptions{})
	require.NoError(t, err)
	delete(job.Labels, v1.JobNameLabel)
	_, err = d.volcano.BatchV1alpha1().Jobs("ml").Update(t.Context(), job, metav1.UpdateOptions{})
	require.NoError(t, err)
	d.cachedVolcanoJob(t, vcbatch.Pending)
	require.NoError(t, d.work(t))
	job, err = d.volcano.BatchV1alpha1().Jobs("ml").Get(t.Context(), "job", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, "job", job.Labels[v1.JobNameLabel])
	require.True(t, meta.IsStatusConditionFalse(d.status(t).Conditions, v1.ConditionStalled), "no other object owns it")
}

func TestRefusalIsReported(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.cached(t, d.stored(t))
	d.volcano.PrependReactor("create", "jobs", refuse(`exceeded quota: "small", used: 3`, http.StatusForbidden))
	var refused *rejection
	require.ErrorAs(t, d.work(t), &refused, "so that it is tried again, later each time")
	c := meta.FindStatusCondition(d.status(t).Conditions, v1.ConditionStalled)
	require.Equal(t, metav1.ConditionTrue, c.Status)
	require.Equal(t, ReasonRefused, c.Reason)
	require.Equal(t, `creating the Volcano Job: exceeded quota: "small", used: 3`, c.Message)
	require.Len(t, d.reported(), 1)

	require.Error(t, d.work(t))
	require.Empty(t, d.reported(), "once")

	d.volcano.ReactionChain = d.volcano.ReactionChain[1:]
	require.NoError(t, d.work(t))
	require.True(t, meta.IsStatusConditionFalse(d.status(t).Conditions, v1.ConditionStalled))
}

func TestFailureOfTheServerIsNotTheUsers(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.cached(t, d.stored(t))
	d.volcano.PrependReactor("create", "jobs", refuse("etcd has no leader", http.StatusInternalServerError))
	require.ErrorContains(t, d.work(t), "etcd has no leader")
	require.True(t, meta.IsStatusConditionFalse(d.status(t).Conditions, v1.ConditionStalled))
	require.Empty(t, d.reported())
}

func TestConflictEmitsNoEvent(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.cached(t, d.stored(t, func(job *v1.PaddleJob) { job.Spec.Worker.Template.Spec.SchedulerName = "other" }))
	d.paddle.PrependReactor("update", "paddlejobs", refuse("changed", http.StatusConflict))
	d.paddle.PrependReactor("update", "paddlejobs", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewConflict(v1.Resource("paddlejobs"), "job", errors.New("changed"))
	})
	require.ErrorIs(t, d.work(t), errStale)
	require.Empty(t, d.reported(), "the sync that writes the status emits them")
}

func TestNoPodGroupForAJobThatHasEnded(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.cached(t, d.stored(t))
	require.NoError(t, d.work(t))
	d.cachedVolcanoJob(t, vcbatch.Running)
	ended, err := d.volcano.BatchV1alpha1().Jobs("ml").Get(t.Context(), "job", metav1.GetOptions{})
	require.NoError(t, err)
	ended.Status.State.Phase = vcbatch.Completed
	_, err = d.volcano.BatchV1alpha1().Jobs("ml").UpdateStatus(t.Context(), ended, metav1.UpdateOptions{})
	require.NoError(t, err)
	group := volcano.PodGroupName(ended)
	require.NoError(t, d.volcano.SchedulingV1beta1().PodGroups("ml").Delete(t.Context(), group, metav1.DeleteOptions{}))
	d.mutatedPodGroups.forget("ml/" + group)
	require.NoError(t, d.work(t))
	_, err = d.volcano.SchedulingV1beta1().PodGroups("ml").Get(t.Context(), group, metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "the cache only lags: %v", err)
}

func TestDeletedJobLeavesNoMemory(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.statusPendingSince.since("ml/job", epoch)
	d.mutatedJobs.put("ml/job", mutation[*v1.PaddleJob]{})
	require.NoError(t, d.work(t))
	require.Empty(t, d.statusPendingSince.values)
	require.Empty(t, d.mutatedJobs.values)
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ctx, cancel := context.WithCancel(t.Context())
	d.Watch(ctx)
	require.True(t, d.Synced())
	ended := make(chan struct{})
	go func() {
		d.Run(ctx)
		close(ended)
	}()
	cancel()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		require.Fail(t, "a minute after the context the controller still runs")
	}
}

func TestChangeOfCountsWaitsForMore(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	now := epoch
	d.now = func() time.Time { return now }
	d.cached(t, d.stored(t))
	require.NoError(t, d.work(t))
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ml", Name: "job-worker-0", UID: "pod",
		Labels:          map[string]string{v1.JobNameLabel: "job", vcbatch.TaskSpecKey: "worker", v1.TaskIndexLabel: "0"},
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(&vcbatch.Job{ObjectMeta: metav1.ObjectMeta{UID: "vc"}}, vcbatch.SchemeGroupVersion.WithKind("Job"))},
	}}
	require.NoError(t, d.pods.Add(pod))
	wait, err := d.sync(t.Context(), "ml/job")
	require.NoError(t, err)
	require.Equal(t, 10*time.Second, wait, "looked at again when the gang has waited for a moment; its reason waits longer, and the counts with it")
	require.Zero(t, d.status(t).Worker.Pending)
	now = now.Add(time.Minute)
	written, err := d.paddle.BatchV1().PaddleJobs("ml").Get(t.Context(), "job", metav1.GetOptions{})
	require.NoError(t, err)
	d.cached(t, written)
	d.cachedVolcanoJob(t, vcbatch.Pending)
	require.NoError(t, d.work(t))
	require.EqualValues(t, 1, d.status(t).Worker.Pending)
}

// commands are the names of those that Volcano has not read.
func (d *desk) commands(t *testing.T) []string {
	t.Helper()
	list, err := d.volcano.BusV1alpha1().Commands("ml").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	slices.Sort(names)
	return names
}

// seen puts the PaddleJob that the API server has into the cache, and its Volcano Job in a phase, and works once.
func (d *desk) seen(t *testing.T, phase vcbatch.JobPhase) *v1.PaddleJobStatus {
	t.Helper()
	job, err := d.paddle.BatchV1().PaddleJobs("ml").Get(t.Context(), "job", metav1.GetOptions{})
	require.NoError(t, err)
	d.mutatedJobs.forget("ml/job")
	d.cached(t, job)
	d.cachedVolcanoJob(t, phase)
	require.NoError(t, d.work(t))
	return d.status(t)
}

// A controller that takes over knows from the status alone that an abortion is the controller's.
func TestAbortIsInTheStatusBefore(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.cached(t, d.stored(t))
	require.NoError(t, d.work(t))
	pod := d.workerPod(t, corev1.PodStatus{Phase: corev1.PodFailed})

	require.Equal(t, v1.Restarting, d.seen(t, vcbatch.Running).Phase)
	require.Empty(t, d.commands(t), "the status comes first")
	d.seen(t, vcbatch.Running)
	require.Equal(t, []string{"abort-vc-0"}, d.commands(t))

	require.NoError(t, d.pods.Delete(pod)) // no other sync saw it
	counted := d.seen(t, vcbatch.Aborted)
	require.EqualValues(t, 1, counted.Restarts)
	require.True(t, meta.IsStatusConditionFalse(counted.Conditions, v1.ConditionStalled))
	d.seen(t, vcbatch.Aborted)
	require.Equal(t, []string{"abort-vc-0", "resume-vc-0"}, d.commands(t))
}

// What a user aborted while no controller ran stays aborted, however the stopped programs end.
func TestAbortByHandStays(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.cached(t, d.stored(t))
	require.NoError(t, d.work(t))
	pod := d.workerPod(t, corev1.PodStatus{Phase: corev1.PodRunning})
	require.Equal(t, v1.Running, d.seen(t, vcbatch.Running).Phase)

	ended := pod.DeepCopy()
	ended.Annotations[v1.OutOfSyncAnnotation] = "true"
	ended.DeletionTimestamp = &metav1.Time{Time: epoch}
	ended.Status.Phase = corev1.PodFailed
	require.NoError(t, d.pods.Update(ended))
	for _, phase := range []vcbatch.JobPhase{vcbatch.Aborting, vcbatch.Aborted, vcbatch.Aborted} {
		noteFailure(&d.failures, ended, false)
		status := d.seen(t, phase)
		require.Equal(t, "Aborted", meta.FindStatusCondition(status.Conditions, v1.ConditionStalled).Reason)
		require.True(t, meta.IsStatusConditionTrue(status.Conditions, v1.ConditionStalled))
		require.Zero(t, status.Restarts)
	}
	require.NoError(t, d.pods.Delete(ended))
	require.True(t, meta.IsStatusConditionTrue(d.seen(t, vcbatch.Aborted).Conditions, v1.ConditionStalled))
	require.Empty(t, d.commands(t))
}

// Volcano may obey a command about a deleted job when another of its name is there.
func TestCommandAboutANamesake(t *testing.T) {
	t.Parallel()
	for action, phase := range map[vcbus.Action]vcbatch.JobPhase{
		vcbus.AbortJobAction: vcbatch.Aborted, vcbus.TerminateJobAction: vcbatch.Terminated, vcbus.CompleteJobAction: vcbatch.Completed,
	} {
		for earlier, want := range map[types.UID]bool{"vc-before": true, "vc": false} {
			d := newDesk(t)
			now := epoch
			d.now = func() time.Time { return now }
			command := &vcbatch.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "job", UID: earlier}}
			before := &observed.State{Job: &v1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "job", UID: "before"}}, VolcanoJob: command}
			require.NoError(t, d.execute(t.Context(), before, lifecycle.IssueCommand{Command: volcano.NewCommand(command, action, "", "", "")}))
			d.cached(t, d.stored(t))
			require.NoError(t, d.work(t))
			now = now.Add(time.Minute)
			require.Equal(t, want, d.seen(t, phase).Phase == v1.Restarting, "%s %s", earlier, phase)
		}
	}
}

// Volcano may restart the gang for an evicted pod before it executes the command that aborts the gang for a failed one.
func TestCommandAboutAnEarlierAttempt(t *testing.T) {
	t.Parallel()
	for action, test := range map[vcbus.Action]struct {
		phase vcbatch.JobPhase
		want  bool
	}{
		vcbus.AbortJobAction: {vcbatch.Aborted, true}, vcbus.TerminateJobAction: {vcbatch.Terminated, false}, vcbus.CompleteJobAction: {vcbatch.Completed, false},
	} {
		d := newDesk(t)
		now := epoch
		d.now = func() time.Time { return now }
		d.cached(t, d.stored(t))
		require.NoError(t, d.work(t))
		attempt := func(number int32) *observed.State {
			job, err := d.volcano.BatchV1alpha1().Jobs("ml").Get(t.Context(), "job", metav1.GetOptions{})
			require.NoError(t, err)
			job.Status.RetryCount = number
			_, err = d.volcano.BatchV1alpha1().Jobs("ml").Update(t.Context(), job, metav1.UpdateOptions{})
			require.NoError(t, err)
			return &observed.State{Job: &v1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "job", UID: "uid"}}, VolcanoJob: job}
		}
		issue := func(obs *observed.State, action vcbus.Action) {
			require.NoError(t, d.execute(t.Context(), obs, lifecycle.IssueCommand{Command: volcano.NewCommand(obs.VolcanoJob, action, "0", "", "")}))
		}
		issue(attempt(0), action)
		resumed := attempt(1)
		now = now.Add(time.Minute)
		require.Equal(t, test.want, d.seen(t, test.phase).Phase == v1.Restarting, test.phase)

		issue(resumed, vcbus.ResumeJobAction)
		attempt(2)
		if test.phase == vcbatch.Aborted {
			pod := d.workerPod(t, corev1.PodStatus{Phase: corev1.PodRunning})
			pod.Annotations[vcbatch.JobRetryCountKey] = "2"
			require.Equal(t, v1.Running, d.seen(t, vcbatch.Running).Phase)
			require.Equal(t, "Aborted", meta.FindStatusCondition(d.seen(t, vcbatch.Aborted).Conditions, v1.ConditionStalled).Reason, "by a user, since the command was executed")
		}
	}
}

func TestFinalStatusIsWrittenOnce(t *testing.T) {
	t.Parallel()
	completed := func(job *v1.PaddleJob) {
		job.Annotations = map[string]string{"kept": "yes"}
		job.Status.Phase = v1.Completed
		job.Status.Conditions = []metav1.Condition{{Type: v1.ConditionSucceeded, Status: metav1.ConditionTrue}}
	}
	patches := func(d *desk) (n int) {
		for _, action := range d.paddle.Actions() {
			if action.Matches("patch", "paddlejobs") {
				n++
			}
		}
		return n
	}
	d := newDesk(t)
	d.cached(t, d.stored(t, completed))
	require.NoError(t, d.work(t))
	require.NoError(t, d.work(t), "the cache has not seen the annotation")
	job, err := d.paddle.BatchV1().PaddleJobs("ml").Get(t.Context(), "job", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"kept": "yes", v1.FinalStatusAnnotation: "Completed " + builder.SpecHash(job)}, job.Annotations)
	require.Equal(t, 1, patches(d))

	for name, tc := range map[string]struct {
		listedEvent error
		stale       bool
	}{
		"another job of the name": {listedEvent: apierrors.NewConflict(v1.Resource("paddlejobs"), "job", errors.New("uid")), stale: true},
		"it is gone":              {listedEvent: apierrors.NewNotFound(v1.Resource("paddlejobs"), "job")},
	} {
		d := newDesk(t)
		d.cached(t, d.stored(t, completed))
		d.paddle.PrependReactor("patch", "paddlejobs", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, tc.listedEvent })
		err := d.work(t)
		require.Equal(t, tc.stale, errors.Is(err, errStale), "%s: %v", name, err)
	}
}

func TestManagedByAnotherController(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.cached(t, d.stored(t, func(job *v1.PaddleJob) { job.Spec.ManagedBy = ptr.To("kueue.x-k8s.io/multikueue") }))
	require.NoError(t, d.work(t))
	require.Equal(t, v1.PaddleJobStatus{}, *d.status(t))
	require.Empty(t, d.reported())

	d = newDesk(t)
	d.cached(t, d.stored(t, func(job *v1.PaddleJob) { job.Spec.ManagedBy = ptr.To(v1.ManagedByController) }))
	require.NoError(t, d.work(t))
	require.Equal(t, v1.Pending, d.status(t).Phase)
}
