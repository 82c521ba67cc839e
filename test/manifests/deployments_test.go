// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// The API server itself judges whether the pods keep the strictest of Kubernetes' pod security standards.
func TestDeploymentsKeepTheRestrictedPodSecurityStandard(t *testing.T) {
	namespace := shared.Namespace(t)
	patch := []byte(`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`)
	_, err := shared.Kube.CoreV1().Namespaces().Patch(t.Context(), namespace, "application/merge-patch+json", patch, metav1.PatchOptions{})
	require.NoError(t, err)
	for _, file := range []string{"v1/operator.yaml", "v1/scheduler.yaml"} {
		t.Run(file, func(t *testing.T) {
			deployment := deploymentOf(t, file)
			pod := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{GenerateName: "judged-", Labels: deployment.Spec.Template.Labels},
				Spec:       deployment.Spec.Template.Spec,
			}
			pod.Spec.ServiceAccountName = "" // it is in another namespace
			_, err := shared.Kube.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			require.NoError(t, err)
			require.True(t, *pod.Spec.Containers[0].SecurityContext.ReadOnlyRootFilesystem, "the root is read-only")
		})
	}
}

func deploymentOf(t *testing.T, file string) *appsv1.Deployment {
	t.Helper()
	var found []*unstructured.Unstructured
	for _, object := range read(t, file) {
		if object.GetKind() == "Deployment" {
			found = append(found, object)
		}
	}
	require.Len(t, found, 1)
	deployment := &appsv1.Deployment{}
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(found[0].Object, deployment))
	return deployment
}

// Whoever enables the plugin gets Volcano's own defaults and the plugin.
func TestSchedulerConfigurationIsVolcanosAndThePlugin(t *testing.T) {
	volcanos, err := os.ReadFile(filepath.Join(volcanoModule(t), "installer/helm/chart/volcano/config/volcano-scheduler.conf"))
	require.NoError(t, err)

	var ours string
	for _, object := range read(t, "v1/scheduler.yaml") {
		if object.GetKind() == "ConfigMap" {
			ours, _, err = unstructured.NestedString(object.Object, "data", "volcano-scheduler.conf")
			require.NoError(t, err)
		}
	}
	plugin := regexp.MustCompile(`(?m)^  - name: paddle\n(    .*\n)*`)
	require.Len(t, plugin.FindAllString(ours, -1), 1)
	require.Equal(t, strings.TrimSpace(string(volcanos)), strings.TrimSpace(plugin.ReplaceAllString(ours, "")))
}

// volcanoModule is the folder of Volcano's module.
func volcanoModule(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "volcano.sh/volcano").Output()
	require.NoError(t, err)
	return string(bytes.TrimSpace(out))
}
