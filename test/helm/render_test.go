// SPDX-License-Identifier: Apache-2.0

package helm_test

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
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

func (r rendered) names() []string {
	var names []string
	for name := range r {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (r rendered) deployment(t *testing.T, name string) *appsv1.Deployment {
	t.Helper()
	require.Contains(t, r, "Deployment "+name)
	d := &appsv1.Deployment{}
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(r["Deployment "+name].Object, d))
	return d
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
			require.ElementsMatch(t, tc.want, render(t, tc.values...).names())
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

func TestArgumentsFollowTheValues(t *testing.T) {
	t.Parallel()
	const replaced, beside = "volcano-system/paddle-scheduler", system + "/paddle-scheduler"
	for name, tc := range map[string]struct {
		values      []string
		deployment  string
		has, hasNot []string
	}{
		"controller": {nil, theController, []string{"--metrics-address=:8443", "--leader-elect-resource-namespace=paddle-system",
			"--barrier-image=registry.example.com/paddle/paddle-barrier:v0.1.0"}, []string{"--namespace", "--kubeflow", "--scheduler-name"}},
		"controller, beside":  {[]string{"scheduler.mode=beside"}, theController, []string{"--scheduler-name=paddle"}, nil},
		"controller, replace": {[]string{"scheduler.mode=replace"}, theController, nil, []string{"--scheduler-name"}},
		"scheduler, replace": {[]string{"scheduler.mode=replace"}, replaced, []string{"--leader-elect-resource-namespace=volcano-system"},
			[]string{"--scheduler-name", "--leader-elect-resource-name="}},
		"scheduler, beside": {[]string{"scheduler.mode=beside", "scheduler.name=mine"}, beside, []string{"--scheduler-name=mine",
			"--leader-elect-resource-name=mine", "--leader-elect-resource-namespace=paddle-system", "--enable-metrics=true"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := render(t, tc.values...).deployment(t, tc.deployment).Spec.Template.Spec.Containers[0].Args
			for _, has := range tc.has {
				require.Contains(t, args, has)
			}
			for _, hasNot := range tc.hasNot {
				require.False(t, slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, hasNot) }), "%s: %v", hasNot, args)
			}
		})
	}
}

func TestAPIIsKeptUnlessAskedOtherwise(t *testing.T) {
	t.Parallel()
	const policy = "helm.sh/resource-policy"
	for _, name := range []string{"paddlejobs.batch.paddlepaddle.org", "paddlejobs.kubeflow.org"} {
		crd := "CustomResourceDefinition " + name
		require.Equal(t, "keep", render(t, "kubeflow.crd=true")[crd].GetAnnotations()[policy])
		require.NotContains(t, render(t, "kubeflow.crd=true", "crd.keep=false")[crd].GetAnnotations(), policy)
	}
}

// Before Kubernetes 1.30 the API server does not know the policy.
func TestPolicyIsForNewerClusters(t *testing.T) {
	t.Parallel()
	for version, there := range map[string]bool{"1.29.9": false, "1.30.0": true} {
		out, err := helm(t, "template", release, chart, "--set", images, "--kube-version", version)
		require.NoError(t, err)
		require.Equal(t, there, strings.Contains(out, "kind: ValidatingAdmissionPolicy\n"), version)
	}
}

