// SPDX-License-Identifier: Apache-2.0

package deploy_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/paddle-volcano/paddle-volcano/test/cases"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
)

const chart = "helm/paddle-volcano"

// build builds the Helm that this project pins, once.
var build = sync.OnceValues(func() ([]byte, error) { return exec.Command("../hack/helm.sh", "version").CombinedOutput() })

// helm runs the Helm that this project pins and returns what it prints.
func helm(t *testing.T, args ...string) (string, error) {
	t.Helper()
	printed, err := build()
	require.NoError(t, err, "%s", printed)
	var out, errs bytes.Buffer
	home := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "../_output/bin/helm", args...)
	cmd.Env = append(os.Environ(), "HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("helm %v: %w: %s", args, err, errs.String())
	}
	return out.String(), nil
}

// change is a value of the chart that is changed, and what follows.
type change struct {
	Set          any
	With         map[string]any
	Shows, Hides string
}

// bases are renderings before a change.
var bases sync.Map

// rendered returns what the chart makes of values.
func rendered(t *testing.T, values map[string]any) string {
	t.Helper()
	args := []string{"template", "paddle", chart, "--namespace", "paddle-system", "--set-json", `image.registry="registry.example.com/paddle"`}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		text, err := json.Marshal(values[name])
		require.NoError(t, err)
		args = append(args, "--set-json", name+"="+string(text))
	}
	once, _ := bases.LoadOrStore(strings.Join(args, " "), sync.OnceValues(func() (string, error) { return helm(t, args...) }))
	out, err := once.(func() (string, error))() //nolint:errcheck,forcetypeassert // nothing else is stored
	require.NoError(t, err)
	return out
}

