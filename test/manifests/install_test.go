// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	batchv1alpha1 "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	paddlev1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/deploy"
	"github.com/paddle-volcano/paddle-volcano/test/docs"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// The commands of the documents, on a sandbox of its own that is not whole afterwards: uninstall the controller while jobs run,
// install it again, and delete everything.
func TestUninstallAndInstallAsTheDocumentsDo(t *testing.T) {
	t.Parallel()
	p := start(t, options(stateDir+"-install"))
	crd := read(t, "v1/crd.yaml")
	controller := slices.Concat(read(t, "v1/operator.yaml"), read(t, "v1/admission.yaml"))
	scheduler := read(t, "v1/scheduler.yaml")
	etcd := etcdOfTheDocuments(t)
	p.create(t, system, etcd)
	namespaces := []string{system, p.Namespace(t)} // users of paddle-operator have jobs in its namespace
	for _, namespace := range namespaces {
		p.runExample(t, namespace)
	}
	left := p.uids(t, namespaces, etcd)

	// The controller goes, and all that is not its own stays.
	require.NoError(t, p.objects.Delete(t.Context(), "default", controller...))
	p.awaitGone(t, controller)
	require.Equal(t, left, p.uids(t, namespaces, etcd))
	p.create(t, "default", controller)
	require.Equal(t, left, p.uids(t, namespaces, etcd))

	// The API goes, and the jobs with it.
	require.NoError(t, p.objects.Delete(t.Context(), "default", slices.Concat(controller, crd)...))
	p.awaitGone(t, slices.Concat(controller, crd))
	for _, namespace := range namespaces {
		p.Await(t, "everything of the job to be gone", func(ctx context.Context) error { return p.empty(ctx, namespace) })
	}
	p.requireThere(t, etcd)
	p.requireThere(t, read(t, "v1/namespace.yaml"))

	p.replaceScheduler(t, scheduler)
}

const (
	// system is the namespace of the controller.
	system = "paddle-system"
	// podsOfJobs selects what Volcano creates for its Jobs.
	podsOfJobs = batchv1alpha1.JobNameKey
)

// start starts a sandbox for one test.
func start(t *testing.T, o sandbox.Options) *plane {
	t.Helper()
	s, err := sandbox.Start(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	connected, err := live.Connect(s)
	require.NoError(t, err)
	p, err := newPlane(connected)
	require.NoError(t, err)
	return p
}

func (p *plane) create(t *testing.T, namespace string, objects []*unstructured.Unstructured) {
	t.Helper()
	_, err := p.objects.Create(t.Context(), namespace, metav1.CreateOptions{}, objects...)
	require.NoError(t, err)
}

// runExample submits a job whose pods do not end by themselves, and waits until it runs.
func (p *plane) runExample(t *testing.T, namespace string) {
	t.Helper()
	example := read(t, "examples/wide_and_deep.yaml")
	for _, role := range []string{"ps", "worker"} {
		require.NoError(t, unstructured.SetNestedStringMap(example[0].Object, map[string]string{sandbox.AnnotationRunFor: "forever"},
			"spec", role, "template", "metadata", "annotations"))
	}
	p.create(t, namespace, example)
	p.Await(t, "the job to run", func(ctx context.Context) error {
		job, err := p.Paddle.BatchV1().PaddleJobs(namespace).Get(ctx, example[0].GetName(), metav1.GetOptions{})
		if err == nil && job.Status.Phase != paddlev1.Running {
			err = fmt.Errorf("it is %q", job.Status.Phase)
		}
		return err
	})
}

// etcdOfTheDocuments is the etcd that controller/ELASTIC.md has administrators create beside the controller.
func etcdOfTheDocuments(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "controller/ELASTIC.md"))
	require.NoError(t, err)
	var etcd []*unstructured.Unstructured
	for _, block := range docs.Parse("ELASTIC.md", string(text)).Blocks {
		if whole := strings.Join(block.Lines, "\n"); strings.Contains(whole, "kind: Deployment") {
			etcd, err = manifests.Parse([]byte(whole))
			require.NoError(t, err)
		}
	}
	require.Len(t, etcd, 2)
	return etcd
}

// uids are those of the jobs in the namespaces, with all that they are made of, and of other objects; each must be there, and must
// not be on its way out.
func (p *plane) uids(t *testing.T, namespaces []string, others []*unstructured.Unstructured) []string {
	t.Helper()
	var all []string
	note := func(kind string, meta *metav1.ObjectMeta) {
		require.Nil(t, meta.DeletionTimestamp, "%s %s is being deleted", kind, meta.Name)
		all = append(all, kind+" "+string(meta.UID))
	}
	for _, name := range namespaces {
		namespace, err := p.Kube.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{})
		require.NoError(t, err)
		note("Namespace", &namespace.ObjectMeta)
		jobs, err := p.Paddle.BatchV1().PaddleJobs(name).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		for i := range jobs.Items {
			note("PaddleJob "+string(jobs.Items[i].Status.Phase), &jobs.Items[i].ObjectMeta)
		}
		pods, err := p.Kube.CoreV1().Pods(name).List(t.Context(), metav1.ListOptions{LabelSelector: podsOfJobs})
		require.NoError(t, err)
		require.Len(t, pods.Items, 4)
		for i := range pods.Items {
			note("Pod "+string(pods.Items[i].Status.Phase), &pods.Items[i].ObjectMeta)
		}
	}
	for _, object := range others {
		stored, err := p.objects.Get(t.Context(), system, object)
		require.NoError(t, err)
		note(stored.GetKind(), &metav1.ObjectMeta{Name: stored.GetName(), UID: stored.GetUID(), DeletionTimestamp: stored.GetDeletionTimestamp()})
	}
	return all
}

func (p *plane) requireThere(t *testing.T, objects []*unstructured.Unstructured) {
	t.Helper()
	for _, object := range objects {
		stored, err := p.objects.Get(t.Context(), "default", object)
		require.NoError(t, err)
		require.Nil(t, stored.GetDeletionTimestamp(), "%s %s is being deleted", stored.GetKind(), stored.GetName())
	}
}

// replaceScheduler applies our scheduler over Volcano's and Volcano's over ours, and nothing of either is left over.
func (p *plane) replaceScheduler(t *testing.T, ours []*unstructured.Unstructured) {
	t.Helper()
	volcanos := volcanosScheduler(t)
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
	for _, object := range ours {
		if kind := object.GetKind(); kind == "Role" || kind == "RoleBinding" {
			require.Equal(t, "volcano-scheduler", object.GetName(), "the documents have this one deleted")
		}
	}
	require.NoError(t, p.objects.Delete(t.Context(), "default", volcanos...))
	p.awaitGone(t, volcanos)
	require.Equal(t, apply(ours), replaced, "over Volcano's it is the same as where there was none")
	require.NotEqual(t, before, replaced)
}

// volcanosScheduler is what Volcano's own installer creates for its scheduler, without the Service.
func volcanosScheduler(t *testing.T) []*unstructured.Unstructured {
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
	return volcanos
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
	pods, err := p.Kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: podsOfJobs})
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
