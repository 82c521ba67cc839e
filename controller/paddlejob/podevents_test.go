// SPDX-License-Identifier: Apache-2.0

package paddlejob

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

const violates = `pods "job-worker-0" is forbidden: violates PodSecurity "baseline:latest"`

// refusing is a desk whose gang was admitted and has no pods, for the API server refuses them as some answers say.
type refusing struct {
	*desk
	now   time.Time
	asked []string
}

func newRefusing(t *testing.T, listedEvent func() (*corev1.EventList, error)) *refusing {
	t.Helper()
	r := &refusing{desk: newDesk(t), now: epoch}
	r.desk.now = func() time.Time { return r.now }
	r.kube.PrependReactor("list", "events", func(action clienttesting.Action) (bool, runtime.Object, error) {
		list, ok := action.(clienttesting.ListAction)
		require.True(t, ok)
		r.asked = append(r.asked, list.GetNamespace()+" "+list.GetListRestrictions().Fields.String())
		events, err := listedEvent()
		return true, events, err
	})
	r.cached(t, r.stored(t))
	require.NoError(t, r.work(t))
	return r
}

// look is another sync, some time later.
func (r *refusing) look(t *testing.T, later time.Duration, phase vcbatch.JobPhase) {
	t.Helper()
	r.now = r.now.Add(later)
	job, err := r.paddle.BatchV1().PaddleJobs("ml").Get(t.Context(), "job", metav1.GetOptions{})
	require.NoError(t, err)
	r.cached(t, job)
	r.cachedVolcanoJob(t, phase)
	if group, ok := r.mutatedPodGroups.newest("ml/job-vc", nil, false, r.now); ok {
		group = group.DeepCopy()
		group.Status.Phase, group.ResourceVersion = vcscheduling.PodGroupInqueue, "2"
		require.NoError(t, r.sources.volcano.Scheduling().V1beta1().PodGroups().Informer().GetStore().Add(group))
	}
	require.NoError(t, r.work(t))
}

func (r *refusing) condition(t *testing.T, kind string) *metav1.Condition {
	t.Helper()
	c := meta.FindStatusCondition(r.status(t).Conditions, kind)
	require.NotNil(t, c, kind)
	return c
}

func event(message string, at time.Time) corev1.Event {
	return corev1.Event{Reason: "FailedCreate", Message: message, LastTimestamp: metav1.NewTime(at)}
}

func TestPodsThatTheServerRefusesAreReported(t *testing.T) {
	t.Parallel()
	r := newRefusing(t, func() (*corev1.EventList, error) {
		return &corev1.EventList{Items: []corev1.Event{
			event(`Error creating pods: [failed to create pod job-worker-0, err: &errors.StatusError{ErrStatus:v1.Status{Message:"an older one"}}]`, epoch),
			event(`Error creating pods: [failed to create pod job-worker-0, err: &errors.StatusError{ErrStatus:v1.Status{TypeMeta:v1.TypeMeta{Kind:""}, Status:"Failure", `+
				`Message:"pods \"job-worker-0\" is forbidden: violates PodSecurity \"baseline:latest\"", Reason:"Forbidden"}}]`, epoch.Add(time.Minute)),
		}}, nil
	})
	r.look(t, time.Second, vcbatch.Pending)
	r.look(t, time.Second, vcbatch.Pending)
	require.Empty(t, r.asked, "nearly every job has its pods a moment later")
	r.reported()
	r.look(t, 30*time.Second, vcbatch.Pending)
	c := r.condition(t, v1.ConditionScheduled)
	require.Equal(t, []string{"ml involvedObject.uid=vc,reason=FailedCreate"}, r.asked)
	require.Equal(t, "PodSecurityViolation", c.Reason)
	require.Equal(t, "Volcano has made 0 of 1 pods, and the API server refuses the rest: "+violates, c.Message)
	require.Equal(t, []string{"Warning PodSecurityViolation " + c.Message}, r.reported())

	r.look(t, 10*time.Second, vcbatch.Pending)
	require.Len(t, r.asked, 1, "events are not listed in every sync")
	r.look(t, 30*time.Second, vcbatch.Pending)
	require.Len(t, r.asked, 2, "it may be another reason now")
	r.look(t, 10*time.Minute, vcbatch.Pending)
	r.look(t, 40*time.Second, vcbatch.Pending)
	require.Len(t, r.asked, 4)
	require.Equal(t, c.Message, r.condition(t, v1.ConditionScheduled).Message, "the events are old, and pods still missing")
	r.look(t, time.Minute, vcbatch.Terminated)
	ended := r.condition(t, v1.ConditionFailed)
	require.Equal(t, "PodSecurityViolation", ended.Reason)
	require.Equal(t, "Volcano terminated the job: "+c.Message, ended.Message, "events are forgotten within an hour")
	r.look(t, time.Minute, vcbatch.Terminated)
	require.Empty(t, r.listedEvents.values)
}

