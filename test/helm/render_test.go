// SPDX-License-Identifier: Apache-2.0

package helm_test

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/paddle-volcano/paddle-volcano/deploy"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
)

// rendered is what the chart makes, as "Kind namespace/name".
type rendered map[string]*unstructured.Unstructured

// templates are what helm template printed, by the values.
var templates sync.Map

func render(t *testing.T, values ...string) rendered {
	t.Helper()
	args := []string{"template", release, chart, "--set", images}
	for _, value := range values {
		args = append(args, "--set", value)
	}
	once, _ := templates.LoadOrStore(strings.Join(args, " "), sync.OnceValues(func() (string, error) { return helm(t, args...) }))
	out, err := once.(func() (string, error))() //nolint:errcheck,forcetypeassert // nothing else is stored
	require.NoError(t, err)
	objects, err := manifests.Parse([]byte(out))
	require.NoError(t, err)
	all := rendered{}
	for _, object := range objects {
		name := strings.TrimPrefix(object.GetNamespace()+"/"+object.GetName(), "/")
		require.NotContains(t, all, object.GetKind()+" "+name)
		all[object.GetKind()+" "+name] = object
	}
	return all
}

const theController = system + "/paddle-controller-manager"

// theseAlways are in every installation that has a controller.
var theseAlways = []string{
	"ClusterRole paddle-controller-manager", "ClusterRoleBinding paddle-controller-manager",
	"CustomResourceDefinition paddlejobs.batch.paddlepaddle.org", "Deployment " + theController,
	"Role " + theController, "RoleBinding " + theController, "ServiceAccount " + theController,
	"ClusterRole paddle-jobs-view", "ClusterRole paddle-jobs-edit", "ClusterRole paddle-cluster-view", "Pod " + theController + "-test",
	"ValidatingAdmissionPolicy paddlejobs.batch.paddlepaddle.org", "ValidatingAdmissionPolicyBinding paddlejobs.batch.paddlepaddle.org",
}

func scheduler(namespace, name string) []string {
	at := namespace + "/" + name
	return []string{
		"ClusterRole " + name, "ClusterRoleBinding " + name + "-role", "ConfigMap " + at + "-configmap", "Deployment " + at,
		"Pod " + at + "-test", "Role " + at, "RoleBinding " + at, "ServiceAccount " + at,
	}
}

func TestObjectsOfEachSetOfValues(t *testing.T) {
	t.Parallel()
	without := func(drop ...string) []string {
		return slices.DeleteFunc(slices.Clone(theseAlways), func(name string) bool { return slices.Contains(drop, name) })
	}
	const ofTeam = "paddle-controller-manager-team"
	for name, tc := range map[string]struct {
		values, want []string
	}{
		"nothing said": {nil, theseAlways},
		"replace": {[]string{"scheduler.mode=replace"}, append(append(scheduler(volcanoSystem, "paddle-scheduler"), theseAlways...),
			"ValidatingAdmissionPolicy paddle-scheduler.batch.paddlepaddle.org", "ValidatingAdmissionPolicyBinding paddle-scheduler.batch.paddlepaddle.org")},
		"replace, for kubectl": {[]string{"scheduler.mode=replace", "scheduler.volcanosNames=true"}, append(scheduler(volcanoSystem, volcanoScheduler), theseAlways...)},
		"beside":               {[]string{"scheduler.mode=beside"}, append(scheduler(system, "paddle-scheduler"), theseAlways...)},
		"no API":               {[]string{"crd.install=false"}, without("CustomResourceDefinition paddlejobs.batch.paddlepaddle.org")},
		"Kubeflow": {[]string{"kubeflow.enabled=true", "kubeflow.crd=true"}, append([]string{"CustomResourceDefinition paddlejobs.kubeflow.org",
			"ClusterRole paddle-controller-manager-kubeflow", "ClusterRoleBinding paddle-controller-manager-kubeflow"}, theseAlways...)},
		"no policy": {[]string{"admissionPolicy.enabled=false"}, without("ValidatingAdmissionPolicy paddlejobs.batch.paddlepaddle.org",
			"ValidatingAdmissionPolicyBinding paddlejobs.batch.paddlepaddle.org")},
		"one namespace": {[]string{"controller.namespace=team"}, append(
			[]string{"ClusterRole " + ofTeam, "ClusterRoleBinding " + ofTeam, "Role team/" + ofTeam, "RoleBinding team/" + ofTeam},
			without("ClusterRole paddle-controller-manager", "ClusterRoleBinding paddle-controller-manager")...)},
		"only a scheduler": {[]string{"controller.enabled=false", "crd.install=false", "admissionPolicy.enabled=false", "scheduler.mode=beside"},
			scheduler(system, "paddle-scheduler")},
		"monitored": {
			[]string{"serviceMonitor.enabled=true", "networkPolicy.enabled=true", "scheduler.mode=beside"},
			append(append(scheduler(system, "paddle-scheduler"), theseAlways...), "NetworkPolicy "+theController, "ServiceMonitor "+theController,
				"NetworkPolicy "+system+"/paddle-scheduler", "ServiceMonitor "+system+"/paddle-scheduler", "Service "+theController+"-metrics",
				"Service "+system+"/paddle-scheduler-metrics"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.ElementsMatch(t, tc.want, slices.Collect(maps.Keys(render(t, tc.values...))))
		})
	}
}

