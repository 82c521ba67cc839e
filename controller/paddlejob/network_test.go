// SPDX-License-Identifier: Apache-2.0

package paddlejob

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/lifecycle"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

// hostJob is a Volcano Job of one worker whose ports begin at first.
func hostJob(name, first string) *vcbatch.Job {
	return &vcbatch.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ml", Name: name, UID: types.UID("vc-" + name), ResourceVersion: "1",
			Labels:      map[string]string{v1.IntranetAnnotation: string(v1.Host), v1.JobNameLabel: name},
			Annotations: map[string]string{v1.FirstPortAnnotation: first},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: v1.SchemeGroupVersion.String(), Kind: v1.Kind, Name: name, UID: types.UID(name), Controller: ptr.To(true),
			}},
		},
		Spec: vcbatch.JobSpec{Tasks: []vcbatch.TaskSpec{{Name: builder.RoleWorker, Replicas: 1}}},
	}
}

// What the cache holds decides where a job begins, and what the API server holds whether it may.
func TestPodsGetUniquePorts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		other string
		phase vcbatch.JobPhase
		own   string
		bare  bool
		stale bool
	}{
		"alone":                      {own: "20000"},
		"another's are elsewhere":    {own: "20000", other: "20020"},
		"another has them":           {own: "20000", other: "20000", stale: true},
		"another has some":           {own: "20000", other: "20010", stale: true},
		"another has ended":          {own: "20000", other: "20000", phase: vcbatch.Completed},
		"its own have moved":         {own: "20040", stale: true},
		"its own were taken off":     {own: "", stale: true},
		"it has no label":            {own: "20000", bare: true, stale: true},
		"another is being restarted": {own: "20000", other: "20000", phase: vcbatch.Restarting, stale: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			own := hostJob("job", c.own)
			if c.bare {
				delete(own.Labels, v1.IntranetAnnotation)
			}
			require.NoError(t, d.volcano.Tracker().Add(own))
			if c.other != "" {
				other := hostJob("other", c.other)
				other.Status.State.Phase = c.phase
				require.NoError(t, d.volcano.Tracker().Add(other))
			}
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "job-worker-0", UID: "pod", Labels: map[string]string{"kept": "yes"}}}
			require.NoError(t, d.kube.Tracker().Add(pod))
			obs := &observed.State{Job: d.stored(t), VolcanoJob: hostJob("job", "20000")}
			err := d.execute(t.Context(), obs, lifecycle.AnnouncePods{
				Ports: builder.Ports{First: 20000, Count: 20},
				Pods:  []lifecycle.Announcement{{Pod: pod, Annotations: map[string]string{v1.PortAnnotation: "20000"}}},
			})
			reported, getErr := d.kube.CoreV1().Pods("ml").Get(t.Context(), "job-worker-0", metav1.GetOptions{})
			require.NoError(t, getErr)
			if c.stale {
				require.ErrorIs(t, err, errStale)
				require.Empty(t, reported.Annotations)
				return
			}
			require.NoError(t, err)
			require.Equal(t, "20000", reported.Annotations[v1.PortAnnotation])
			require.Equal(t, pod.Labels, reported.Labels)
		})
	}
}

func TestAddressesAreAnnouncedWithoutAList(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "job-worker-0", UID: "pod"}}
	require.NoError(t, d.kube.Tracker().Add(pod))
	one := lifecycle.AnnouncePods{Pods: []lifecycle.Announcement{{Pod: pod, Annotations: map[string]string{v1.AddressAnnotation: "10.0.0.1"}}}}
	job := d.stored(t)
	require.NoError(t, d.execute(t.Context(), &observed.State{Job: job}, one))
	require.Empty(t, d.volcano.Actions())
	require.NoError(t, d.kube.Tracker().Delete(corev1.SchemeGroupVersion.WithResource("pods"), "ml", "job-worker-0"))
	require.ErrorIs(t, d.execute(t.Context(), &observed.State{Job: job}, one), errStale)
}

