// SPDX-License-Identifier: Apache-2.0

package helm_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/paddle-volcano/paddle-volcano/test/docs"
)

// The documents' commands for scheduler.mode=replace run the image before they stop Volcano's scheduler. The sandbox has no
// kube-scheduler, so the pod with the image waits, as where the image cannot be pulled, until this test says how it ended.
func TestVolcanosSchedulerRunsOnIfTheImageCannotBePulled(t *testing.T) {
	installVolcanos(t)
	commands := documented(t, "--set scheduler.mode=replace")

	out, err := typeIn(t, strings.Replace(commands, "--timeout=5m", "--timeout=1s", 1))
	require.EqualValues(t, 1, *deployed(t, volcanoSystem, volcanoScheduler).Spec.Replicas, out)
	require.Error(t, err)
	require.Contains(t, out, "timed out waiting for the condition on pods/"+imagePod)

	pods := cluster.Kube.CoreV1().Pods(volcanoSystem)
	require.NoError(t, pods.Delete(t.Context(), imagePod, metav1.DeleteOptions{}))
	ended := make(chan error, 1)
	go func() {
		ended <- cluster.Until(t.Context(), "the pod with the image", func(ctx context.Context) error {
			pod, err := pods.Get(ctx, imagePod, metav1.GetOptions{})
			if err != nil {
				return err
			}
			pod.Status.Phase = corev1.PodSucceeded
			_, err = pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{})
			return err
		})
	}()
	out, err = typeIn(t, commands)
	require.NoError(t, <-ended)
	require.ErrorContains(t, err, "exit status 1", "there is no release yet: %s", out)
	require.Contains(t, out, `"paddle" has no deployed releases`)
	require.Zero(t, *deployed(t, volcanoSystem, volcanoScheduler).Spec.Replicas, out)
	require.NoError(t, scaleVolcanos(t.Context(), 1))
}

const imagePod = "paddle-scheduler-image"

// documented are the commands of the one block of deploy/README.md that contains the text.
func documented(t *testing.T, text string) string {
	t.Helper()
	page, err := os.ReadFile(root + "/deploy/README.md")
	require.NoError(t, err)
	var found []string
	for _, block := range docs.Parse("README.md", string(page)).Blocks {
		if commands := strings.Join(block.Lines, "\n"); block.Language == "sh" && strings.Contains(commands, text) {
			found = append(found, commands)
		}
	}
	require.Len(t, found, 1)
	return found[0]
}

// typeIn runs commands as a terminal does, which goes on with the next line after one that fails, and returns what they print.
func typeIn(t *testing.T, commands string) (string, error) {
	t.Helper()
	build, err := exec.CommandContext(t.Context(), "make", "--silent", "-C", root, "kubectl").CombinedOutput()
	require.NoError(t, err, "%s", build)
	bin, err := filepath.Abs(root + "/_output/bin")
	require.NoError(t, err)
	home := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "bash", "-c", commands)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "KUBECONFIG="+cluster.Kubeconfig(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
