// SPDX-License-Identifier: Apache-2.0

package deploy_test

import (
	"os"
	"os/exec"
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
	require.Equal(t, version, found(t, "../hack/kind/up.sh", `^images_of \. "\$programs" (v\S+)$`))
	image := regexp.MustCompile(`(?:paddlejob-controller|paddle-scheduler|paddle-barrier):(v\d\S*?)[ "';]`)
	for _, file := range []string{
		"docs/how-to/install.md", "docs/zh/how-to/install.md", "docker/controller.Dockerfile", "docker/scheduler.Dockerfile", "docker/barrier.Dockerfile",
		"v1/operator.yaml", "v1/scheduler.yaml", "../hack/kind/test.sh",
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

// The table of versions says what is built, what is installed, what both programs warn of, and what tests run.
func TestCompatibilityTableIsTrue(t *testing.T) {
	t.Parallel()
	minor := func(version string) string {
		return regexp.MustCompile(`^v?(\d+\.\d+)`).FindStringSubmatch(version)[1]
	}
	const number, supported, kindPage = `(\d+\.\d+)`, "../controller/versions/versions.go", "../hack/kind/README.md"
	volcano := found(t, "../go.mod", `^\tvolcano\.sh/volcano v(\S+)$`)
	sandbox := found(t, "../hack/plane/go.mod", `^\tk8s\.io/kubernetes => k8s\.io/kubernetes v(\S+)$`)
	kind := found(t, "../hack/kind/cluster.yaml", `^  image: kindest/node:v([^@]+)@sha256:[0-9a-f]{64}$`)
	oldest := found(t, supported, `^const oldestKubernetes, newestKubernetes = "`+number+`", "`)
	newest := found(t, supported, `^const oldestKubernetes, newestKubernetes = "[^"]+", "`+number+`"`)
	for what, version := range map[string]string{
		"what the programs warn of": found(t, supported, `^const supportedVolcano = "`+number+`"`),
		"the sandbox":               minor(found(t, "../hack/plane/go.mod", `^\tvolcano\.sh/volcano v(\S+)`)),
		"the API's module":          minor(found(t, "../go.mod", `^\tvolcano\.sh/apis v(\S+)$`)),
		"kind":                      minor(found(t, kindPage, `^\| Volcano's webhooks and controllers \| (v\S+) \|`)),
	} {
		require.Equal(t, minor(volcano), version, "Volcano of %s", what)
	}
	require.Equal(t, oldest, found(t, chart+"/Chart.yaml", `^kubeVersion: ">=`+number+`\.0-0 `))
	for what, version := range map[string]string{
		"the sandbox": sandbox, "kind": kind, "what the scheduler is built of": found(t, "../go.mod", `^\tk8s\.io/kubernetes v(\S+)$`),
		"the page of kind": found(t, kindPage, `^\| the node: Kubernetes (\S+) \|`),
	} {
		require.Equal(t, newest, minor(version), "the newest version that is supported is that of %s", what)
	}
	for _, page := range []string{"docs/how-to/install.md", "docs/zh/how-to/install.md"} {
		row := found(t, page, `^(\| v\d\S+ \| .*)$`)
		release := found(t, chart+"/Chart.yaml", `^appVersion: (v\S+)$`)
		require.Equal(t, "| "+release+" | "+minor(volcano)+".x | "+volcano+" | "+oldest+" to "+newest+" | "+sandbox+" | "+kind+" |",
			strings.Replace(row, " 到 ", " to ", 1), page)
	}
	// What the pages of kind and of the plugin say of the versions that kind installs.
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "volcano.sh/volcano").Output()
	require.NoError(t, err)
	installed := found(t, strings.TrimSpace(string(out))+"/installer/helm/chart/volcano/values.yaml", `^ +image_tag_version: "(\S+)"$`)
	require.Equal(t, installed, found(t, kindPage, `^\| Volcano's webhooks and controllers \| (v\S+) \|`))
	require.Equal(t, volcano, found(t, kindPage, `^\| Volcano's scheduler, paddle-scheduler, controller, barrier \| v(\S+);`))
	require.Equal(t, sandbox, found(t, kindPage, `^Kubernetes \S+ is the image of this kind that is nearest to the sandbox's (\S+)\.$`))
	require.Equal(t, found(t, "../hack/kind/go.mod", `^\tsigs\.k8s\.io/kind (v\S+)`), found(t, kindPage, `^\| kind \| (v\S+) \|`))
	require.Equal(t, found(t, "../hack/kwok/go.mod", `^\tsigs\.k8s\.io/kwok (v\S+)`), found(t, kindPage, "^\\| kwok \\| `registry\\.k8s\\.io/kwok/kwok:(v\\S+)` \\|"))
	require.Equal(t, found(t, "../hack/kind/box.sh", `^debian_release=(\S+)$`), found(t, kindPage, `^\| Docker, and what the node is made of here \| Debian (\S+) \|`))
	enablePages := []string{"docs/how-to/enable-the-plugin.md", "docs/zh/how-to/enable-the-plugin.md"}
	for _, page := range enablePages {
		require.Equal(t, installed, found(t, page, `^  image_tag_version: (\S+)$`), page)
	}
	for _, page := range append(enablePages, "../README.md", "../README.zh.md", "../CHANGELOG.md", chart+"/templates/scheduler/configuration.yaml") {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		versions := regexp.MustCompile(`\b1\.14\.\d+\b`).FindAllString(strings.ReplaceAll(string(text), installed, ""), -1)
		require.NotEmpty(t, versions, page)
		for _, version := range versions {
			require.Equal(t, volcano, version, page)
		}
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