func TestPortsMove(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	seen := hostJob("job", "20000")
	delete(seen.Labels, v1.IntranetAnnotation)
	require.NoError(t, d.volcano.Tracker().Add(seen))
	store := d.sources.volcano.Batch().V1alpha1().Jobs().Informer().GetStore()
	require.NoError(t, store.Add(seen))
	require.NoError(t, store.Add(hostJob("other", "20100")))
	done := hostJob("done", "20000")
	done.Status.State.Phase = vcbatch.Failed
	require.NoError(t, store.Add(done))
	other := hostJob("elsewhere", "20400")
	delete(other.Labels, v1.IntranetAnnotation)
	require.NoError(t, store.Add(other))
	require.Equal(t, []builder.Ports{{First: 20100, Count: 20}}, d.takenPorts("ml/job")(), "neither its own, nor those of jobs that have ended or have none")

	obs := &observed.State{Job: d.stored(t), VolcanoJob: seen}
	require.NoError(t, d.execute(t.Context(), obs, lifecycle.MovePorts{First: 20060}))
	require.Equal(t, "20060", obs.VolcanoJob.Annotations[v1.FirstPortAnnotation])
	kept, err := d.volcano.BatchV1alpha1().Jobs("ml").Get(t.Context(), "job", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, "20060", kept.Annotations[v1.FirstPortAnnotation])
	require.Equal(t, "Host", kept.Labels[v1.IntranetAnnotation])
	require.Equal(t, "job", kept.Labels[v1.JobNameLabel])
	mutationCache, _ := d.mutatedVolcanoJobs.newest("ml/job", seen, true, d.now())
	require.Equal(t, "20060", mutationCache.Annotations[v1.FirstPortAnnotation], "the next sync knows")

	require.NoError(t, d.execute(t.Context(), obs, lifecycle.MovePorts{}))
	require.NotContains(t, obs.VolcanoJob.Annotations, v1.FirstPortAnnotation)
	kept, err = d.volcano.BatchV1alpha1().Jobs("ml").Get(t.Context(), "job", metav1.GetOptions{})
	require.NoError(t, err)
	require.NotContains(t, kept.Annotations, v1.FirstPortAnnotation)
	require.Equal(t, "Host", kept.Labels[v1.IntranetAnnotation])
}

// A Volcano Job that a user made may have the controller's label and annotation; only one that the PaddleJob of its name controls counts.
func TestOnlyPaddleJobsReservePorts(t *testing.T) {
	t.Parallel()
	for name, owner := range map[string]*metav1.OwnerReference{
		"uncontrolled":         nil,
		"an owner, no control": {APIVersion: v1.SchemeGroupVersion.String(), Kind: v1.Kind, Name: "other", UID: "other"},
		"another kind's":       {APIVersion: v1.SchemeGroupVersion.String(), Kind: "CronPaddleJob", Name: "other", UID: "other", Controller: ptr.To(true)},
		"another group's":      {APIVersion: "kubeflow.org/v1", Kind: v1.Kind, Name: "other", UID: "other", Controller: ptr.To(true)},
		"another PaddleJob's":  {APIVersion: v1.SchemeGroupVersion.String(), Kind: v1.Kind, Name: "job", UID: "other", Controller: ptr.To(true)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			other := hostJob("other", "20000")
			other.OwnerReferences = nil
			if owner != nil {
				other.OwnerReferences = []metav1.OwnerReference{*owner}
			}
			require.NoError(t, d.sources.volcano.Batch().V1alpha1().Jobs().Informer().GetStore().Add(other))
			require.Empty(t, d.takenPorts("ml/job")())

			own := hostJob("job", "20000")
			require.NoError(t, d.volcano.Tracker().Add(own))
			require.NoError(t, d.volcano.Tracker().Add(other))
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "job-worker-0", UID: "pod"}}
			require.NoError(t, d.kube.Tracker().Add(pod))
			require.NoError(t, d.execute(t.Context(), &observed.State{Job: d.stored(t), VolcanoJob: own}, lifecycle.AnnouncePods{
				Ports: builder.Ports{First: 20000, Count: 20},
				Pods:  []lifecycle.Announcement{{Pod: pod, Annotations: map[string]string{v1.PortAnnotation: "20000"}}},
			}))
		})
	}
}
