// SPDX-License-Identifier: Apache-2.0

package helm_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	batchv1alpha1 "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	paddlev1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/stages"
)

func must(t *testing.T, args ...string) {
	t.Helper()
	_, err := helm(t, args...)
	require.NoError(t, err)
}

func read(t *testing.T, file string) []*unstructured.Unstructured {
	t.Helper()
	objects, err := manifests.Read(os.DirFS("."), file)
	require.NoError(t, err)
	return objects
}

// submit creates a job of two workers that run until the test ends, and waits until they do.
func submit(t *testing.T, namespace, name string) {
	t.Helper()
	job := &paddlev1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: paddlev1.PaddleJobSpec{Worker: &paddlev1.ResourceSpec{Replicas: 2}}}
	job.Spec.Worker.Template.Annotations = map[string]string{stages.AnnotationRunFor: "forever"}
	job.Spec.Worker.Template.Spec.Containers = []corev1.Container{{Name: "paddle", Image: "paddle"}}
	_, err := cluster.Paddle.BatchV1().PaddleJobs(namespace).Create(t.Context(), job, metav1.CreateOptions{})
	require.NoError(t, err)
	awaitPhase(t, namespace, name, paddlev1.Running)
}

func awaitPhase(t *testing.T, namespace, name string, want paddlev1.Phase) {
	t.Helper()
	cluster.AwaitJob(t, namespace, name, string(want), func(job *paddlev1.PaddleJob) bool { return job.Status.Phase == want })
}

// awaitRestart waits until a job has been restarted. Its second restart would be 10 seconds after the first.
func awaitRestart(t *testing.T, namespace, name string) {
	t.Helper()
	cluster.AwaitJob(t, namespace, name, "restarted", func(job *paddlev1.PaddleJob) bool {
		return job.Status.Restarts > 0 && job.Status.Phase == paddlev1.Running
	})
}

