// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	paddlev1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
)

// Where only the strictest pods are let in, the start barrier keeps none of the users' out.
func TestBarrierKeepsTheRestrictedPodSecurityStandard(t *testing.T) {
	namespace := shared.Namespace(t)
	patch := []byte(`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`)
	_, err := shared.Kube.CoreV1().Namespaces().Patch(t.Context(), namespace, "application/merge-patch+json", patch, metav1.PatchOptions{})
	require.NoError(t, err)
	strict := &corev1.SecurityContext{
		AllowPrivilegeEscalation: ptr.To(false), RunAsNonRoot: ptr.To(true), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	worker := &paddlev1.ResourceSpec{Replicas: 2}
	worker.Template.Spec.Containers = []corev1.Container{{Name: "paddle", Image: "paddle:v1", SecurityContext: strict}}
	job := &paddlev1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Name: "strict", Namespace: namespace}, Spec: paddlev1.PaddleJobSpec{Worker: worker}}
	rendered, _ := render.Job(job, render.Wish{}, render.Config{BarrierImage: "barrier:v1", BarrierTimeout: time.Minute})
	template := rendered.Spec.Tasks[0].Template
	require.Len(t, template.Spec.InitContainers, 1)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: "judged-", Labels: template.Labels}, Spec: template.Spec}
	_, err = shared.Kube.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	require.NoError(t, err)

	pod.Spec.InitContainers[0].SecurityContext = nil
	_, err = shared.Kube.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	require.ErrorContains(t, err, "restricted", "the namespace judges pods at all")
}
