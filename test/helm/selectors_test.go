// SPDX-License-Identifier: Apache-2.0

package helm_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// selectorAt is where each kind that selects pods has its selector.
var selectorAt = map[string][]string{
	"Deployment":    {"spec", "selector"},
	"NetworkPolicy": {"spec", "podSelector"},
	"PodMonitor":    {"spec", "selector"},
}

// others are labels of pods that may be in the same namespaces.
var others = map[string]labels.Set{
	"an operator made with kubebuilder": {"control-plane": "controller-manager"},
	"a newer operator":                  {"control-plane": "controller-manager", "app.kubernetes.io/name": "other", "app.kubernetes.io/component": "controller"},
	"Volcano's scheduler":               {"app": "volcano-scheduler"},
	"another scheduler":                 {"app": "paddle-scheduler", "app.kubernetes.io/component": "scheduler"},
	"the etcd of elastic jobs":          {"app": "paddle-etcd"},
	"no labels":                         {},
}

// What selects pods selects those of one component of ours and nobody else's, by labels that the manifests without Helm have as well.
func TestSelectorsSelectOurPodsAlone(t *testing.T) {
	t.Parallel()
	for name, values := range map[string][]string{
		"replace":              {"scheduler.mode=replace", monitored},
		"beside":               {"scheduler.mode=beside", monitored},
		"replace, for kubectl": {"scheduler.mode=replace", "scheduler.volcanosNames=true", monitored},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := render(t, values...)
			pods := map[string]labels.Set{}
			for _, object := range all {
				if object.GetKind() == "Deployment" {
					pod, _, err := unstructured.NestedStringMap(object.Object, "spec", "template", "metadata", "labels")
					require.NoError(t, err)
					pods[object.GetName()] = pod
				}
			}
			require.Len(t, pods, 2)
			found := 0
			for id, object := range all {
				at, selects := selectorAt[object.GetKind()]
				if !selects {
					require.NotContains(t, []string{"Service", "PodDisruptionBudget", "ServiceMonitor"}, object.GetKind(), "say where its selector is")
					continue
				}
				found++
				fields, _, err := unstructured.NestedMap(object.Object, at...)
				require.NoError(t, err)
				var parsed metav1.LabelSelector
				require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &parsed))
				selector, err := metav1.LabelSelectorAsSelector(&parsed)
				require.NoError(t, err)
				for pod, set := range pods {
					require.Equal(t, pod == object.GetName(), selector.Matches(set), "%s and the pods of %s", id, pod)
				}
				if object.GetKind() == "Deployment" && object.GetName() == volcanoScheduler {
					continue // it is put over Volcano's, whose selector cannot change
				}
				for key := range parsed.MatchLabels {
					require.True(t, strings.HasPrefix(key, "app.kubernetes.io/"), "%s selects by %s", id, key)
				}
				for other, set := range others {
					require.False(t, selector.Matches(set), "%s and %s", id, other)
				}
			}
			require.Equal(t, 6, found)
		})
	}
}

// requireOperatorsIsRefused has Helm and kubectl meet paddle-operator's Deployment, which has the name of the controller's and another
// selector: Helm says what to do, the API server that the field is immutable, and neither changes the Deployment.
func requireOperatorsIsRefused(t *testing.T) {
	t.Helper()
	selected := map[string]string{"control-plane": "controller-manager"}
	operator := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "paddle-controller-manager", Namespace: system, Labels: selected},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: selected},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: selected},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: "manager", Image: "registry.baidubce.com/paddlecloud/controller:v0.3.5", Command: []string{"/manager"},
				}}},
			},
		},
	}
	deployments := cluster.Kube.AppsV1().Deployments(system)
	before, err := deployments.Create(t.Context(), operator, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = helm(t, "install", release, chart, "--take-ownership", "--set", images)
	require.ErrorContains(t, err, "kubectl -n paddle-system delete deployment paddle-controller-manager")
	require.ErrorContains(t, cluster.objects.Apply(t.Context(), "default", "kubectl", shipped(t, "v1/operator.yaml")...), "field is immutable")
	require.Equal(t, before.Spec, deployed(t, system, operator.Name).Spec)
	require.NoError(t, deployments.Delete(t.Context(), operator.Name, metav1.DeleteOptions{}))
}
