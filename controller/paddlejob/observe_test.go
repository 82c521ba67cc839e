// SPDX-License-Identifier: Apache-2.0

package paddlejob

import (
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/lifecycle"
)

func TestQueueOfTheNamespace(t *testing.T) {
	t.Parallel()
	own := func(job *v1.PaddleJob) { job.Spec.SchedulingPolicy = &v1.SchedulingPolicy{Queue: "default"} }
	annotated := func(t *testing.T, queue string) *desk {
		t.Helper()
		d := newDesk(t)
		namespaces := corev1.SchemeGroupVersion.WithResource("namespaces")
		require.NoError(t, d.kube.Tracker().Update(namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: "ml", Annotations: map[string]string{vcscheduling.QueueNameAnnotationKey: queue},
		}}, ""))
		require.NoError(t, d.sources.volcano.Scheduling().V1beta1().Queues().Informer().GetStore().Add(&vcscheduling.Queue{
			ObjectMeta: metav1.ObjectMeta{Name: "team"}, Status: vcscheduling.QueueStatus{State: vcscheduling.QueueStateOpen},
		}))
		return d
	}
	for name, tc := range map[string]struct {
		namespace string
		change    func(*v1.PaddleJob)
		want      string
	}{
		"the namespace's":            {namespace: "team", change: func(*v1.PaddleJob) {}, want: "team"},
		"an empty annotation":        {namespace: "", change: func(*v1.PaddleJob) {}, want: "default"},
		"the job's own comes before": {namespace: "team", change: own, want: "default"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := annotated(t, tc.namespace)
			d.cached(t, d.stored(t, tc.change))
			require.NoError(t, d.work(t))
			job, err := d.volcano.BatchV1alpha1().Jobs("ml").Get(t.Context(), "job", metav1.GetOptions{})
			require.NoError(t, err)
			require.Equal(t, tc.want, job.Spec.Queue)
			require.Equal(t, tc.want, d.status(t).Queue)
			require.NoError(t, d.work(t))
			reads := 0
			for _, action := range d.kube.Actions() {
				if action.Matches("get", "namespaces") {
					reads++
				}
			}
			require.LessOrEqual(t, reads, 1, "it is read once")
		})
	}

	d := annotated(t, "nowhere")
	d.cached(t, d.stored(t))
	require.NoError(t, d.work(t))
	require.Equal(t, lifecycle.ReasonQueueNotFound, meta.FindStatusCondition(d.status(t).Conditions, v1.ConditionStalled).Reason)

	d = annotated(t, "team")
	failure := errors.New("down")
	d.kube.PrependReactor("get", "namespaces", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, failure })
	d.cached(t, d.stored(t))
	require.ErrorIs(t, d.work(t), failure)
	_, err := d.volcano.BatchV1alpha1().Jobs("ml").Get(t.Context(), "job", metav1.GetOptions{})
	require.Error(t, err, "it is not created in another queue meanwhile")
}

func TestTrainingConfigIsRead(t *testing.T) {
	t.Parallel()
	names := func(job *v1.PaddleJob) {
		job.Spec.PS = nil
		job.Spec.Parallelism = &v1.Parallelism{ConfigMapKeyRef: &v1.ConfigMapKeyRef{Name: "config", Key: "train.yaml"}}
	}
	holds := func(d *desk, data map[string]string) error {
		return d.kube.Tracker().Add(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "config", Namespace: "ml"}, Data: data})
	}
	d := newDesk(t)
	require.NoError(t, holds(d, map[string]string{"train.yaml": "tensor_model_parallel_size: 2"}))
	d.cached(t, d.stored(t, names))
	require.NoError(t, d.work(t))
	job, err := d.volcano.BatchV1alpha1().Jobs("ml").Get(t.Context(), "job", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, "tensor=2,order=ShardingFirst", job.Annotations[v1.ParallelismAnnotation])

	for name, data := range map[string]map[string]string{"no ConfigMap": nil, "no key": {"train.yml": "tensor_model_parallel_size: 2"}} {
		d := newDesk(t)
		if data != nil {
			require.NoError(t, holds(d, data))
		}
		d.cached(t, d.stored(t, names))
		require.NoError(t, d.work(t), name)
		stalled := meta.FindStatusCondition(d.status(t).Conditions, v1.ConditionStalled)
		require.Equal(t, lifecycle.ReasonInvalidSpec, stalled.Reason, name)
		require.Contains(t, stalled.Message, "spec.parallelism.configMapKeyRef", name)
		_, err := d.volcano.BatchV1alpha1().Jobs("ml").Get(t.Context(), "job", metav1.GetOptions{})
		require.Error(t, err, name)
	}

	d = newDesk(t)
	failure := errors.New("down")
	d.kube.PrependReactor("get", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, failure })
	d.cached(t, d.stored(t, names))
	require.ErrorIs(t, d.work(t), failure)
}

