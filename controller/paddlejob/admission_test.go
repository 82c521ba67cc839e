// SPDX-License-Identifier: Apache-2.0

package paddlejob

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/lifecycle"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

// writes counts the requests to a fake API server.
func writes(actions []clienttesting.Action, write string) int {
	n := 0
	for _, one := range wrote(actions) {
		if one == write {
			n++
		}
	}
	return n
}

// changedByAdmission returns the message of the condition Stalled, whose reason has to be ChangedByAdmission.
func (d *desk) changedByAdmission(t *testing.T) string {
	t.Helper()
	c := meta.FindStatusCondition(d.status(t).Conditions, v1.ConditionStalled)
	require.NotNil(t, c)
	require.Equal(t, ReasonChangedByAdmission, c.Reason)
	require.Equal(t, metav1.ConditionTrue, c.Status)
	return c.Message
}

// onePatchIsUndone runs the syncs of two minutes during which admission undoes a patch.
func onePatchIsUndone(t *testing.T, d *desk, now *time.Time, resource string) {
	t.Helper()
	patches := func() int {
		return writes(append(d.volcano.Actions(), d.kube.Actions()...), "patch "+resource)
	}
	work := func() {
		t.Helper()
		job, err := d.paddle.BatchV1().PaddleJobs("ml").Get(t.Context(), "job", metav1.GetOptions{})
		require.NoError(t, err)
		d.cached(t, job)
		var refused *rejection
		require.ErrorAs(t, d.work(t), &refused, "it is tried again later")
	}
	work()
	require.Equal(t, 1, patches())
	for range 5 {
		*now = now.Add(10 * time.Second)
		work()
	}
	require.Equal(t, 1, patches(), "within a minute")
	*now = now.Add(revertedWritePeriod)
	work()
	require.Equal(t, 2, patches())
}

func TestAWriteThatAdmissionUndoesIsNotRepeated(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T, changes ...func(*v1.PaddleJob)) (*desk, *time.Time) {
		t.Helper()
		d, now := newDesk(t), epoch
		d.now = func() time.Time { return now }
		d.cached(t, d.stored(t, changes...))
		require.NoError(t, d.work(t))
		d.cachedVolcanoJob(t, vcbatch.Running)
		return d, &now
	}
	// strips has admission undo what a patch does to annotations of a Volcano Job.
	strips := func(d *desk, key string) {
		d.volcano.PrependReactor("patch", "jobs", func(clienttesting.Action) (bool, runtime.Object, error) {
			job, err := d.volcano.Tracker().Get(vcbatch.SchemeGroupVersion.WithResource("jobs"), "ml", "job")
			if job, ok := job.(*vcbatch.Job); ok {
				delete(job.Annotations, key)
			}
			return true, job, err
		})
	}
	t.Run("the mark of a PodGroup", func(t *testing.T) {
		t.Parallel()
		d, now := start(t)
		strips(d, v1.UserPodGroupAnnotation)
		require.NoError(t, d.sources.volcano.Scheduling().V1beta1().PodGroups().Informer().GetStore().Add(&vcscheduling.PodGroup{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "job", UID: "other"}, Spec: vcscheduling.PodGroupSpec{MinMember: 1},
		}))
		d.reported()
		onePatchIsUndone(t, d, now, "jobs/")
		require.Contains(t, d.changedByAdmission(t), "metadata.annotations["+v1.UserPodGroupAnnotation+"] of the Volcano Job job")
		reported := strings.Join(d.reported(), "\n")
		require.Equal(t, 1, strings.Count(reported, ReasonChangedByAdmission), reported)
		require.NotContains(t, reported, lifecycle.ReasonPodGroupNotNeeded)

		d.volcano.ReactionChain = d.volcano.ReactionChain[1:]
		*now = now.Add(revertedWritePeriod)
		require.NoError(t, d.work(t))
		require.True(t, meta.IsStatusConditionFalse(d.status(t).Conditions, v1.ConditionStalled))
		require.Empty(t, d.revertedWrites.values)
	})
	t.Run("the choice of ports", func(t *testing.T) {
		t.Parallel()
		d, now := start(t, func(job *v1.PaddleJob) { job.Spec.Intranet = v1.Host })
		other := hostJob("other", d.vcJob(t).Annotations[v1.FirstPortAnnotation])
		require.NoError(t, d.sources.volcano.Batch().V1alpha1().Jobs().Informer().GetStore().Add(other))
		d.workerPod(t, corev1.PodStatus{Phase: corev1.PodPending, PodIP: "10.0.0.1"})
		strips(d, v1.FirstPortAnnotation)
		onePatchIsUndone(t, d, now, "jobs/")
		require.Contains(t, d.changedByAdmission(t), "metadata.annotations["+v1.FirstPortAnnotation+"]")
	})
	t.Run("the size of an elastic job", func(t *testing.T) {
		t.Parallel()
		d, now := start(t, func(job *v1.PaddleJob) {
			job.Spec.Elastic = ptr.To[int32](1)
			job.Spec.ElasticPolicy = &v1.ElasticPolicy{Etcd: "kv:2379"}
			job.Spec.Worker.Requests = ptr.To[int32](1)
			job.Spec.Worker.Limits = ptr.To[int32](4)
		})
		job, err := d.paddle.BatchV1().PaddleJobs("ml").Get(t.Context(), "job", metav1.GetOptions{})
		require.NoError(t, err)
		job.Spec.Worker.Replicas = 2
		require.NoError(t, d.paddle.Tracker().Update(v1.SchemeGroupVersion.WithResource("paddlejobs"), job, "ml"))
		d.cached(t, job)
		d.mutatedJobs.forget("ml/job")
		strips(d, "none")
		onePatchIsUndone(t, d, now, "jobs/")
		require.Contains(t, d.changedByAdmission(t), "replicas")
	})
	t.Run("the label", func(t *testing.T) {
		t.Parallel()
		d, now := start(t)
		job := d.vcJob(t)
		job.Labels = nil
		require.NoError(t, d.volcano.Tracker().Update(vcbatch.SchemeGroupVersion.WithResource("jobs"), job, "ml"))
		d.cachedVolcanoJob(t, vcbatch.Running)
		strips(d, "none")
		onePatchIsUndone(t, d, now, "jobs/")
	})
	t.Run("the annotations of a pod", func(t *testing.T) {
		t.Parallel()
		d, now := start(t, func(job *v1.PaddleJob) { job.Spec.Intranet = v1.Host })
		pod := d.workerPod(t, corev1.PodStatus{Phase: corev1.PodPending, PodIP: "10.0.0.1"})
		require.NoError(t, d.kube.Tracker().Add(pod))
		d.kube.PrependReactor("patch", "pods", func(clienttesting.Action) (bool, runtime.Object, error) { return true, pod, nil })
		onePatchIsUndone(t, d, now, "pods/status")
		require.Contains(t, d.changedByAdmission(t), "metadata.annotations["+v1.AddressAnnotation+"] of the pod job-worker-0")
	})
}