func TestWrongValuesAreRefusedWithTheirPlace(t *testing.T) {
	t.Parallel()
	for values, says := range map[string][]string{
		// Helm lists everything that the schema refuses.
		"controler.replicas=2,controller.replicas=-1,image.tag=1,image.pullPolicy=Sometimes,crd.keep=no,scheduler.mode=instead,controller.nodeSelector.a=1,controller.resources.request.cpu=1": {
			"additional properties 'controler' not allowed",
			"at '/controller/replicas': minimum: got -1, want 0",
			"at '/image/tag': got number, want string",
			"at '/image/pullPolicy': value must be one of 'Always', 'IfNotPresent', 'Never'",
			"at '/crd/keep': got string, want boolean",
			"at '/scheduler/mode': value must be one of 'none', 'replace', 'beside'",
			"at '/controller/nodeSelector/a': got number, want string",
			"additional properties 'request' not allowed",
		},
		"controller.replicas=two,namespace.create=true": {"at '/controller/replicas': got string, want integer", "additional properties 'namespace' not allowed"},
		// The chart fails with the first.
		"controller.namespace=Team_A":                          {`controller.namespace: "Team_A" cannot be a name: write 1 to 63 small letters, digits and hyphens`},
		"scheduler.volcanoNamespace=":                          {`scheduler.volcanoNamespace: "" cannot be a name`},
		"image.registry=https://here.example/paddle":           {`image.registry: "https://here.example/paddle" is not where images are: write it as registry.example.com:5000/paddle`},
		"image.registry=":                                      {"image.registry: it is empty, and controller.barrier.image.registry too: name the registry that has the images"},
		"scheduler.image.registry=here/,scheduler.mode=beside": {`scheduler.image.registry: "here/" is not where images are`},
		"controller.image.digest=sha256:1":                     {"at '/controller/image/digest': 'sha256:1' does not match pattern"},
		"fullnameOverride=A":                                   {`fullnameOverride: "A" cannot be a name`},
		"image.registry=here.example/":                         {`image.registry: "here.example/" is not where images are`},
		"controller.extraArgs={workers=3}":                     {`controller.extraArgs: "workers=3" is no flag: each begins with a hyphen and holds its value`},
		"scheduler.configuration=tiers:":                       {"scheduler.configuration: it has no actions, or no tiers: write the whole volcano-scheduler.conf"},
		"scheduler.configuration=a: b: c":                      {"scheduler.configuration: it is no YAML: "},
		"scheduler.mode=beside,scheduler.name=A":               {`scheduler.name: "A" cannot be a name`},
		"serviceMonitor.interval=often":                        {`serviceMonitor.interval: "often" is no length of time: write it as 30s or 1m30s`},
		"scheduler.mode=beside,scheduler.name=volcano":         {`scheduler.name: "volcano" is another scheduler's: choose a name of its own`},
	} {
		t.Run(values, func(t *testing.T) {
			t.Parallel()
			_, err := helm(t, "template", release, chart, "--set", images, "--set", values)
			for _, text := range says {
				require.ErrorContains(t, err, text)
			}
		})
	}
}

// No default leads to images of somebody else.
func TestRegistryIsRequiredWhereImagesAre(t *testing.T) {
	t.Parallel()
	for values, required := range map[string]bool{
		"controller.replicas=1":                           true,
		"controller.enabled=false":                        false,
		"controller.enabled=false,scheduler.mode=beside":  true,
		"controller.barrier.image.registry=r.example.com": true,
		"controller.barrier.image.registry=r.example.com,controller.image.registry=r.example.com/c": false,
	} {
		_, err := helm(t, "template", release, chart, "--set", values)
		if required {
			require.ErrorContains(t, err, "--set image.registry=registry.example.com/paddle", values)
			continue
		}
		require.NoError(t, err, values)
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

// properties is what a part of the schema allows.
type properties struct {
	Properties map[string]properties
}

// Every value that the schema allows has a default where administrators read what it means. (The other way round Helm checks.)
func TestEachValueOfTheSchemaIsInValues(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(chart + "/values.schema.json")
	require.NoError(t, err)
	var schema properties
	require.NoError(t, json.Unmarshal(data, &schema))
	delete(schema.Properties, "global") // Helm's own
	data, err = os.ReadFile(chart + "/values.yaml")
	require.NoError(t, err)
	values := map[string]any{}
	require.NoError(t, yaml.Unmarshal(data, &values))
	requireDefaults(t, "", schema, values)
}

func requireDefaults(t *testing.T, where string, schema properties, values map[string]any) {
	t.Helper()
	for name, inner := range schema.Properties {
		require.Contains(t, values, name, where)
		if below, isMap := values[name].(map[string]any); isMap {
			requireDefaults(t, where+name+".", inner, below)
		}
	}
}