const (
	// mostBehind is how far kubectl get may be behind.
	mostBehind = 10 * time.Second
	// looked is how late a change of pods is looked at.
	looked = countDebounce
)

// aged is a cluster of many running jobs of two workers, in virtual time.
type aged struct {
	*desk
	now    time.Time
	next   map[string]time.Time
	jobs   []string
	writes map[string]int
}

func newAged(t *testing.T, jobs int) *aged {
	t.Helper()
	a := &aged{desk: newDesk(t), now: epoch, next: map[string]time.Time{}, writes: map[string]int{}}
	a.Controller.now = func() time.Time { return a.now }
	a.volcano.PrependReactor("create", "jobs", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if create, ok := action.(clienttesting.CreateAction); ok {
			if job, ok := create.GetObject().(*vcbatch.Job); ok {
				job.UID, job.ResourceVersion, job.CreationTimestamp = types.UID("vc-"+job.Name), "1", metav1.NewTime(epoch)
				return true, job, a.volcano.Tracker().Create(vcbatch.SchemeGroupVersion.WithResource("jobs"), job, "ml")
			}
		}
		return false, nil, nil
	})
	a.paddle.PrependReactor("update", "paddlejobs", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if update, ok := action.(clienttesting.UpdateAction); ok {
			if job, ok := update.GetObject().(*v1.PaddleJob); ok {
				a.writes[job.Name]++
				a.cached(t, job)
			}
		}
		return false, nil, nil
	})
	a.kube.PrependReactor("create", "configmaps", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if create, ok := action.(clienttesting.CreateAction); ok {
			return false, nil, a.sources.configMaps.Core().V1().ConfigMaps().Informer().GetStore().Add(create.GetObject())
		}
		return false, nil, nil
	})
	for i := range jobs {
		name := fmt.Sprintf("job-%d", i)
		a.jobs = append(a.jobs, name)
		a.cached(t, a.stored(t, func(job *v1.PaddleJob) {
			job.Name, job.UID = name, types.UID(name)
			job.Spec.Worker.Replicas = 2
			job.Spec.SchedulingPolicy = &v1.SchedulingPolicy{MinAvailable: new(int32)}
			*job.Spec.SchedulingPolicy.MinAvailable = 1
		}))
		a.look(t, name)
		made, err := a.volcano.BatchV1alpha1().Jobs("ml").Get(t.Context(), name, metav1.GetOptions{})
		require.NoError(t, err)
		made = made.DeepCopy()
		made.Status.State.Phase = vcbatch.Running
		a.mutatedVolcanoJobs.forget("ml/" + name)
		require.NoError(t, a.sources.volcano.Batch().V1alpha1().Jobs().Informer().GetStore().Add(made))
		a.setPods(t, name, corev1.PodRunning)
	}
	return a
}

// setPods has a job's worker 0 run, and its worker 1 in a phase.
func (a *aged) setPods(t *testing.T, name string, second corev1.PodPhase) {
	t.Helper()
	for i, phase := range []corev1.PodPhase{corev1.PodRunning, second} {
		owner := &vcbatch.Job{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("vc-" + name)}}
		require.NoError(t, a.pods.Add(&corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "ml", Name: fmt.Sprintf("%s-worker-%d", name, i), UID: types.UID(fmt.Sprintf("%s-%d", name, i)),
				Labels:          map[string]string{v1.JobNameLabel: name, vcbatch.TaskSpecKey: "worker", v1.TaskIndexLabel: strconv.Itoa(i)},
				Annotations:     map[string]string{vcbatch.TaskSpecKey: "worker"},
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, vcbatch.SchemeGroupVersion.WithKind("Job"))},
			},
			Spec: corev1.PodSpec{NodeName: "node"}, Status: corev1.PodStatus{Phase: phase, PodIP: fmt.Sprintf("10.0.0.%d", i)},
		}))
	}
	a.by(name, a.now.Add(looked))
}