// vcJob is the Volcano Job that the API server has.
func (d *desk) vcJob(t *testing.T) *vcbatch.Job {
	t.Helper()
	job, err := d.volcano.BatchV1alpha1().Jobs("ml").Get(t.Context(), "job", metav1.GetOptions{})
	require.NoError(t, err)
	return job.DeepCopy()
}

func TestAnEnvironmentThatAdmissionChangesIsNotRepeated(t *testing.T) {
	t.Parallel()
	for field, change := range map[string]func(*corev1.ConfigMap){
		"data[PADDLE_PORT]":                               func(cm *corev1.ConfigMap) { cm.Data["PADDLE_PORT"] = "1" },
		"metadata.labels[" + v1.JobNameLabel + "]":        func(cm *corev1.ConfigMap) { cm.Labels = nil },
		"metadata.annotations[" + v1.GangAnnotation + "]": func(cm *corev1.ConfigMap) { cm.Annotations = nil },
	} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.cached(t, d.stored(t))
			require.NoError(t, d.work(t))
			d.cachedVolcanoJob(t, vcbatch.Running)
			d.workerPod(t, corev1.PodStatus{Phase: corev1.PodPending, PodIP: "10.0.0.1"})
			d.kube.PrependReactor("create", "configmaps", func(action clienttesting.Action) (bool, runtime.Object, error) {
				if create, ok := action.(clienttesting.CreateAction); ok {
					if cm, ok := create.GetObject().(*corev1.ConfigMap); ok {
						change(cm)
					}
				}
				return false, nil, nil
			})
			for range 4 {
				_ = d.work(t) // what has no gang's annotation is deleted in between
			}
			var refused *rejection
			require.ErrorAs(t, d.work(t), &refused)
			require.Equal(t, 1, writes(d.kube.Actions(), "create configmaps/"))
			require.Zero(t, writes(d.kube.Actions(), "update configmaps/"))
			require.Contains(t, d.changedByAdmission(t), field+" of the ConfigMap job")
		})
	}
}

