// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	paddlev1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

// podGroupIsHonoured checks that the user's PodGroup is left as it was made, that the pods have one of their own of the
// same size, and that an event says so.
func podGroupIsHonoured(t *testing.T, namespace string, job *paddlev1.PaddleJob) {
	groups, err := shared.Volcano.SchedulingV1beta1().PodGroups(namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, groups.Items, 2)
	for i := range groups.Items {
		group := &groups.Items[i]
		require.EqualValues(t, 4, group.Spec.MinMember, group.Name)
		users := group.Name == job.Name
		require.Equal(t, users, len(group.OwnerReferences) == 0, group.Name)
	}
	awaitEvent(t, namespace, corev1.EventTypeNormal, "PodGroup")
}

// misspeltPolicyIsTold checks the event and the condition about cleanPodPolicy.
func misspeltPolicyIsTold(t *testing.T, namespace string, job *paddlev1.PaddleJob) {
	require.Equal(t, paddlev1.CleanPodPolicy("OnFailed"), job.Spec.CleanPodPolicy, "the object is the user's")
	require.True(t, slices.ContainsFunc(job.Status.Conditions, func(c metav1.Condition) bool {
		return strings.Contains(c.Message, `"OnFailed"`) && strings.Contains(c.Message, "treated as Never")
	}), "no condition tells of the misspelt cleanPodPolicy: %+v", job.Status.Conditions)
	awaitEvent(t, namespace, corev1.EventTypeWarning, `"OnFailed"`)
}

// volumeIsMounted checks that the claim is bound to its volume and that every pod mounts it.
func volumeIsMounted(t *testing.T, namespace string, _ *paddlev1.PaddleJob) {
	claim, err := shared.Kube.CoreV1().PersistentVolumeClaims(namespace).Get(t.Context(), "nfs-pvc", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, corev1.ClaimBound, claim.Status.Phase)
	require.Equal(t, "nfs-pv", claim.Spec.VolumeName)
	for i, pod := range podsOf(t, namespace, 4) {
		require.True(t, slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
			return v.Name == "data" && v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == "nfs-pvc"
		}), "pod %d has no volume of the claim", i)
		require.True(t, mounts(&pod, "data", "/nas"), "pod %d does not mount it", i)
	}
}

// sharedMemoryIsMounted checks what keeps the data loader from running out of /dev/shm.
func sharedMemoryIsMounted(t *testing.T, namespace string, _ *paddlev1.PaddleJob) {
	for i, pod := range podsOf(t, namespace, 2) {
		require.True(t, slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
			return v.Name == "dshm" && v.EmptyDir != nil && v.EmptyDir.Medium == corev1.StorageMediumMemory
		}), "pod %d has no volume in memory", i)
		require.True(t, mounts(&pod, "dshm", "/dev/shm"), "pod %d does not mount it", i)
	}
}

// groupsAreTogether checks that two pods of four ranks, which are a parallel group of eight, are in one node.
func groupsAreTogether(t *testing.T, namespace string, _ *paddlev1.PaddleJob) {
	nodes := map[string]string{}
	for _, pod := range podsOf(t, namespace, 4) {
		nodes[pod.Name] = pod.Spec.NodeName
	}
	require.Equal(t, nodes["hybrid-parallel-worker-0"], nodes["hybrid-parallel-worker-1"])
	require.Equal(t, nodes["hybrid-parallel-worker-2"], nodes["hybrid-parallel-worker-3"])
}

// modelsAreMounted checks that both claims are bound, and mounted where the program reads and writes.
func modelsAreMounted(t *testing.T, namespace string, _ *paddlev1.PaddleJob) {
	for _, name := range []string{"training-data", "models"} {
		claim, err := shared.Kube.CoreV1().PersistentVolumeClaims(namespace).Get(t.Context(), name, metav1.GetOptions{})
		require.NoError(t, err)
		require.Equal(t, corev1.ClaimBound, claim.Status.Phase)
	}
	for i, pod := range podsOf(t, namespace, 2) {
		require.True(t, mounts(&pod, "data", "/data") && mounts(&pod, "models", "/models"), "pod %d does not mount them", i)
	}
}

func podsOf(t *testing.T, namespace string, want int) []corev1.Pod {
	t.Helper()
	list, err := shared.Kube.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, list.Items, want)
	return list.Items
}

func mounts(pod *corev1.Pod, volume, path string) bool {
	return slices.ContainsFunc(pod.Spec.Containers[0].VolumeMounts, func(m corev1.VolumeMount) bool {
		return m.Name == volume && m.MountPath == path
	})
}

// awaitEvent waits for an event about the namespace's PaddleJob. Events are written a moment later than the status.
func awaitEvent(t *testing.T, namespace, kind, text string) {
	t.Helper()
	shared.Await(t, "an event that says "+text, func(ctx context.Context) error {
		events, err := shared.Kube.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.kind=PaddleJob"})
		if err != nil {
			return err
		}
		var seen []string
		for i := range events.Items {
			e := &events.Items[i]
			if e.Type == kind && strings.Contains(e.Message, text) {
				return nil
			}
			seen = append(seen, e.Type+" "+e.Reason+": "+e.Message)
		}
		return errors.New("there are: " + strings.Join(seen, "; "))
	})
}
