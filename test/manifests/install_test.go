// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	paddlev1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/deploy"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// The commands of the documents, on a sandbox of its own that is not whole afterwards: uninstall while a job runs,
// install anew, and uninstall once more with a job that no controller has seen.
func TestUninstallAndInstallAsTheDocumentsDo(t *testing.T) {
	t.Parallel()
	s, err := sandbox.Start(t.Context(), options(stateDir+"-install"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	connected, err := live.Connect(s)
	require.NoError(t, err)
	p, err := newPlane(connected)
	require.NoError(t, err)
	crd := read(t, "v1/crd.yaml")
	operator := read(t, "v1/operator.yaml")
	scheduler := read(t, "v1/scheduler.yaml")
	example := read(t, "examples/wide_and_deep.yaml")
	create := func(namespace string, objects []*unstructured.Unstructured) {
		t.Helper()
		_, err := p.objects.Create(t.Context(), namespace, metav1.CreateOptions{}, objects...)
		require.NoError(t, err)
	}

	namespace := p.Namespace(t)
	create(namespace, example)
	p.Await(t, "the job to run", func(ctx context.Context) error {
		job, err := p.Paddle.BatchV1().PaddleJobs(namespace).Get(ctx, example[0].GetName(), metav1.GetOptions{})
		if err != nil {
			return err
		}
		if job.Status.Phase != paddlev1.Running {
			return fmt.Errorf("it is %q", job.Status.Phase)
		}
		return nil
	})

	require.NoError(t, p.objects.Delete(t.Context(), "default", append(crd, operator...)...))
	p.awaitGone(t, append(crd, operator...))
	p.Await(t, "everything of the job to be gone", func(ctx context.Context) error { return p.empty(ctx, namespace) })

	create("default", crd)
	create("default", operator)
	p.Await(t, "the API to take PaddleJobs again", func(ctx context.Context) error {
		_, err := p.objects.Create(ctx, namespace, metav1.CreateOptions{}, example...)
		return err
	})
	require.NoError(t, p.objects.Delete(t.Context(), "default", append(crd, operator...)...))
	p.awaitGone(t, append(crd, operator...))

	// Where Volcano has no scheduler; its namespace stays.
	require.NoError(t, p.objects.Delete(t.Context(), "default", scheduler...))
	p.awaitGone(t, scheduler)
	create("default", scheduler)
	require.NoError(t, p.objects.Delete(t.Context(), "default", scheduler...))
	p.awaitGone(t, scheduler)
	_, err = p.Kube.CoreV1().Namespaces().Get(t.Context(), "volcano-system", metav1.GetOptions{})
	require.NoError(t, err)

	p.replaceScheduler(t, scheduler)
}

// replaceScheduler applies our scheduler over Volcano's and Volcano's over ours, and nothing of either is left over.
func (p *plane) replaceScheduler(t *testing.T, ours []*unstructured.Unstructured) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(volcanoModule(t), "installer/volcano-development.yaml"))
	require.NoError(t, err)
	all, err := manifests.Parse(data)
	require.NoError(t, err)
	var volcanos []*unstructured.Unstructured
	for _, object := range all {
		if strings.HasPrefix(object.GetName(), "volcano-scheduler") && object.GetKind() != "Service" {
			volcanos = append(volcanos, object)
		}
	}
	require.Len(t, volcanos, 5, "ServiceAccount, ConfigMap, ClusterRole, its binding and Deployment")
	apply := func(objects []*unstructured.Unstructured) map[string]any {
		t.Helper()
		require.NoError(t, p.objects.Apply(t.Context(), "default", "kubectl", objects...))
		specs := map[string]any{}
		for _, object := range volcanos {
			stored, err := p.objects.Get(t.Context(), "default", object)
			require.NoError(t, err)
			for _, field := range []string{"spec", "data", "rules", "subjects", "roleRef"} {
				specs[object.GetKind()+" "+field] = stored.Object[field]
			}
		}
		return specs
	}
	before := apply(volcanos)
	replaced := apply(ours)
	require.Equal(t, before, apply(volcanos), "Volcano's scheduler is back as it was")
	require.NoError(t, p.objects.Delete(t.Context(), "default", volcanos...))
	p.awaitGone(t, volcanos)
	require.Equal(t, apply(ours), replaced, "over Volcano's it is the same as where there was none")
	require.NotEqual(t, before, replaced)
}

func read(t *testing.T, file string) []*unstructured.Unstructured {
	t.Helper()
	objects, err := manifests.Read(deploy.Files, file)
	require.NoError(t, err)
	return objects
}

func (p *plane) awaitGone(t *testing.T, objects []*unstructured.Unstructured) {
	t.Helper()
	for _, object := range objects {
		p.Await(t, object.GetKind()+" "+object.GetName()+" to be gone", func(ctx context.Context) error {
			_, err := p.objects.Get(ctx, "default", object)
			if apierrors.IsNotFound(err) {
				return nil
			}
			if err != nil {
				return err
			}
			return errors.New("it is still there")
		})
	}
}

// empty fails while anything of a job is left in the namespace.
func (p *plane) empty(ctx context.Context, namespace string) error {
	pods, err := p.Kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	jobs, err := p.Volcano.BatchV1alpha1().Jobs(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	groups, err := p.Volcano.SchedulingV1beta1().PodGroups(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	if left := len(pods.Items) + len(jobs.Items) + len(groups.Items); left > 0 {
		return fmt.Errorf("%d pods, %d Volcano Jobs and %d PodGroups are left", len(pods.Items), len(jobs.Items), len(groups.Items))
	}
	return nil
}