// The pods of TrainJobs are for the scheduler that is installed.
func TestRuntimeOfTrainJobs(t *testing.T) {
	t.Parallel()
	all := render(t, "trainer.enabled=true", "scheduler.mode=beside", "trainer.networkTopology.mode=hard")
	require.Contains(t, all, "ClusterTrainingRuntime paddle-distributed")
	text, err := yaml.Marshal(all["ClusterTrainingRuntime paddle-distributed"])
	require.NoError(t, err)
	require.Regexp(t, `(?s)volcano:\n +networkTopology:\n +mode: hard\n.*schedulerName: paddle\n`, string(text))
}

func shipped(t *testing.T, files ...string) []*unstructured.Unstructured {
	t.Helper()
	objects, err := manifests.Read(deploy.Files, files...)
	require.NoError(t, err)
	return objects
}

// allows reports whether a role in objects, other than those for users, allows all of the verbs on a resource of a group.
func allows(t *testing.T, objects []*unstructured.Unstructured, group, resource string, verbs ...string) bool {
	t.Helper()
	for _, object := range objects {
		if kind := object.GetKind(); kind != "ClusterRole" && kind != "Role" || object.GetLabels()["app.kubernetes.io/component"] == "user" {
			continue
		}
		role := &rbacv1.ClusterRole{}
		require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, role))
		for _, rule := range role.Rules {
			if slices.Contains(rule.APIGroups, group) && slices.Contains(rule.Resources, resource) &&
				!slices.ContainsFunc(verbs, func(verb string) bool { return !slices.Contains(rule.Verbs, verb) }) {
				return true
			}
		}
	}
	return false
}

// The controller may touch Kubeflow's API only where it is enabled, and may never change a pod itself.
func TestRightsFollowTheValues(t *testing.T) {
	t.Parallel()
	values := func(values ...string) []*unstructured.Unstructured {
		return slices.Collect(maps.Values(render(t, values...)))
	}
	for name, tc := range map[string]struct {
		objects  []*unstructured.Unstructured
		kubeflow bool
	}{
		"values":                           {objects: values()},
		"Kubeflow's API without its jobs":  {objects: values("kubeflow.crd=true")},
		"Kubeflow":                         {objects: values("kubeflow.enabled=true"), kubeflow: true},
		"Kubeflow in one namespace":        {objects: values("kubeflow.enabled=true", "controller.namespace=team"), kubeflow: true},
		"manifests":                        {objects: shipped(t, "v1/operator.yaml")},
		"manifests with those of Kubeflow": {objects: shipped(t, "v1/operator.yaml", "v1/kubeflow-rights.yaml"), kubeflow: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.kubeflow, allows(t, tc.objects, "kubeflow.org", "paddlejobs", "list", "watch"))
			require.Equal(t, tc.kubeflow, allows(t, tc.objects, "batch.paddlepaddle.org", "paddlejobs", "create"))
			require.True(t, allows(t, tc.objects, "", "pods", "list", "watch", "delete"))
			require.False(t, allows(t, tc.objects, "", "pods", "patch"))
			require.False(t, allows(t, tc.objects, "", "pods", "update"))
		})
	}
}