// Each value that the chart's README lists does something, and what it does is what its case says.
func TestEachValueChangesTheObjects(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(chart + "/README.md")
	require.NoError(t, err)
	changes := cases.Read[map[string]change](t, "testdata/values.yaml")
	var listed []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([A-Za-z.]+) \| [a-z]+ \|`).FindAllStringSubmatch(string(page), -1) {
		listed = append(listed, row[1])
	}
	require.ElementsMatch(t, listed, slices.Collect(maps.Keys(changes)), "testdata/values.yaml has a case for each value")
	for value, c := range changes {
		t.Run(value, func(t *testing.T) {
			t.Parallel()
			before, with := rendered(t, c.With), map[string]any{value: c.Set}
			maps.Copy(with, c.With)
			after := rendered(t, with)
			require.NotEqual(t, c.Shows == "", c.Hides == "", "the case says what is shown, or what is hidden")
			if c.Hides != "" {
				before, after = after, before
			}
			text := c.Shows + c.Hides
			require.Greater(t, strings.Count(after, text), strings.Count(before, text), text)
		})
	}
}

// everything switches all on that is off by default.
var everything = map[string]any{
	"scheduler.mode": "replace", "kubeflow.enabled": true, "kubeflow.crd": true, "trainer.enabled": true, "networkPolicy.enabled": true,
	"serviceMonitor.enabled": true, "prometheusRule.enabled": true, "dashboards.enabled": true,
	"controller.podDisruptionBudget": map[string]any{"maxUnavailable": 1}, "scheduler.podDisruptionBudget": map[string]any{"maxUnavailable": 1},
}

func TestEachObjectHasTheLabelsThatKubernetesRecommends(t *testing.T) {
	t.Parallel()
	objects, err := manifests.Parse([]byte(rendered(t, everything)))
	require.NoError(t, err)
	require.Greater(t, len(objects), 30)
	for _, object := range objects {
		labels := object.GetLabels()
		for _, name := range []string{"name", "instance", "component", "version", "part-of", "managed-by"} {
			require.NotEmpty(t, labels["app.kubernetes.io/"+name], "%s %s: %s", object.GetKind(), object.GetName(), name)
		}
		require.Equal(t, "paddle-volcano-"+strings.TrimPrefix(labels["app.kubernetes.io/version"], "v"), labels["helm.sh/chart"])
	}
}

// Two releases share nothing but the API and what belongs to it, so that a cluster can have two.
func TestReleasesOfOtherNamesShareTheAPIAlone(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	parse := func(values map[string]any) (shared []string) {
		objects, err := manifests.Parse([]byte(rendered(t, values)))
		require.NoError(t, err)
		for _, object := range objects {
			name := object.GetKind() + " " + object.GetName()
			if names[name] {
				shared = append(shared, name)
			}
			names[name] = true
		}
		return shared
	}
	parse(everything)
	other := maps.Clone(everything)
	other["fullnameOverride"] = "other"
	require.ElementsMatch(t, []string{
		"CustomResourceDefinition paddlejobs.batch.paddlepaddle.org", "CustomResourceDefinition paddlejobs.kubeflow.org", "ClusterTrainingRuntime paddle-distributed",
		"ValidatingAdmissionPolicy paddlejobs.batch.paddlepaddle.org", "ValidatingAdmissionPolicyBinding paddlejobs.batch.paddlepaddle.org",
	}, parse(other))
}

func TestPodsNameNoUserThatOpenShiftWouldRefuse(t *testing.T) {
	t.Parallel()
	for _, field := range []string{"runAsUser", "runAsGroup", "fsGroup", "hostPath", "hostPort", "hostNetwork"} {
		for line := range strings.SplitSeq(rendered(t, map[string]any{"scheduler.mode": "beside", "crd.install": false}), "\n") {
			require.False(t, strings.HasPrefix(strings.TrimLeft(line, " -"), field+":"), line)
		}
	}
}

// helm test runs each image of the release once, and the pods that it makes are not of the release.
func TestHelmTestRunsEachImage(t *testing.T) {
	t.Parallel()
	objects, err := manifests.Parse([]byte(rendered(t, everything)))
	require.NoError(t, err)
	deployed, tested := map[string]bool{}, map[string]bool{}
	for _, object := range objects {
		text, err := json.Marshal(object)
		require.NoError(t, err)
		images := regexp.MustCompile(`registry\.example\.com/paddle/[a-z-]+:v[0-9.]+`).FindAllString(string(text), -1)
		into := deployed
		if object.GetKind() == "Pod" {
			require.Equal(t, "test", object.GetAnnotations()["helm.sh/hook"], object.GetName())
			require.Equal(t, "before-hook-creation,hook-succeeded", object.GetAnnotations()["helm.sh/hook-delete-policy"], object.GetName())
			into = tested
		}
		for _, image := range images {
			into[image] = true
		}
	}
	require.Len(t, deployed, 3, "controller, start barrier, scheduler")
	require.Equal(t, deployed, tested)
}

func TestLint(t *testing.T) {
	t.Parallel()
	for _, values := range []string{"scheduler.mode=none", "scheduler.mode=replace", "scheduler.mode=beside,serviceMonitor.enabled=true,networkPolicy.enabled=true"} {
		out, err := helm(t, "lint", chart, "--strict", "--set", "image.registry=registry.example.com/paddle", "--set", values)
		require.NoError(t, err, out)
		require.NotContains(t, out, "[WARNING]")
	}
}

// Before Kubernetes 1.30 the API server does not know the policy.
func TestPolicyIsForNewerClusters(t *testing.T) {
	t.Parallel()
	for version, there := range map[string]bool{"1.29.9": false, "1.30.0": true} {
		out, err := helm(t, "template", "paddle", chart, "--set", "image.registry=registry.example.com/paddle", "--kube-version", version)
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
			_, err := helm(t, "template", "paddle", chart, "--set", "image.registry=registry.example.com/paddle", "--set", values)
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
		_, err := helm(t, "template", "paddle", chart, "--set", values)
		if required {
			require.ErrorContains(t, err, "--set image.registry=registry.example.com/paddle", values)
			continue
		}
		require.NoError(t, err, values)
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

func TestAPIIsKeptUnlessAskedOtherwise(t *testing.T) {
	t.Parallel()
	for keep, kept := range map[bool]int{true: 2, false: 0} {
		out := rendered(t, map[string]any{"kubeflow.crd": true, "crd.keep": keep})
		require.Equal(t, 2, strings.Count(out, "\nkind: CustomResourceDefinition\n"))
		require.Equal(t, kept, strings.Count(out, "helm.sh/resource-policy: keep"))
	}
}

func TestArgumentsFollowTheValues(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		values      map[string]any
		deployment  string
		has, hasNot []string
	}{
		"controller": {nil, "paddle-controller-manager", []string{"--metrics-address=:8443", "--leader-elect-resource-namespace=paddle-system",
			"--barrier-image=registry.example.com/paddle/paddle-barrier:v0.1.0"}, []string{"--namespace", "--kubeflow", "--scheduler-name"}},
		"controller, beside":  {map[string]any{"scheduler.mode": "beside"}, "paddle-controller-manager", []string{"--scheduler-name=paddle"}, nil},
		"controller, replace": {map[string]any{"scheduler.mode": "replace"}, "paddle-controller-manager", nil, []string{"--scheduler-name"}},
		"scheduler, replace": {map[string]any{"scheduler.mode": "replace"}, "paddle-scheduler", []string{"--leader-elect-resource-namespace=volcano-system"},
			[]string{"--scheduler-name", "--leader-elect-resource-name="}},
		"scheduler, beside": {map[string]any{"scheduler.mode": "beside", "scheduler.name": "mine"}, "paddle-scheduler", []string{"--scheduler-name=mine",
			"--leader-elect-resource-name=mine", "--leader-elect-resource-namespace=paddle-system", "--enable-metrics=true"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects, err := manifests.Parse([]byte(rendered(t, tc.values)))
			require.NoError(t, err)
			at := slices.IndexFunc(objects, func(o *unstructured.Unstructured) bool {
				return o.GetKind() == "Deployment" && o.GetName() == tc.deployment
			})
			require.GreaterOrEqual(t, at, 0)
			d := &appsv1.Deployment{}
			require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(objects[at].Object, d))
			args := d.Spec.Template.Spec.Containers[0].Args
			for _, has := range tc.has {
				require.Contains(t, args, has)
			}
			for _, hasNot := range tc.hasNot {
				require.False(t, slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, hasNot) }), "%s: %v", hasNot, args)
			}
		})
	}
}
