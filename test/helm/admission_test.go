// SPDX-License-Identifier: Apache-2.0

package helm_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/ptr"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/command"
	paddlev1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/lifecycle"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/stages"
)

// That nothing is refused shows that the shipped permissions are enough only if the sandbox gives no other permissions. This test is the first:
// others install other permissions.
func TestSandboxGrantsTheShippedPermissionsAndNoOthers(t *testing.T) {
	for file, account := range map[string]rbacv1.Subject{
		"v1/operator.yaml":  {Kind: "ServiceAccount", Namespace: system, Name: "paddle-controller-manager"},
		"v1/scheduler.yaml": {Kind: "ServiceAccount", Namespace: volcanoSystem, Name: volcanoScheduler},
	} {
		want := map[string]bool{}
		for _, object := range shipped(t, file) {
			forUsers := object.GetLabels()["app.kubernetes.io/component"] == "user"
			if kind := object.GetKind(); !forUsers && (kind == "ClusterRole" || kind == "Role") {
				role := &rbacv1.ClusterRole{}
				require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, role))
				addPermissions(want, role.Rules)
			}
		}
		require.Equal(t, want, granted(t, account), file)
	}
}

// guarded creates a namespace in which Pod Security admission enforces a standard.
func guarded(t *testing.T, name, standard string) string {
	t.Helper()
	namespace := cluster.NamespaceNamed(t, name)
	patch := fmt.Appendf(nil, `{"metadata": {"labels": {"pod-security.kubernetes.io/enforce": %q}}}`, standard)
	_, err := cluster.Kube.CoreV1().Namespaces().Patch(t.Context(), namespace, types.MergePatchType, patch, metav1.PatchOptions{})
	require.NoError(t, err)
	return namespace
}

// pair creates a job of two workers.
func pair(t *testing.T, namespace string, change func(*paddlev1.PaddleJob, *corev1.PodSpec)) {
	t.Helper()
	job := &paddlev1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Name: "pair"}, Spec: paddlev1.PaddleJobSpec{Worker: &paddlev1.ResourceSpec{Replicas: 2}}}
	pod := &job.Spec.Worker.Template.Spec
	pod.Containers = []corev1.Container{{Name: "paddle", Image: "paddle"}}
	change(job, pod)
	_, err := cluster.Paddle.BatchV1().PaddleJobs(namespace).Create(t.Context(), job, metav1.CreateOptions{})
	require.NoError(t, err)
}

// The jobs of users. It comes before the tests that stop the controller.
//
//nolint:tparallel // tests that stop the controller come later
func TestJobsOfUsers(t *testing.T) {
	t.Run("pods are held to the namespace's standard", testPodsAreHeldToTheNamespacesStandard)
	t.Run("added parts of pods keep the restricted standard", testAddedPartsOfPodsKeepTheRestrictedStandard)
	t.Run("no value of a job is logged", testNoValueOfAJobIsLogged)
}

// The controllers' permissions allow a user who may create PaddleJobs no pod that the user may not create.
func testPodsAreHeldToTheNamespacesStandard(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*paddlev1.PaddleJob, *corev1.PodSpec){
		"host network": func(job *paddlev1.PaddleJob, _ *corev1.PodSpec) { job.Spec.Intranet = paddlev1.Host },
		"host path":    hostPath,
		"privileged": func(_ *paddlev1.PaddleJob, pod *corev1.PodSpec) {
			pod.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: ptr.To(true)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := guarded(t, "baseline "+name, "baseline")
			pair(t, namespace, change)
			awaitRefusal(t, namespace)
			pods, err := cluster.Kube.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
			require.NoError(t, err)
			require.Empty(t, pods.Items)
		})
	}
}

