// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	paddlev1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/deploy"
	"github.com/paddle-volcano/paddle-volcano/test/docs"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
)

// Every field of every shipped manifest exists and has the right type; the one that does not is known.
func TestManifestsAreStrictlyValid(t *testing.T) {
	namespace := shared.Namespace(t)
	misspelt := map[string]string{"paddlejob-demo-1": `unknown field "spec.cleanPolicy"`}
	strict := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict}
	// The one CRD that is optional, for the example that needs it.
	_, err := shared.objects.Create(t.Context(), "", metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}, read(t, "v1/kubeflow-crd.yaml")...)
	require.NoError(t, err)
	shared.Await(t, "Kubeflow's PaddleJob to be served", func(context.Context) error {
		_, err := shared.Kube.Discovery().ServerResourcesForGroupVersion("kubeflow.org/v1")
		return err
	})
	client, err := manifests.NewClient(shared.config) // the shared one may have looked before
	require.NoError(t, err)
	for _, pattern := range []string{"examples/*.yaml", "v1/*.yaml"} {
		files, err := fs.Glob(deploy.Files, pattern)
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			t.Run(file, func(t *testing.T) {
				objects, err := manifests.Read(deploy.Files, file)
				require.NoError(t, err)
				require.NotEmpty(t, objects)
				for _, object := range objects {
					name := object.GetName()
					if object.GetKind() != "CustomResourceDefinition" {
						object.SetName(name + "-strict") // the sandbox has objects of these names already
					} else if _, err := client.Get(t.Context(), "", object); err == nil {
						continue // and this one was made from this very file
					}
					_, err := client.Create(t.Context(), namespace, strict, object)
					if want, known := misspelt[name]; known {
						require.ErrorContains(t, err, want)
						continue
					}
					require.NoError(t, err)
				}
			})
		}
	}
}

// kubectl apply writes the whole object into an annotation, and annotations together are bounded.
func TestCRDIsSmallEnoughForKubectlApply(t *testing.T) {
	const limit = 256 * 1024
	objects, err := manifests.Read(deploy.Files, "v1/crd.yaml")
	require.NoError(t, err)
	require.Len(t, objects, 1)
	data, err := json.Marshal(objects[0])
	require.NoError(t, err)
	require.Less(t, len(data), limit)
}

// What the schema of the embedded metadata does not name, the API server would take out of it without a word.
func TestLabelsAndAnnotationsOfTemplatesAreKept(t *testing.T) {
	job := &paddlev1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Name: "labelled"}}
	job.Spec.Worker = &paddlev1.ResourceSpec{Replicas: 1}
	template := &job.Spec.Worker.Template
	template.Labels = map[string]string{"team": "vision"}
	template.Annotations = map[string]string{"sidecar.istio.io/inject": "false"}
	template.Spec.Containers = []corev1.Container{{Name: "paddle", Image: "paddle"}}

	got, err := shared.Paddle.BatchV1().PaddleJobs(shared.Namespace(t)).Create(t.Context(), job,
		metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	require.NoError(t, err)
	require.Equal(t, template.Labels, got.Spec.Worker.Template.Labels)
	require.Equal(t, template.Annotations, got.Spec.Worker.Template.Annotations)
}

// The documents delete these files to uninstall the controller: the namespace, an etcd that the documents have users create in it, and the
// API with the jobs stay.
func TestUninstallingKeepsTheNamespaceAndTheJobs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "deploy/docs/how-to/elastic.md"))
	require.NoError(t, err)
	kept := slices.Concat(read(t, "v1/namespace.yaml"), read(t, "v1/crd.yaml"))
	for _, block := range docs.Parse("elastic.md", string(text)).Blocks {
		if whole := strings.Join(block.Lines, "\n"); strings.Contains(whole, "kind: Deployment") {
			etcd, err := manifests.Parse([]byte(whole))
			require.NoError(t, err)
			kept = append(kept, etcd...)
		}
	}
	require.Len(t, kept, 4)
	for _, deleted := range slices.Concat(read(t, "v1/operator.yaml"), read(t, "v1/admission.yaml")) {
		for _, object := range kept {
			require.False(t, deleted.GetKind() == object.GetKind() && deleted.GetName() == object.GetName(), "%s %s", object.GetKind(), object.GetName())
		}
	}
}

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

// The scheduler's old pod is kept until the new one is ready: an image that cannot be pulled stops nothing.
func TestTheOldSchedulerRunsUntilTheNewOneIsReady(t *testing.T) {
	strategy := deploymentOf(t, "v1/scheduler.yaml").Spec.Strategy
	require.Equal(t, appsv1.RollingUpdateDeploymentStrategyType, strategy.Type)
	require.Zero(t, strategy.RollingUpdate.MaxUnavailable.IntValue())
	require.Equal(t, 1, strategy.RollingUpdate.MaxSurge.IntValue())
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

// volcanoModule returns the folder of Volcano's module.
func volcanoModule(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "volcano.sh/volcano").Output()
	require.NoError(t, err)
	return string(bytes.TrimSpace(out))
}
