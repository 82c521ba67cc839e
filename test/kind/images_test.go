// SPDX-License-Identifier: Apache-2.0

package kind_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// builtOrPinned checks that images are built by the script, all of which are used, or named by a version; and that pods run
// where programs run.
func builtOrPinned(t *testing.T, calls []call) {
	t.Helper()
	used, pulled := map[string]bool{}, map[string]bool{}
	for _, c := range calls {
		for _, arg := range c.Args {
			if tag, ok := strings.CutPrefix(arg, "--tag="); ok && c.Args[0] == "build" {
				used[tag] = false
			}
		}
	}
	require.Len(t, used, 4)
	note := func(image string) {
		if _, built := used[image]; built {
			used[image] = true
			return
		}
		pulled[image] = true
	}
	for _, object := range applied(t, calls...) {
		if kind := object.GetKind(); kind != "Deployment" && kind != "Job" {
			continue
		}
		pod := podOf(t, object)
		require.Contains(t, pod.NodeSelector, "node-role.kubernetes.io/control-plane", "%s", object.GetName())
		require.Len(t, pod.Containers, 1)
		require.Equal(t, corev1.PullIfNotPresent, pod.Containers[0].ImagePullPolicy, "%s", object.GetName())
		note(pod.Containers[0].Image)
		for _, arg := range pod.Containers[0].Args {
			if image, ok := strings.CutPrefix(arg, "--barrier-image="); ok {
				note(image)
			}
		}
	}
	for image, is := range used {
		require.True(t, is, "%s is used", image)
	}
	require.Len(t, pulled, 3, "of Volcano its webhooks and its controllers, and kwok: %v", pulled)
	for image := range pulled {
		require.Regexp(t, `^[a-z0-9./-]+:v\d+\.\d+\.\d+$`, image)
	}
}

// podOf is the pod of a Deployment, or of a Job, which looks the same as far as this goes.
func podOf(t *testing.T, object *unstructured.Unstructured) corev1.PodSpec {
	t.Helper()
	workload := &appsv1.Deployment{}
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, workload))
	return workload.Spec.Template.Spec
}

// The Dockerfiles of deploy/ are tested in test/manifests.
func TestStockSchedulerIsBuiltFromTheModule(t *testing.T) {
	data, err := os.ReadFile(scripts + "vc-scheduler.Dockerfile")
	require.NoError(t, err)
	ours, err := os.ReadFile("../../deploy/docker/scheduler.Dockerfile")
	require.NoError(t, err)
	compiler := func(file string) string {
		return file[strings.Index(file, "FROM golang:"):strings.Index(file, " AS build")]
	}
	require.Equal(t, compiler(string(ours)), compiler(string(data)), "both schedulers are built by the same compiler")
	var command string
	for line := range strings.Lines(string(data)) {
		if strings.Contains(line, "go build") {
			command = line
		}
	}
	output := t.TempDir()
	// -trimpath changes no package's text, and Kubernetes would be compiled a second time for it.
	command = strings.NewReplacer("RUN ", "", "-trimpath ", "", "/out/", output+"/").Replace(command)
	build := exec.CommandContext(t.Context(), "sh", "-c", command)
	build.Dir = "../.."
	said, err := build.CombinedOutput()
	require.NoError(t, err, "%s", said)
	require.FileExists(t, filepath.Join(output, "vc-scheduler"))
	require.Contains(t, string(data), "COPY --from=build /out/vc-scheduler /vc-scheduler\n")
	require.Contains(t, string(data), `ENTRYPOINT ["/vc-scheduler"]`)
}