// by has a job looked at by a time at the latest, as the queue does.
func (a *aged) by(name string, when time.Time) {
	if at, ok := a.next[name]; !ok || when.Before(at) {
		a.next[name] = when
	}
}

func (a *aged) look(t *testing.T, name string) {
	t.Helper()
	delete(a.next, name)
	repeated, err := a.sync(t.Context(), "ml/"+name)
	require.NoError(t, err)
	a.reported()
	if repeated > 0 {
		a.by(name, a.now.Add(repeated))
	}
}

// pass lets time go by, in which jobs are looked at when they are due.
func (a *aged) pass(t *testing.T, howLong time.Duration) {
	t.Helper()
	for end := a.now.Add(howLong); a.now.Before(end); {
		a.now = a.now.Add(time.Second)
		for _, name := range a.jobs {
			if at, ok := a.next[name]; ok && !at.After(a.now) {
				a.look(t, name)
			}
		}
	}
}

func (a *aged) of(t *testing.T, name string) *v1.PaddleJobStatus {
	t.Helper()
	job, err := a.paddle.BatchV1().PaddleJobs("ml").Get(t.Context(), name, metav1.GetOptions{})
	require.NoError(t, err)
	return &job.Status
}

// However many jobs have texts to write, kubectl get is at most 10 seconds behind, with at most one write per job and window.
func TestNoStatusIsOld(t *testing.T) {
	t.Parallel()
	const jobs = 200
	a := newAged(t, jobs)
	a.pass(t, time.Minute)
	for _, want := range []struct {
		phase corev1.PodPhase
		ready string
	}{{corev1.PodSucceeded, "1/2"}, {corev1.PodRunning, "2/2"}} {
		before := map[string]int{}
		for _, name := range a.jobs {
			require.NotEqual(t, want.ready, a.of(t, name).Worker.Ready)
			before[name] = a.writes[name]
			a.setPods(t, name, want.phase)
		}
		a.pass(t, mostBehind)
		for _, name := range a.jobs {
			require.Equal(t, want.ready, a.of(t, name).Worker.Ready)
			require.Equal(t, before[name]+1, a.writes[name])
		}
	}
	// A count that changes all the time is not written each time.
	name, before := a.jobs[0], a.writes[a.jobs[0]]
	for i := range 60 {
		a.setPods(t, name, []corev1.PodPhase{corev1.PodPending, corev1.PodRunning, corev1.PodPending}[i%3])
		a.pass(t, time.Second)
	}
	require.LessOrEqual(t, a.writes[name]-before, 8)
}

// otherText has the status of a job say something that is not so any more.
func (a *aged) otherText(t *testing.T, name string) {
	t.Helper()
	old, err := a.paddle.BatchV1().PaddleJobs("ml").Get(t.Context(), name, metav1.GetOptions{})
	require.NoError(t, err)
	old = old.DeepCopy()
	old.Status.Conditions[0].Message = "what was written before"
	a.cached(t, old)
	require.NoError(t, a.paddle.Tracker().Update(v1.SchemeGroupVersion.WithResource("paddlejobs"), old, "ml"))
	a.mutatedJobs.forget("ml/" + name)
	a.look(t, name)
}

// A message alone waits for more changes, a minute at most.
func TestMessagesAreWrittenInTheEnd(t *testing.T) {
	t.Parallel()
	a := newAged(t, 1)
	a.pass(t, time.Minute)
	name := a.jobs[0]
	a.otherText(t, name)
	before := a.writes[name]
	a.pass(t, time.Minute-2*time.Second)
	require.Equal(t, before, a.writes[name])
	a.pass(t, 3*time.Second)
	require.Equal(t, before+1, a.writes[name])
	require.Empty(t, a.of(t, name).Conditions[0].Message)
}
