// SPDX-License-Identifier: Apache-2.0

package helm_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/paddle-volcano/paddle-volcano/test/manifests"
)

// Volcano's own scheduler, in place of which ours works with scheduler.mode=replace, and what Helm says while it runs.
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

// kubectl applies the plain manifest over Volcano's scheduler, and Volcano's over ours: nothing of either is left over but the rights
// that the documents have deleted.
func TestPlainManifestReplacesVolcanosSchedulerAndBack(t *testing.T) {
	theirs, plain := volcanosObjects(t), shipped(t, "v1/scheduler.yaml")
	theirs = slices.DeleteFunc(theirs, func(o *unstructured.Unstructured) bool { return o.GetKind() == "Service" }) // it has Volcano's alone
	apply := func(objects []*unstructured.Unstructured) map[string]any {
		t.Helper()
		require.NoError(t, cluster.objects.Apply(t.Context(), "default", "kubectl", objects...))
		specs := map[string]any{}
		for _, object := range theirs {
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
		require.NoError(t, cluster.objects.Delete(t.Context(), "default", theirs...))
		for _, object := range theirs {
			cluster.Await(t, object.GetKind()+" to be gone", func(ctx context.Context) error {
				_, err := cluster.objects.Get(ctx, "default", object)
				return isGone(err)
			})
		}
	}
	remove() // what earlier tests have changed
	before := apply(theirs)
	replaced := apply(plain)
	require.NotEqual(t, before, replaced)
	require.Equal(t, before, apply(theirs), "Volcano's scheduler is back as it was")
	for _, object := range plain {
		if kind := object.GetKind(); kind == "Role" || kind == "RoleBinding" {
			require.Equal(t, volcanoScheduler, object.GetName(), "the documents have this one deleted")
		}
	}
	remove()
	require.Equal(t, apply(plain), replaced, "over Volcano's it is the same as where there was none")
}

// stored is how the API server has objects now, each in every particular; of a Deployment without what counts its changes.
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

// requireAlone checks that nobody starts Volcano's scheduler while ours works in its place: not by hand, not by installing or
// upgrading Volcano.
func requireAlone(t *testing.T, volcanos []*unstructured.Unstructured) {
	t.Helper()
	words := "Helm's release paddle in namespace paddle-system schedules in place of this scheduler"
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

// requireTheWayBack starts Volcano's scheduler again, which is then exactly as it was before ours came.
func requireTheWayBack(t *testing.T, volcanos []*unstructured.Unstructured, before map[string]any) {
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