// running returns what a namespace's jobs are made of: PaddleJobs, Volcano Jobs, PodGroups and pods that run, by their UIDs.
func running(t *testing.T, namespace string) []string {
	t.Helper()
	var all []string
	jobs, err := cluster.Paddle.BatchV1().PaddleJobs(namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	for i := range jobs.Items {
		all = append(all, fmt.Sprint("PaddleJob ", jobs.Items[i].UID, jobs.Items[i].Status.Phase))
	}
	volcanos, err := cluster.Volcano.BatchV1alpha1().Jobs(namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	for i := range volcanos.Items {
		all = append(all, fmt.Sprint("Job ", volcanos.Items[i].UID, volcanos.Items[i].Status.State.Phase))
	}
	groups, err := cluster.Volcano.SchedulingV1beta1().PodGroups(namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	for i := range groups.Items {
		all = append(all, fmt.Sprint("PodGroup ", groups.Items[i].UID))
	}
	pods, err := cluster.Kube.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: batchv1alpha1.JobNameKey})
	require.NoError(t, err)
	for i := range pods.Items {
		all = append(all, fmt.Sprint("Pod ", pods.Items[i].UID, pods.Items[i].Status.Phase))
	}
	return all
}

// The whole life of the chart on one control plane, on which a job runs from before the first command until after the last but one.
func TestLifeOfAnInstallation(t *testing.T) {
	namespace := cluster.NamespaceNamed(t, "keeps")
	submit(t, namespace, "keeps")
	submit(t, system, "operators") // users of paddle-operator have jobs in the namespace of the release
	before, inSystem := running(t, namespace), running(t, system)
	require.Len(t, before, 5, "the job, Volcano's, its PodGroup, two pods")
	require.Len(t, inSystem, 5)
	unharmed := func() {
		t.Helper()
		require.Equal(t, before, running(t, namespace))
		require.Equal(t, inSystem, running(t, system))
	}
	stop := func(component string) {
		t.Helper()
		require.NoError(t, cluster.Kill(component, syscall.SIGTERM))
	}

	// Over what kubectl has installed, in place of Volcano's scheduler, with all that is off by default.
	_, err := helm(t, "install", release, chart, "--set", images)
	require.ErrorContains(t, err, "invalid ownership metadata", "nothing is taken over by mistake")
	requireOperatorsIsRefused(t)
	stop(sandbox.Controller)
	volcanos := installVolcanos(t)
	volcanosBefore := stored(t, volcanos)
	values := []string{"kubeflow.enabled=true", "kubeflow.crd=true", "scheduler.mode=replace", monitored}
	install := []string{"install", release, chart, "--take-ownership", "--set", images, "--set", strings.Join(values, ",")}
	_, err = helm(t, install...)
	require.ErrorContains(t, err, stopItFirst)
	require.NoError(t, scaleVolcanos(t.Context(), 0))
	stop(sandbox.Scheduler)
	must(t, install...)
	requireAlone(t, volcanos)
	schedulers := startScheduler(t, volcanoSystem, "in place")
	permissions := cluster.NamespaceNamed(t, "permissions")
	leave(t, permissions, "testdata/left.yaml")
	metrics := startController(t, "installed")
	unharmed()
	readMetrics := requireGuardedMetrics(t, metrics)
	usePermissions(t, permissions)
	submit(t, permissions, "placed")
	requireScheduledBy(t, permissions, "placed", "volcano")
	require.NoError(t, cluster.Paddle.BatchV1().PaddleJobs(permissions).Delete(t.Context(), "placed", metav1.DeleteOptions{}))
	requireServed(t, readMetrics(), append(dashboard(t, "controller.json"), alerts(t, "paddle-controller")...))
	requireServed(t, readOpen(t, schedulers), append(dashboard(t, "scheduler.json"), alerts(t, "paddle-scheduler")...))
	stop("installed")
	stop("in place")
	requirePermissionsAreUsed(t)
	unharmed()

	// One namespace, and its own scheduler, with Volcano's back; the API is brought up to date.
	shown := columns(t)
	loseColumns(t)
	must(t, "upgrade", release, chart, "--set", images, "--set", "controller.namespace="+namespace+",scheduler.mode=beside")
	require.Equal(t, shown, columns(t))
	startController(t, "of one namespace")
	requireRollback(t, volcanos, volcanosBefore)
	require.NoError(t, cluster.StartComponent(sandbox.Scheduler))
	startScheduler(t, system, "beside")
	unharmed()
	submit(t, namespace, "second")
	requireScheduledBy(t, namespace, "second", "paddle")
	requireNoConflict(t, namespace)
	requireNothingForbidden(t, "of one namespace", "beside")
	require.NoError(t, cluster.Paddle.BatchV1().PaddleJobs(namespace).Delete(t.Context(), "second", metav1.DeleteOptions{}))
	cluster.Await(t, "the other jobs to be gone", func(context.Context) error {
		if now := running(t, namespace); len(now) != len(before) {
			return fmt.Errorf("there are %v", now)
		}
		return nil
	})
	unharmed()

	// Away, and the jobs stay; back, and they are found.
	stop("of one namespace")
	stop("beside")
	must(t, "uninstall", release)
	requireLeft(t, namespace, "CustomResourceDefinition paddlejobs.batch.paddlepaddle.org", "CustomResourceDefinition paddlejobs.kubeflow.org")
	unharmed()
	must(t, "install", release, chart, "--set", images, "--set", "crd.keep=false")
	startController(t, "again")
	unharmed()

	// Away, and nothing stays.
	stop("again")
	must(t, "uninstall", release)
	requireLeft(t, namespace, "CustomResourceDefinition paddlejobs.kubeflow.org")
	requireAsBefore(t, volcanos, volcanosBefore)
	cluster.Await(t, "everything of the job to be gone", func(ctx context.Context) error {
		pods, err := cluster.Kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
		if err == nil && len(pods.Items) > 0 {
			err = fmt.Errorf("%d pods are left", len(pods.Items))
		}
		return err
	})
}

// requireOperatorsIsRefused has Helm and kubectl meet paddle-operator's Deployment, which has the name of the controller's and another
// selector: Helm says what to do, the API server that the field is immutable, and neither changes the Deployment.
func requireOperatorsIsRefused(t *testing.T) {
	t.Helper()
	selected := map[string]string{"control-plane": "controller-manager"}
	operator := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "paddle-controller-manager", Namespace: system, Labels: selected},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: selected},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: selected},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: "manager", Image: "registry.baidubce.com/paddlecloud/controller:v0.3.5", Command: []string{"/manager"},
				}}},
			},
		},
	}
	deployments := cluster.Kube.AppsV1().Deployments(system)
	before, err := deployments.Create(t.Context(), operator, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = helm(t, "install", release, chart, "--take-ownership", "--set", images)
	require.ErrorContains(t, err, "kubectl -n paddle-system delete deployment paddle-controller-manager")
	require.ErrorContains(t, cluster.objects.Apply(t.Context(), "default", "kubectl", shipped(t, "v1/operator.yaml")...), "field is immutable")
	require.Equal(t, before.Spec, deployed(t, system, operator.Name).Spec)
	require.NoError(t, deployments.Delete(t.Context(), operator.Name, metav1.DeleteOptions{}))
}

