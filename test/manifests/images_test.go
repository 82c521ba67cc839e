// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/paddle-volcano/paddle-volcano/deploy"
)

const root = "../.."

// Docker does not run here; everything of a Dockerfile that can be wrong without it is tried. go build -n finds a package, a flag or an
// embedded file that is missing, and compiles nothing.
func TestDockerfilesBuildWhatTheManifestsRun(t *testing.T) {
	scheduler, controller := deploymentOf(t, "v1/scheduler.yaml").Spec.Template.Spec, deploymentOf(t, "v1/operator.yaml").Spec.Template.Spec
	compilers := map[string]bool{}
	for file, run := range map[string]struct {
		image string
		pod   corev1.PodSpec
	}{
		"deploy/docker/scheduler.Dockerfile":  {scheduler.Containers[0].Image, scheduler},
		"deploy/docker/controller.Dockerfile": {controller.Containers[0].Image, controller},
		"deploy/docker/barrier.Dockerfile":    {barrierImage(t, controller.Containers[0].Args), corev1.PodSpec{}}, // an init container of the users' pods
		"hack/kind/vc-scheduler.Dockerfile":   {"localhost/vc-scheduler:v1.14.1", corev1.PodSpec{}},
	} {
		t.Run(file, func(t *testing.T) {
			lines := instructions(t, filepath.Join(root, file))
			module := t.TempDir()

			// The build of nothing but the files that are copied, by the very command of the file.
			var built string
			for _, line := range lines {
				fields := strings.Fields(line)
				switch {
				case fields[0] == "COPY" && !strings.HasPrefix(fields[1], "--"):
					for _, source := range fields[1 : len(fields)-1] {
						requireSent(t, source)
						copyInto(t, source, filepath.Join(module, source))
					}
				case strings.Contains(line, "go build"):
					require.Contains(t, line, "CGO_ENABLED=0 ")
					built = strings.TrimPrefix(fields[slices.Index(fields, "-o")+1], "/out/")
					command := strings.NewReplacer("RUN ", "", "go build ", "go build -n ").Replace(line)
					build := exec.CommandContext(t.Context(), "sh", "-c", command)
					build.Dir = module
					out, err := build.CombinedOutput()
					require.NoError(t, err, "%s", out)
					require.Contains(t, string(out), "a.out /out/"+built+"\n")
				}
			}

			require.Contains(t, lines, "COPY --from=build /out/"+built+" /"+built)
			require.Contains(t, lines, `ENTRYPOINT ["/`+built+`"]`)
			require.Contains(t, lines, "FROM scratch")
			require.Regexp(t, `^[a-z0-9./-]*`+built+`:v[0-9.]+$`, run.image)
			require.Contains(t, lines, "USER 65532:65532")
			if security := run.pod.SecurityContext; security != nil {
				require.Nil(t, security.RunAsUser, "the image has it, or OpenShift")
				require.True(t, *security.RunAsNonRoot)
			}
			require.Regexp(t, `^FROM golang:\d+\.\d+\.\d+ AS build$`, lines[0], "the compiler is pinned")
			compilers[lines[0]] = true
		})
	}
	require.Len(t, compilers, 1, "all images are built by the same compiler")
}

func TestManifestsRunTheEntryPointsOfTheImages(t *testing.T) {
	for _, manifest := range []string{"v1/scheduler.yaml", "v1/operator.yaml"} {
		require.Empty(t, deploymentOf(t, manifest).Spec.Template.Spec.Containers[0].Command, manifest)
	}
}

// No one can register a name below .invalid (RFC 2606), so that a manifest that is applied unchanged cannot run an unknown image.
func TestManifestsNameNoRegistry(t *testing.T) {
	images := regexp.MustCompile(`(?:image: |--[a-z-]*image=)(\S+)`)
	entries, err := fs.ReadDir(deploy.Files, "v1")
	require.NoError(t, err)
	found := 0
	for _, entry := range entries {
		text, err := deploy.Files.ReadFile("v1/" + entry.Name())
		require.NoError(t, err)
		for _, image := range images.FindAllStringSubmatch(string(text), -1) {
			require.Regexp(t, `^registry\.invalid/[a-z-]+:v\d+\.\d+\.\d+$`, image[1], entry.Name())
			found++
		}
	}
	require.Equal(t, 3, found)
}

// barrierImage returns the image of the init container, as the controller's flag has it.
func barrierImage(t *testing.T, args []string) string {
	t.Helper()
	const flag = "--barrier-image="
	at := slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, flag) })
	require.GreaterOrEqual(t, at, 0, "the start barrier is on where the manifest is installed: %v", args)
	return strings.TrimPrefix(args[at], flag)
}

// instructions returns the lines of a Dockerfile without comments.
func instructions(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return slices.DeleteFunc(strings.Split(string(data), "\n"), func(line string) bool {
		return strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#")
	})
}

// requireSent checks that .dockerignore, which keeps everything out that it does not name, lets a file through.
func requireSent(t *testing.T, source string) {
	t.Helper()
	lines := instructions(t, filepath.Join(root, ".dockerignore"))
	require.Equal(t, "*", lines[0])
	require.Contains(t, lines, "!"+regexp.MustCompile(`/.*`).ReplaceAllString(source, ""))
}

func copyInto(t *testing.T, source, target string) {
	t.Helper()
	from := filepath.Join(root, source)
	info, err := os.Stat(from)
	require.NoError(t, err)
	if info.IsDir() {
		require.NoError(t, os.CopyFS(target, os.DirFS(from)))
		return
	}
	data, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(target, data, 0o600))
}
