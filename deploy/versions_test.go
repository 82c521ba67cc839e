// SPDX-License-Identifier: Apache-2.0

package deploy_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// found returns what the group of a pattern matches in a file, which it matches once.
func found(t *testing.T, file, pattern string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	all := regexp.MustCompile(`(?m)`+pattern).FindAllStringSubmatch(string(text), -1)
	require.Len(t, all, 1, "%s: %s", file, pattern)
	return all[0][1]
}

// The chart's appVersion is the one source of the version.
func TestVersionIsTheSameEverywhere(t *testing.T) {
	t.Parallel()
	version := found(t, chart+"/Chart.yaml", `^appVersion: (v\S+)$`)
	require.Equal(t, version, "v"+found(t, chart+"/Chart.yaml", `^version: (\S+)$`))
	text, err := os.ReadFile("../CHANGELOG.md")
	require.NoError(t, err)
	require.Regexp(t, `(?m)^## `+regexp.QuoteMeta(version)+` `, string(text), "CHANGELOG.md has the version")
	image := regexp.MustCompile(`(?:paddlejob-controller|paddle-scheduler|paddle-barrier):(v\d\S*?)[ "';]`)
	for _, file := range []string{
		"README.md", "README.zh.md", "docker/controller.Dockerfile", "docker/scheduler.Dockerfile", "docker/barrier.Dockerfile",
		"v1/operator.yaml", "v1/scheduler.yaml", "../hack/kind/up.sh",
	} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		images := image.FindAllStringSubmatch(strings.ReplaceAll(string(text), "\n", " "), -1)
		require.NotEmpty(t, images, file)
		for _, one := range images {
			require.Equal(t, version, one[1], "%s: %s", file, one[0])
		}
	}
}

// The table of versions says what is built, what is installed, what the controller warns of, and what tests run.
func TestCompatibilityTableIsTrue(t *testing.T) {
	t.Parallel()
	minor := func(version string) string {
		return regexp.MustCompile(`^v?(\d+\.\d+)`).FindStringSubmatch(version)[1]
	}
	const number = `(\d+\.\d+)`
	volcano := found(t, "../go.mod", `^\tvolcano\.sh/volcano v(\S+)$`)
	tested := found(t, "../hack/plane/go.mod", `^\tk8s\.io/kubernetes => k8s\.io/kubernetes v(\S+)$`)
	oldest := found(t, "../controller/app/version.go", `^const oldestKubernetes, newestKubernetes = "`+number+`", "`)
	newest := found(t, "../controller/app/version.go", `^const oldestKubernetes, newestKubernetes = "[^"]+", "`+number+`"`)
	require.Equal(t, minor(volcano), found(t, "../controller/app/version.go", `^const testedVersion = "`+number+`"`))
	require.Equal(t, minor(volcano), minor(found(t, "../hack/plane/go.mod", `^\tvolcano\.sh/volcano v(\S+)`)))
	require.Equal(t, oldest, found(t, chart+"/Chart.yaml", `^kubeVersion: ">=`+number+`\.0-0 `))
	require.Equal(t, newest, minor(tested), "the newest version that is supported is tested")
	for _, page := range []string{"README.md", "README.zh.md"} {
		row := found(t, page, `^(\| v\d\S+ \| .*)$`)
		release := found(t, chart+"/Chart.yaml", `^appVersion: (v\S+)$`)
		require.Equal(t, "| "+release+" | "+minor(volcano)+".x | "+volcano+" | "+oldest+" to "+newest+" | "+tested+" |",
			strings.Replace(row, " 到 ", " to ", 1), page)
	}
	for version, there := range map[string]bool{oldest: true, newest: true, "1.24": false, "1.35": false} {
		_, err := helm(t, "template", "paddle", chart, "--set", "image.registry=registry.example.com/paddle", "--kube-version", version+".3")
		if there {
			require.NoError(t, err, version)
			continue
		}
		require.ErrorContains(t, err, "which is incompatible with Kubernetes")
	}
}
