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
