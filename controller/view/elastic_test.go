// SPDX-License-Identifier: Apache-2.0

package view

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
)

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
			v := &View{Job: &v1.PaddleJob{}, VolcanoJob: &vcbatch.Job{Spec: vcbatch.JobSpec{Tasks: []vcbatch.TaskSpec{
				{Name: render.RoleWorker, Replicas: 4, MinAvailable: ptr.To[int32](2)},
			}}}}
			v.Job.Spec.Worker = &v1.ResourceSpec{Replicas: 4}
			for i, phase := range tc.pods {
				pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: PodName("job", "worker", int32(i)), Labels: map[string]string{vcbatch.TaskSpecKey: render.RoleWorker}}}
				pod.Status.Phase = phase
				if phase != waits {
					pod.Spec.NodeName = "node"
				}
				v.Pods = append(v.Pods, pod)
			}
			require.Equal(t, tc.all, v.Succeeded(), "not elastic")
			v.Job.Spec.Elastic = ptr.To(1)
			require.Equal(t, tc.want, v.Succeeded())
			require.Equal(t, tc.all, v.AllSucceeded())
		})
	}
}

func TestBackoffLimit(t *testing.T) {
	t.Parallel()
	v := &View{Job: &v1.PaddleJob{}}
	require.EqualValues(t, 2, v.BackoffLimit())
	v.Job.Spec.RunPolicy = &v1.RunPolicy{BackoffLimit: ptr.To[int32](7)}
	require.EqualValues(t, 7, v.BackoffLimit())
}