// awaitRefusal waits until a job of two workers says why its pods are refused; Volcano says so in events alone.
func awaitRefusal(t *testing.T, namespace string) {
	t.Helper()
	cluster.AwaitJob(t, namespace, "pair", "one whose pods are refused", func(job *paddlev1.PaddleJob) bool {
		c := meta.FindStatusCondition(job.Status.Conditions, paddlev1.ConditionScheduled)
		return c != nil && c.Reason == lifecycle.ReasonPodSecurityViolation && strings.Contains(c.Message, `violates PodSecurity "baseline:latest"`)
	})
}

func hostPath(_ *paddlev1.PaddleJob, pod *corev1.PodSpec) {
	pod.Volumes = []corev1.Volume{{Name: "root", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}}}
}

// kubectlPaddle runs kubectl paddle as the administrator, and returns what it prints.
func kubectlPaddle(ctx context.Context, args ...string) (string, error) {
	var out, errs bytes.Buffer
	args = append([]string{"--kubeconfig", cluster.Kubeconfig()}, args...)
	if code := command.Run(ctx, args, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errs}); code != 0 {
		return out.String(), fmt.Errorf("kubectl paddle %v: exit code %d: %s", args, code, errs.String())
	}
	return out.String(), nil
}

// What the controller adds to a user's pods keeps the strictest standard.
func testAddedPartsOfPodsKeepTheRestrictedStandard(t *testing.T) {
	t.Parallel()
	namespace := guarded(t, "restricted", "restricted")
	pair(t, namespace, func(_ *paddlev1.PaddleJob, pod *corev1.PodSpec) {
		pod.Containers[0].SecurityContext = &corev1.SecurityContext{
			AllowPrivilegeEscalation: ptr.To(false), RunAsNonRoot: ptr.To(true), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		}
	})
	awaitPhase(t, namespace, "pair", paddlev1.Completed)
	vcjob, err := cluster.Volcano.BatchV1alpha1().Jobs(namespace).Get(t.Context(), "pair", metav1.GetOptions{})
	require.NoError(t, err)
	require.Len(t, vcjob.Spec.Tasks[0].Template.Spec.InitContainers, 1, "the pods had the start barrier")
}

const canary = "canary-do-not-log-me"

// No log of these programs contains what users put into their jobs, also not at a high verbosity.
func testNoValueOfAJobIsLogged(t *testing.T) {
	t.Parallel()
	namespace := cluster.NamespaceNamed(t, "canary")
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "key"}, StringData: map[string]string{"token": canary}}
	_, err := cluster.Kube.CoreV1().Secrets(namespace).Create(t.Context(), secret, metav1.CreateOptions{})
	require.NoError(t, err)
	pair(t, namespace, func(job *paddlev1.PaddleJob, pod *corev1.PodSpec) {
		job.Annotations = map[string]string{"token": canary}
		job.Spec.Worker.Template.Annotations = map[string]string{
			"token": canary, stages.AnnotationExitCode: "3", stages.AnnotationFailAttempt: "0",
		}
		c := &pod.Containers[0]
		c.Args, c.Command = []string{"--token=" + canary}, []string{canary}
		c.Env = []corev1.EnvVar{{Name: "TOKEN", Value: canary}, {Name: "KEY", ValueFrom: &corev1.EnvVarSource{
			SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "key"}, Key: "token"},
		}}}
	})
	awaitRestart(t, namespace, "pair")
	require.NoError(t, cluster.Paddle.BatchV1().PaddleJobs(namespace).Delete(t.Context(), "pair", metav1.DeleteOptions{}))
	for component, word := range map[string]string{sandbox.Controller: "Event occurred", sandbox.Scheduler: "Try to allocate resource"} {
		log, err := os.ReadFile(cluster.Logs(component))
		require.NoError(t, err)
		require.Contains(t, string(log), namespace, "the log is about the job")
		require.Contains(t, string(log), word, "the log is verbose")
		at := strings.Index(string(log), canary)
		require.Negative(t, at, "the log of %s holds it: %s", component, string(log)[max(at-300, 0):max(at, 0)])
	}
}
