// SPDX-License-Identifier: Apache-2.0

package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/stages"
)

// testDeletion deletes pods that would be given an hour to end, in every phase of their lives.
func (e *env) testDeletion(t *testing.T) {
	namespace := e.NamespaceNamed(t, "deletion")
	pods := e.Kube.CoreV1().Pods(namespace)
	for name, test := range map[string]struct {
		annotations notes
		phase       corev1.PodPhase
	}{
		"running":   {nil, corev1.PodRunning},
		"refused":   {notes{stages.AnnotationRunFor: "x"}, corev1.PodPending},
		"succeeded": {notes{stages.AnnotationRunFor: "0s"}, corev1.PodSucceeded},
	} {
		pod := bound(name, corev1.RestartPolicyNever, nil, test.annotations)
		pod.Spec.TerminationGracePeriodSeconds = ptr.To(int64(3600))
		_, err := pods.Create(t.Context(), pod, metav1.CreateOptions{})
		require.NoError(t, err)
		e.until(t, namespace, name, func(pod *corev1.Pod) error {
			if pod.Status.Phase != test.phase || pod.Status.PodIP == "" {
				return fmt.Errorf("it is not yet %s", test.phase)
			}
			return nil
		})
		require.NoError(t, pods.Delete(t.Context(), name, metav1.DeleteOptions{}))
		e.Await(t, name+" to be gone", func(ctx context.Context) error {
			_, err := pods.Get(ctx, name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return nil
			}
			return errors.Join(err, errors.New("it is still there"))
		})
	}
}

// testClock changes a pod all the time: what it runs for is counted from its start, not from the last change.
func (e *env) testClock(t *testing.T) {
	namespace := e.NamespaceNamed(t, "clock")
	pods := e.Kube.CoreV1().Pods(namespace)
	_, err := pods.Create(t.Context(), bound("pod", corev1.RestartPolicyNever, nil, notes{stages.AnnotationRunFor: "3s"}), metav1.CreateOptions{})
	require.NoError(t, err)
	changes := 0
	e.until(t, namespace, "pod", func(*corev1.Pod) error {
		changes++
		patch := fmt.Sprintf(`{"metadata":{"annotations":{"change":%q}}}`, strconv.Itoa(changes))
		pod, err := pods.Patch(t.Context(), "pod", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		if err != nil {
			return err
		}
		return ended(corev1.PodSucceeded, 0, "Completed", 0)(pod)
	})
	require.Greater(t, changes, 2, "changes while the pod ran, which otherwise had no end before the last of them")
	run := e.pod(t, namespace, "pod").Status.ContainerStatuses[0].State.Terminated
	require.GreaterOrEqual(t, run.FinishedAt.Sub(run.StartedAt.Time).Seconds(), 2.0)
}

// testVolumes binds the documentation's claim, gives the volume back, and finds it ready for the next claim.
func (e *env) testVolumes(t *testing.T) {
	namespace := e.NamespaceNamed(t, "volumes")
	size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")}
	once := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	volumes, claims := e.Kube.CoreV1().PersistentVolumes(), e.Kube.CoreV1().PersistentVolumeClaims(namespace)
	_, err := volumes.Create(t.Context(), &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "nfs-pv"},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: size, AccessModes: once, StorageClassName: "slow", PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRecycle,
			MountOptions:           []string{"hard", "nfsvers=4.1"},
			PersistentVolumeSource: corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{Path: "/nas", Server: "10.12.201.xx"}},
		},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	for range 2 {
		_, err = claims.Create(t.Context(), &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Name: "nfs-pvc"},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: once, StorageClassName: ptr.To("slow"), VolumeName: "nfs-pv", Resources: corev1.VolumeResourceRequirements{Requests: size},
			},
		}, metav1.CreateOptions{})
		require.NoError(t, err)
		e.Await(t, "the claim to be bound", func(ctx context.Context) error {
			claim, err := claims.Get(ctx, "nfs-pvc", metav1.GetOptions{})
			if err == nil && claim.Status.Phase != corev1.ClaimBound {
				err = fmt.Errorf("it is %s", claim.Status.Phase)
			}
			return err
		})
		require.NoError(t, claims.Delete(t.Context(), "nfs-pvc", metav1.DeleteOptions{}))
		e.Await(t, "the volume to be available again", func(ctx context.Context) error {
			volume, err := volumes.Get(ctx, "nfs-pv", metav1.GetOptions{})
			if err == nil && volume.Status.Phase != corev1.VolumeAvailable {
				err = fmt.Errorf("it is %s", volume.Status.Phase)
			}
			return err
		})
	}
}

// testComponents ends components on purpose and by accident.
func (e *env) testComponents(t *testing.T) {
	require.ErrorContains(t, e.Kill(sandbox.KubeScheduler, syscall.SIGTERM), "it does not run")
	require.ErrorContains(t, e.StartComponent(sandbox.KubeScheduler), "not part of this sandbox")
	require.ErrorContains(t, e.StartComponent(sandbox.Kwok), "runs already")

	// Without the controller manager a namespace gets no service account; with it again, it does.
	require.NoError(t, e.Kill(sandbox.ControllerManager, syscall.SIGKILL))
	namespaces := e.Kube.CoreV1().Namespaces()
	_, err := namespaces.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "components"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	account := func(ctx context.Context) error {
		_, err := e.Kube.CoreV1().ServiceAccounts("components").Get(ctx, "default", metav1.GetOptions{})
		return err
	}
	require.True(t, apierrors.IsNotFound(account(t.Context())))
	require.NoError(t, e.StartComponent(sandbox.ControllerManager))
	e.Await(t, "the namespace's service account", account)
	select {
	case err := <-e.Failed():
		require.NoError(t, err, "what was asked for is no failure")
	default:
	}

	// A component that anybody else kills is reported.
	for _, status := range sandbox.ComponentStatuses(e.StateDir()) {
		if status.Name == sandbox.VolcanoController {
			pid, err := strconv.Atoi(status.Process)
			require.NoError(t, err)
			require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
		}
	}
	select {
	case err := <-e.Failed():
		require.ErrorContains(t, err, "component volcano-controllers died by itself (signal: killed); the end of its log "+e.Logs(sandbox.VolcanoController))
	case <-time.After(time.Minute):
		require.Fail(t, "no failure was reported")
	}
}