// selectorAt is where each kind that selects pods has its selector.
var selectorAt = map[string][]string{
	"Deployment":          {"spec", "selector"},
	"NetworkPolicy":       {"spec", "podSelector"},
	"PodDisruptionBudget": {"spec", "selector"},
	"Service":             {"spec", "selector"},
}

// others are labels of pods that may be in the same namespaces.
var others = map[string]labels.Set{
	"an operator made with kubebuilder": {"control-plane": "controller-manager"},
	"a newer operator":                  {"control-plane": "controller-manager", "app.kubernetes.io/name": "other", "app.kubernetes.io/component": "controller"},
	"Volcano's scheduler":               {"app": "volcano-scheduler"},
	"another scheduler":                 {"app": "paddle-scheduler", "app.kubernetes.io/component": "scheduler"},
	"the etcd of elastic jobs":          {"app": "paddle-etcd"},
	"another release":                   {"app.kubernetes.io/name": "paddle-volcano", "app.kubernetes.io/instance": "b", "app.kubernetes.io/component": "controller"},
	"no labels":                         {},
}

func parseSelector(t *testing.T, fields map[string]any) (metav1.LabelSelector, labels.Selector) {
	t.Helper()
	var parsed metav1.LabelSelector
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &parsed))
	selector, err := metav1.LabelSelectorAsSelector(&parsed)
	require.NoError(t, err)
	return parsed, selector
}

// requireSelectsItsService checks that a ServiceMonitor selects the Service of its component, in its own namespace, and reads a port of it.
func requireSelectsItsService(t *testing.T, all rendered, monitor *unstructured.Unstructured) {
	t.Helper()
	fields, _, err := unstructured.NestedMap(monitor.Object, "spec", "selector")
	require.NoError(t, err)
	_, selector := parseSelector(t, fields)
	endpoints, _, err := unstructured.NestedSlice(monitor.Object, "spec", "endpoints")
	require.NoError(t, err)
	require.Len(t, endpoints, 1)
	var selected []string
	for _, object := range all {
		if object.GetKind() != "Service" || object.GetNamespace() != monitor.GetNamespace() || !selector.Matches(labels.Set(object.GetLabels())) {
			continue
		}
		selected = append(selected, object.GetName())
		ports, _, err := unstructured.NestedSlice(object.Object, "spec", "ports")
		require.NoError(t, err)
		require.Len(t, ports, 1)
		require.Equal(t, ports[0].(map[string]any)["name"], endpoints[0].(map[string]any)["port"]) //nolint:errcheck,forcetypeassert // so they are
	}
	require.Equal(t, []string{monitor.GetName() + "-metrics"}, selected)
}

// Each selector selects the pods of one component of the chart and no others, by labels that the manifests without Helm also have.
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
				if object.GetKind() == "ServiceMonitor" {
					requireSelectsItsService(t, all, object)
					continue
				}
				at, selects := selectorAt[object.GetKind()]
				if !selects {
					require.NotEqual(t, "PodMonitor", object.GetKind(), "say where its selector is")
					continue
				}
				found++
				fields, _, err := unstructured.NestedMap(object.Object, at...)
				require.NoError(t, err)
				if object.GetKind() == "Service" {
					fields = map[string]any{"matchLabels": fields}
				}
				parsed, selector := parseSelector(t, fields)
				for pod, set := range pods {
					require.Equal(t, pod == strings.TrimSuffix(object.GetName(), "-metrics"), selector.Matches(set), "%s and the pods of %s", id, pod)
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
