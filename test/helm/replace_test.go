// SPDX-License-Identifier: Apache-2.0

package helm_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/paddle-volcano/paddle-volcano/test/docs"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
)

// Volcano's own scheduler, which paddle-scheduler replaces with scheduler.mode=replace, and Helm's message while it runs.
const (
	volcanoSystem    = "volcano-system"
	volcanoScheduler = "volcano-scheduler"
	stopItFirst      = "kubectl -n volcano-system scale deployment volcano-scheduler --replicas=0"
)

func volcanosObjects(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	all, err := manifests.VolcanosScheduler(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 6)
	return all
}

// installVolcanos creates Volcano's scheduler with something that an administrator changed. The process is the sandbox's own scheduler.
func installVolcanos(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	own := volcanosObjects(t)
	for _, object := range own {
		object.SetAnnotations(map[string]string{"changed-by": "the administrator"})
	}
	require.NoError(t, cluster.objects.Apply(t.Context(), "default", "volcano", own...))
	return own
}

// kubectl applies the plain manifest over Volcano's scheduler, and Volcano's manifest over that one: nothing of either is left but the
// permissions that the documents have deleted.
func TestPlainManifestReplacesVolcanosSchedulerAndBack(t *testing.T) {
	volcanos, plain := volcanosObjects(t), shipped(t, "v1/scheduler.yaml")
	volcanos = slices.DeleteFunc(volcanos, func(o *unstructured.Unstructured) bool { return o.GetKind() == "Service" }) // only Volcano's has one
	apply := func(objects []*unstructured.Unstructured) map[string]any {
		t.Helper()
		require.NoError(t, cluster.objects.Apply(t.Context(), "default", "kubectl", objects...))
		specs := map[string]any{}
		for _, object := range volcanos {
			now, err := cluster.objects.Get(t.Context(), "default", object)
			require.NoError(t, err)
			for _, field := range []string{"spec", "data", "rules", "subjects", "roleRef"} {
				specs[object.GetKind()+" "+field] = now.Object[field]
			}
		}
		return specs
	}
	remove := func() {
		t.Helper()
		require.NoError(t, cluster.objects.Delete(t.Context(), "default", volcanos...))
		for _, object := range volcanos {
			cluster.Await(t, object.GetKind()+" to be gone", func(ctx context.Context) error {
				_, err := cluster.objects.Get(ctx, "default", object)
				return isGone(err)
			})
		}
	}
	remove() // what earlier tests have changed
	before := apply(volcanos)
	replaced := apply(plain)
	require.NotEqual(t, before, replaced)
	require.Equal(t, before, apply(volcanos), "Volcano's scheduler is back as it was")
	for _, object := range plain {
		if kind := object.GetKind(); kind == "Role" || kind == "RoleBinding" {
			require.Equal(t, volcanoScheduler, object.GetName(), "the documents have this one deleted")
		}
	}
	remove()
	require.Equal(t, apply(plain), replaced, "over Volcano's it is the same as where there was none")
}

// stored returns how the API server has objects now, each in every particular; of a Deployment without what counts its changes.
func stored(t *testing.T, objects []*unstructured.Unstructured) map[string]any {
	t.Helper()
	all := map[string]any{}
	for _, object := range objects {
		now, err := cluster.objects.Get(t.Context(), "default", object)
		require.NoError(t, err)
		if now.GetKind() == "Deployment" {
			unstructured.RemoveNestedField(now.Object, "status")
			for _, counter := range []string{"generation", "resourceVersion", "managedFields"} {
				unstructured.RemoveNestedField(now.Object, "metadata", counter)
			}
			unstructured.RemoveNestedField(now.Object, "metadata", "annotations", "deployment.kubernetes.io/revision")
		}
		all[now.GetKind()] = now.Object
	}
	return all
}

// scaleVolcanos is kubectl scale.
func scaleVolcanos(ctx context.Context, replicas int32) error {
	deployments := cluster.Kube.AppsV1().Deployments(volcanoSystem)
	now, err := deployments.GetScale(ctx, volcanoScheduler, metav1.GetOptions{})
	if err != nil {
		return err
	}
	scale := &autoscalingv1.Scale{ObjectMeta: now.ObjectMeta, Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
	_, err = deployments.UpdateScale(ctx, volcanoScheduler, scale, metav1.UpdateOptions{})
	return err
}

// requireAlone checks that Volcano's scheduler cannot be started while paddle-scheduler replaces it: not by scaling, and not by
// installing or upgrading Volcano.
func requireAlone(t *testing.T, volcanos []*unstructured.Unstructured) {
	t.Helper()
	words := "Helm's release paddle in namespace paddle-system schedules instead of this scheduler"
	for what, try := range map[string]func(context.Context) error{
		"scaling": func(ctx context.Context) error { return scaleVolcanos(ctx, 1) },
		"upgrading": func(ctx context.Context) error {
			return cluster.objects.Apply(ctx, "default", "volcano", volcanos...)
		},
		"installing another": func(ctx context.Context) error {
			another := volcanos[len(volcanos)-1].DeepCopy()
			another.SetName("another-scheduler")
			_, err := cluster.objects.Create(ctx, volcanoSystem, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}, another)
			return err
		},
	} {
		cluster.Await(t, what+" Volcano's scheduler to be refused", func(ctx context.Context) error {
			switch err := try(ctx); {
			case err == nil:
				// The API server takes a moment to enforce a policy.
				return errors.Join(errors.New("it is allowed"), scaleVolcanos(ctx, 0))
			case !strings.Contains(err.Error(), words):
				return fmt.Errorf("the refusal does not say %q: %w", words, err)
			}
			return nil
		})
	}
	require.NoError(t, scaleVolcanos(t.Context(), 0), "stopping it is never refused")
}

// requireRollback starts Volcano's scheduler again, which is then exactly as it was before.
func requireRollback(t *testing.T, volcanos []*unstructured.Unstructured, before map[string]any) {
	t.Helper()
	cluster.Await(t, "Volcano's scheduler to be started", func(ctx context.Context) error { return scaleVolcanos(ctx, 1) })
	requireAsBefore(t, volcanos, before)
}

func requireAsBefore(t *testing.T, volcanos []*unstructured.Unstructured, before map[string]any) {
	t.Helper()
	for kind, now := range stored(t, volcanos) {
		require.Equal(t, before[kind], now, kind)
	}
}

// The documents' commands for scheduler.mode=replace run the image before they stop Volcano's scheduler. The sandbox has no
// kube-scheduler, so the pod with the image waits, as where the image cannot be pulled, until this test says how it ended.
func TestVolcanosSchedulerRunsOnIfTheImageCannotBePulled(t *testing.T) {
	live.SkipUnlessAll(t)
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

// documented returns the commands of the one block of deploy/docs/how-to/enable-the-plugin.md that contains the text.
func documented(t *testing.T, text string) string {
	t.Helper()
	page, err := os.ReadFile(root + "/deploy/docs/how-to/enable-the-plugin.md")
	require.NoError(t, err)
	var found []string
	for _, block := range docs.Parse("enable-the-plugin.md", string(page)).Blocks {
		if commands := strings.Join(block.Lines, "\n"); block.Language == "sh" && strings.Contains(commands, text) {
			found = append(found, commands)
		}
	}
	require.Len(t, found, 1)
	return found[0]
}

// typeIn runs commands as a terminal does, which continues with the next line after one that fails, and returns what they print.
func typeIn(t *testing.T, commands string) (string, error) {
	t.Helper()
	needKubectl(t)
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
