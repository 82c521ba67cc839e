// SPDX-License-Identifier: Apache-2.0

package observed

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// notStarted is a pod on a node whose container the kubelet does not start.
func notStarted(name, reason, message string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.JobNameLabel: "job"}}}
	pod.Spec.NodeName = "node"
	pod.Status.Phase = corev1.PodPending
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}}}
	return pod
}

func TestStartFailures(t *testing.T) {
	t.Parallel()
	const config = "CreateContainerConfigError"
	unplaced := notStarted("a", "ErrImagePull", "")
	unplaced.Spec.NodeName = ""
	inInit := notStarted("a", "PodInitializing", "")
	inInit.Status.InitContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImageNeverPull"}}}}
	for name, tc := range map[string]struct {
		pods []*corev1.Pod
		want []StartFailure
	}{
		"none":                         {},
		"it begins":                    {pods: []*corev1.Pod{notStarted("a", "ContainerCreating", ""), notStarted("b", "PodInitializing", ""), notStarted("c", "", "")}},
		"no node yet":                  {pods: []*corev1.Pod{unplaced}},
		"its init container's image":   {pods: []*corev1.Pod{inInit}, want: []StartFailure{{Reason: "ImagePullFailed", Pods: []string{"a"}}}},
		"the environment is not there": {pods: []*corev1.Pod{notStarted("a", config, `configmap "job" not found`)}},
		"images": {
			pods: []*corev1.Pod{notStarted("a", "ErrImagePull", "no such host\n"), notStarted("b", "ContainerCreating", ""), notStarted("c", "ImagePullBackOff", "back-off"), notStarted("d", "InvalidImageName", "")},
			want: []StartFailure{{Reason: "ImagePullFailed", Pods: []string{"a", "c", "d"}, Message: "no such host"}},
		},
		"a ConfigMap and a Secret": {
			pods: []*corev1.Pod{notStarted("a", config, `configmap "settings" not found`), notStarted("b", config, `secret "token" not found`), notStarted("c", config, `configmap "settings" not found`)},
			want: []StartFailure{
				{Reason: "ConfigMapNotFound", Missing: &Reference{"ConfigMap", "settings"}, Pods: []string{"a", "c"}, Message: `configmap "settings" not found`},
				{Reason: "SecretNotFound", Missing: &Reference{"Secret", "token"}, Pods: []string{"b"}, Message: `secret "token" not found`},
			},
		},
		"a key": {
			pods: []*corev1.Pod{notStarted("a", config, "couldn't find key x in ConfigMap ml/settings")},
			want: []StartFailure{{Reason: config, Pods: []string{"a"}, Message: "couldn't find key x in ConfigMap ml/settings"}},
		},
		"the kubelet's own word": {
			pods: []*corev1.Pod{notStarted("a", "CreateContainerError", "no")},
			want: []StartFailure{{Reason: "CreateContainerError", Pods: []string{"a"}, Message: "no"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, StartFailures(tc.pods))
		})
	}
}

func TestVolumesThatCannotBeMounted(t *testing.T) {
	t.Parallel()
	ofRole := func(role, reason string) *corev1.Pod {
		pod := notStarted(role+"-0", reason, "")
		pod.Labels[vcbatch.TaskSpecKey] = role
		return pod
	}
	settings := []corev1.Volume{{Name: "settings", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}}}}}
	job := &vcbatch.Job{Spec: vcbatch.JobSpec{Tasks: []vcbatch.TaskSpec{
		{Name: "ps"}, {Name: "worker", Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Volumes: settings}}},
	}}}
	const sentence = `MountVolume.SetUp failed for volume "settings" : configmap "settings" not found`
	want := []StartFailure{{Reason: "ConfigMapNotFound", Missing: &Reference{"ConfigMap", "settings"}, Pods: []string{"worker-0"}, Message: sentence}}
	for name, tc := range map[string]struct {
		pods     []*corev1.Pod
		sentence string
		want     []StartFailure
	}{
		"missing":              {[]*corev1.Pod{ofRole("ps", "ContainerCreating"), ofRole("worker", "ContainerCreating")}, sentence, want},
		"another message":      {[]*corev1.Pod{ofRole("worker", "ContainerCreating")}, `failed to sync configmap cache: timed out waiting for the condition`, nil},
		"nothing said":         {[]*corev1.Pod{ofRole("worker", "ContainerCreating")}, "", nil},
		"a role without it":    {[]*corev1.Pod{ofRole("ps", "ContainerCreating")}, sentence, nil},
		"the containers begin": {[]*corev1.Pod{ofRole("worker", "ErrImagePull")}, sentence, []StartFailure{{Reason: "ImagePullFailed", Pods: []string{"worker-0"}}}},
	} {
		require.Equal(t, tc.want, (&State{VolcanoJob: job, Pods: tc.pods, FailedMount: tc.sentence}).StartFailures(), name)
	}
}