// A job that trains is given up too, when Volcano cannot make a worker that it lacks.
func TestRefusalThatEndsARunningJobIsReported(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		ago    time.Duration
		reason string
	}{
		"just before the end": {ago: time.Second, reason: "PodsRefused"},
		"long ago":            {ago: time.Hour, reason: "Terminated"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRefusing(t, func() (*corev1.EventList, error) {
				return &corev1.EventList{Items: []corev1.Event{
					event(`Error creating pods: [err: &errors.StatusError{ErrStatus:v1.Status{Message:"exceeded quota"}}]`, epoch.Add(time.Minute-tc.ago)),
				}}, nil
			})
			r.workerPod(t, corev1.PodStatus{Phase: corev1.PodRunning})
			r.look(t, time.Second, vcbatch.Running)
			require.Empty(t, r.asked)
			r.look(t, 59*time.Second, vcbatch.Terminated)
			require.Len(t, r.asked, 1)
			require.Equal(t, tc.reason, r.condition(t, v1.ConditionFailed).Reason)
			r.look(t, time.Minute, vcbatch.Terminated)
			require.Len(t, r.asked, 1, "it has ended")
		})
	}
}

func TestWhatTheEventsDoNotSayIsNotReported(t *testing.T) {
	t.Parallel()
	answers := map[string]func() (*corev1.EventList, error){
		"none": func() (*corev1.EventList, error) { return &corev1.EventList{}, nil },
		"the server is away": func() (*corev1.EventList, error) {
			return &corev1.EventList{Items: []corev1.Event{event("Error creating pods: [failed to create pod job-worker-0, err: &url.Error{}]", epoch)}}, nil
		},
		"no right": func() (*corev1.EventList, error) {
			_, _, err := refuse("events is forbidden", 403)(nil)
			return &corev1.EventList{}, err // the fake client reads it all the same
		},
	}
	for name, listedEvent := range answers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRefusing(t, listedEvent)
			r.look(t, time.Second, vcbatch.Pending)
			r.look(t, 40*time.Second, vcbatch.Pending)
			r.look(t, 40*time.Second, vcbatch.Pending)
			require.NotEmpty(t, r.asked)
			require.Equal(t, "WaitingForPods", r.condition(t, v1.ConditionScheduled).Reason)
		})
	}
}

// The reason is on the PaddleJob within 3 s of Volcano's first refused create, also where Volcano says it late.
func TestRefusalIsReportedSoon(t *testing.T) {
	t.Parallel()
	known := false
	r := newRefusing(t, func() (*corev1.EventList, error) {
		if !known {
			return &corev1.EventList{}, nil
		}
		return &corev1.EventList{Items: []corev1.Event{event(`Error creating pods: [err: &errors.StatusError{ErrStatus:v1.Status{Message:"exceeded quota"}}]`, epoch)}}, nil
	})
	r.look(t, time.Second, vcbatch.Pending)
	r.look(t, 2*time.Second, vcbatch.Pending)
	require.Len(t, r.asked, 1)
	known = true
	r.look(t, time.Second, vcbatch.Pending)
	require.Len(t, r.asked, 2)
	require.Equal(t, "PodsRefused", r.condition(t, v1.ConditionScheduled).Reason)
	r.look(t, time.Second, vcbatch.Pending)
	require.Len(t, r.asked, 2)
}

func TestEventListsAreLimited(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	asked := 0
	for i := range 1000 {
		if d.shouldListEvents(string(rune(i)), epoch) {
			asked++
		}
	}
	require.InDelta(t, listBurst, asked, 1)
}

func TestWorkersAreCappedForAWhile(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	require.Nil(t, d.workerCap("vc", epoch))
	limit := observed.WorkerCap{Workers: 2, PodCreateError: violates, Until: epoch.Add(time.Minute)}
	d.workerCaps.put("vc", limit)
	require.Equal(t, &limit, d.workerCap("vc", epoch.Add(40*time.Second)))
	require.Nil(t, d.workerCap("vc", epoch.Add(time.Minute)))
	require.Empty(t, d.workerCaps.values)
}

// Volcano's watch was down while the queue admitted the gang.
func TestVolcanoResyncsAGangWithoutPods(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	now := epoch
	d.now = func() time.Time { return now }
	d.cached(t, d.stored(t))
	require.NoError(t, d.work(t))
	repeated := func(phase vcscheduling.PodGroupPhase, later time.Duration) {
		t.Helper()
		now = now.Add(later)
		job, err := d.paddle.BatchV1().PaddleJobs("ml").Get(t.Context(), "job", metav1.GetOptions{})
		require.NoError(t, err)
		d.cached(t, job)
		d.cachedVolcanoJob(t, vcbatch.Pending)
		group, ok := d.mutatedPodGroups.newest("ml/job-vc", nil, false, now)
		if ok {
			group = group.DeepCopy()
			group.Status.Phase, group.ResourceVersion = phase, "2"
			require.NoError(t, d.sources.volcano.Scheduling().V1beta1().PodGroups().Informer().GetStore().Add(group))
		}
		require.NoError(t, d.work(t))
	}
	commands := func() []string {
		list, err := d.volcano.BusV1alpha1().Commands("ml").List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		var actions []string
		for i := range list.Items {
			actions = append(actions, list.Items[i].Action)
		}
		return actions
	}
	repeated(vcscheduling.PodGroupInqueue, time.Second)
	require.Empty(t, commands())
	repeated(vcscheduling.PodGroupInqueue, time.Minute)
	require.Empty(t, commands())
	repeated(vcscheduling.PodGroupInqueue, time.Minute)
	require.Equal(t, []string{"SyncJob"}, commands())
}