// requireLeft waits until exactly these objects of everything that the chart can install are there.
func requireLeft(t *testing.T, namespace string, want ...string) {
	t.Helper()
	all := render(t, "kubeflow.crd=true", "scheduler.mode=beside")
	maps.Copy(all, render(t, "controller.namespace="+namespace))
	maps.Copy(all, render(t, "scheduler.mode=replace", monitored))
	for name, object := range all {
		if slices.Contains(want, name) {
			_, err := cluster.objects.Get(t.Context(), system, object)
			require.NoError(t, err, name)
			continue
		}
		cluster.Await(t, name+" to be gone", func(ctx context.Context) error {
			_, err := cluster.objects.Get(ctx, system, object)
			return isGone(err)
		})
	}
}

const theCRD = "paddlejobs.batch.paddlepaddle.org"

var crds = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// columns returns what kubectl get pdj shows.
func columns(t *testing.T) []any {
	t.Helper()
	crd, err := cluster.Dynamic.Resource(crds).Get(t.Context(), theCRD, metav1.GetOptions{})
	require.NoError(t, err)
	versions, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
	require.NoError(t, err)
	shown, _, err := unstructured.NestedSlice(versions[0].(map[string]any), "additionalPrinterColumns") //nolint:errcheck,forcetypeassert // the API server has checked it
	require.NoError(t, err)
	return shown
}

// loseColumns replaces the CRD by an older version.
func loseColumns(t *testing.T) {
	t.Helper()
	patch := []byte(`[{"op": "remove", "path": "/spec/versions/0/additionalPrinterColumns"}]`)
	_, err := cluster.Dynamic.Resource(crds).Patch(t.Context(), theCRD, types.JSONPatchType, patch, metav1.PatchOptions{})
	require.NoError(t, err)
	require.Empty(t, columns(t))
}

func requireScheduledBy(t *testing.T, namespace, job, scheduler string) {
	t.Helper()
	pods, err := cluster.Kube.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "volcano.sh/job-name=" + job})
	require.NoError(t, err)
	require.Len(t, pods.Items, 2)
	for i := range pods.Items {
		require.Equal(t, scheduler, pods.Items[i].Spec.SchedulerName)
	}
}

// requireNoConflict submits a job that never fits, and checks that the two schedulers do not overwrite each other's status of it.
func requireNoConflict(t *testing.T, namespace string) {
	t.Helper()
	job := &paddlev1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Name: "waits"}, Spec: paddlev1.PaddleJobSpec{Worker: &paddlev1.ResourceSpec{Replicas: 1}}}
	job.Spec.Worker.Template.Spec.Containers = []corev1.Container{{Name: "paddle", Image: "paddle", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1000")},
	}}}
	job, err := cluster.Paddle.BatchV1().PaddleJobs(namespace).Create(t.Context(), job, metav1.CreateOptions{})
	require.NoError(t, err)
	version := func(ctx context.Context) (string, error) {
		vcjob, err := cluster.Volcano.BatchV1alpha1().Jobs(namespace).Get(ctx, job.Name, metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		group, err := cluster.Volcano.SchedulingV1beta1().PodGroups(namespace).Get(ctx, job.Name+"-"+string(vcjob.UID), metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		if len(group.Status.Conditions) == 0 {
			return "", errors.New("it has no condition yet that says why it waits")
		}
		return group.ResourceVersion, nil
	}
	cluster.Await(t, "a scheduler to say why the job waits", func(ctx context.Context) error { _, err := version(ctx); return err })
	last, since := "", 0
	cluster.Await(t, "five cycles without a write about the job", func(ctx context.Context) error {
		now, err := version(ctx)
		if err != nil {
			return err
		}
		cycles, err := cluster.Cycles(ctx)
		if err != nil {
			return err
		}
		if now != last {
			last, since = now, cycles
		}
		if cycles < since+6 {
			return fmt.Errorf("the last write was %d cycles ago", cycles-since)
		}
		return nil
	})
	require.NoError(t, cluster.Paddle.BatchV1().PaddleJobs(namespace).Delete(t.Context(), job.Name, metav1.DeleteOptions{}))
}

// requireNothingForbidden checks that no log of a component contains a denied request.
func requireNothingForbidden(t *testing.T, components ...string) {
	t.Helper()
	for _, component := range components {
		log, err := os.ReadFile(cluster.Logs(component))
		require.NoError(t, err)
		require.NotEmpty(t, log)
		require.Empty(t, regexp.MustCompile(`(?i).*\bforbidden\b.*`).FindAllString(string(log), 5), component)
	}
}