// Each pass finds the ports taken that the one before has chosen.
func TestASyncHasAMaximumOfPasses(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.cached(t, d.stored(t, func(job *v1.PaddleJob) { job.Spec.Intranet = v1.Host }))
	require.NoError(t, d.work(t))
	d.cachedVolcanoJob(t, vcbatch.Running)
	d.workerPod(t, corev1.PodStatus{Phase: corev1.PodPending, PodIP: "10.0.0.1"})
	store := d.sources.volcano.Batch().V1alpha1().Jobs().Informer().GetStore()
	require.NoError(t, store.Add(hostJob("other", d.vcJob(t).Annotations[v1.FirstPortAnnotation])))
	patches := 0
	d.volcano.PrependReactor("patch", "jobs", func(action clienttesting.Action) (bool, runtime.Object, error) {
		patch, ok := action.(clienttesting.PatchActionImpl)
		require.True(t, ok)
		job := &vcbatch.Job{}
		require.NoError(t, json.Unmarshal(patch.Patch, job))
		patches++
		return false, nil, store.Add(hostJob(fmt.Sprintf("other-%d", patches), job.Annotations[v1.FirstPortAnnotation]))
	})
	require.ErrorIs(t, d.work(t), errStale, "later, not now")
	require.Equal(t, maxPasses, patches)
}

// A Volcano Job without its marks would be taken for one of another spec, and be deleted and made again endlessly.
func TestAVolcanoJobThatAdmissionChangesIsNotCreatedRepeatedly(t *testing.T) {
	t.Parallel()
	for field, change := range map[string]func(*vcbatch.Job){
		"metadata.annotations[" + v1.SpecHashAnnotation + "]": func(job *vcbatch.Job) { delete(job.Annotations, v1.SpecHashAnnotation) },
		"metadata.annotations[" + v1.ModeAnnotation + "]":     func(job *vcbatch.Job) { job.Annotations[v1.ModeAnnotation] = "PS" },
		"metadata.labels[" + v1.JobNameLabel + "]":            func(job *vcbatch.Job) { job.Labels = nil },
	} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			now := epoch
			d.now = func() time.Time { return now }
			job := d.stored(t, func(job *v1.PaddleJob) { job.Annotations = map[string]string{"other": "a"} })
			d.cached(t, job)
			changing, made := true, 0
			d.volcano.PrependReactor("create", "jobs", func(action clienttesting.Action) (bool, runtime.Object, error) {
				create, ok := action.(clienttesting.CreateActionImpl)
				require.True(t, ok)
				job, ok := create.GetObject().(*vcbatch.Job)
				require.True(t, ok)
				job = job.DeepCopy()
				job.Annotations["other"] = "b" // which users and their policies may change
				if changing {
					change(job)
				}
				if slices.Contains(create.CreateOptions.DryRun, metav1.DryRunAll) {
					return true, job, nil
				}
				made++
				job.UID, job.ResourceVersion, job.CreationTimestamp = "vc", "1", metav1.NewTime(epoch)
				return true, job, d.volcano.Tracker().Create(vcbatch.SchemeGroupVersion.WithResource("jobs"), job, "ml")
			})
			var refused *rejection
			for range 20 {
				require.ErrorAs(t, d.work(t), &refused)
				now = now.Add(15 * time.Second)
			}
			require.Equal(t, 1, made)
			require.Equal(t, 1, writes(d.volcano.Actions(), "delete jobs/"))
			require.Contains(t, d.changedByAdmission(t), field+" of the Volcano Job job")

			changing = false
			now = now.Add(revertedWritePeriod)
			require.NoError(t, d.work(t))
			require.Equal(t, 2, made)
			require.Equal(t, "vc", string(d.vcJob(t).UID))
			require.True(t, meta.IsStatusConditionFalse(d.status(t).Conditions, v1.ConditionStalled))
		})
	}
}

func TestADryRunThatIsRefusedKeepsItsReason(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	obs := &observed.State{Job: d.stored(t)}
	d.revertedWrites.put("ml/job uid lifecycle.CreateVolcanoJob", revertedWrite{
		refused: &rejection{reason: ReasonChangedByAdmission, text: "it changes a label"}, at: epoch.Add(-revertedWritePeriod),
	})
	d.volcano.PrependReactor("create", "jobs", refuse("a webhook does not support dry run", 400))
	err := d.execute(t.Context(), obs, lifecycle.CreateVolcanoJob{Job: hostJob("job", "20000")})
	var refused *rejection
	require.ErrorAs(t, err, &refused)
	require.Equal(t, ReasonChangedByAdmission, refused.reason)
	require.ErrorContains(t, err, "it changes a label")
	require.ErrorContains(t, err, "does not support dry run")
}

func TestRevertedWritesAreDroppedWithTheirJob(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.revertedWrites.put("ml/job a", revertedWrite{})
	d.revertedWrites.put("ml/job2 a", revertedWrite{})
	require.NoError(t, d.work(t), "there is no such job")
	_, left := d.revertedWrites.get("ml/job2 a")
	require.True(t, left)
	require.Len(t, d.revertedWrites.values, 1)
}
