// SPDX-License-Identifier: Apache-2.0

package vcjob

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
)

func TestVolcanoMakesPodsOfAJob(t *testing.T) {
	volcano, err := Shared()
	require.NoError(t, err)
	job, err := volcano.Create(t.Context(), &vcbatch.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "job", Namespace: "train"},
		Spec: vcbatch.JobSpec{
			Queue: "default", MinAvailable: 2, Plugins: map[string][]string{"svc": {"--publish-not-ready-addresses=true"}},
			Tasks: []vcbatch.TaskSpec{{Name: "worker", Replicas: 2, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "paddle"}}}}}},
		},
	})
	require.NoError(t, err)
	pods, services, err := volcano.Pods(t.Context(), job)
	require.NoError(t, err)
	require.Len(t, pods, 2)
	require.Equal(t, "job-worker-1", pods[1].Spec.Hostname)
	require.Equal(t, "job", pods[1].Spec.Subdomain)
	require.Equal(t, "1", pods[1].Labels[vcbatch.TaskIndex])
	require.Len(t, services, 1)
	require.Equal(t, "job", services[0].Name)
	group, err := volcano.PodGroup(t.Context(), job)
	require.NoError(t, err)
	require.Equal(t, "job-"+string(UID("job")), group.Name)
}
