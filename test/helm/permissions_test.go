// SPDX-License-Identifier: Apache-2.0

package helm_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	paddlev1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	kubeflowv1 "github.com/paddle-volcano/paddle-volcano/controller/api/kubeflow/v1"
	"github.com/paddle-volcano/paddle-volcano/test/bench/audit"
	"github.com/paddle-volcano/paddle-volcano/test/live"
)

// leave creates what paddle-operator leaves, before paddlejob-controller runs. The first object of the file is the job.
func leave(t *testing.T, namespace, file string) {
	t.Helper()
	objects := read(t, file)
	made, err := cluster.objects.Create(t.Context(), namespace, metav1.CreateOptions{}, objects[0])
	require.NoError(t, err)
	job := &paddlev1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Name: made[0].GetName(), UID: made[0].GetUID()}}
	for _, object := range objects[1:] {
		object.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(job, paddlev1.SchemeGroupVersion.WithKind(paddlev1.Kind))})
	}
	_, err = cluster.objects.Create(t.Context(), namespace, metav1.CreateOptions{}, objects[1:]...)
	require.NoError(t, err)
}

func isGone(err error) error {
	switch {
	case err == nil:
		return errors.New("it is there")
	case apierrors.IsNotFound(err):
		return nil
	}
	return err
}

// awaitOwners waits until the API server knows Kubeflow's PaddleJobs as owners; it looks for new kinds every ten seconds.
func awaitOwners(t *testing.T, namespace string) {
	t.Helper()
	config := cluster.RESTConfig()
	config.Impersonate.UserName = controllerUser
	controller, err := live.ConnectTo(config)
	require.NoError(t, err)
	owned := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owned", OwnerReferences: []metav1.OwnerReference{
		*metav1.NewControllerRef(&metav1.ObjectMeta{Name: "any", UID: "any"}, kubeflowv1.SchemeGroupVersion.WithKind(kubeflowv1.Kind)),
	}}}
	cluster.Await(t, "Kubeflow's PaddleJobs to be known as owners", func(ctx context.Context) error {
		_, err := controller.Kube.CoreV1().ConfigMaps(namespace).Create(ctx, owned, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	})
}

// usePermissions runs jobs that need all permissions of the components.
func usePermissions(t *testing.T, namespace string) {
	t.Helper()
	awaitOwners(t, namespace)
	refused := guarded(t, "refused", "baseline")
	pair(t, refused, hostPath)
	objects := read(t, "testdata/permissions.yaml")
	_, err := cluster.objects.Create(t.Context(), namespace, metav1.CreateOptions{}, objects...)
	require.NoError(t, err)
	jobs := cluster.Paddle.BatchV1().PaddleJobs(namespace)
	patch := func(name, text string) {
		t.Helper()
		_, err := jobs.Patch(t.Context(), name, types.MergePatchType, []byte(text), metav1.PatchOptions{})
		require.NoError(t, err)
	}
	// The status reports later what only changes counts.
	awaitPods := func(name string, want int) {
		t.Helper()
		cluster.Await(t, fmt.Sprintf("%s to have %d pods that run", name, want), func(ctx context.Context) error {
			pods, err := cluster.Kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: "volcano.sh/job-name=" + name})
			if err != nil {
				return err
			}
			ready := 0
			for i := range pods.Items {
				if pods.Items[i].Status.Phase == corev1.PodRunning {
					ready++
				}
			}
			if ready != want || len(pods.Items) != want {
				return fmt.Errorf("%d of %d run", ready, len(pods.Items))
			}
			return nil
		})
	}
	awaitPhase(t, namespace, "scales", paddlev1.Running)
	patch("scales", `{"spec": {"worker": {"replicas": 3}}}`)
	awaitPods("scales", 3)
	spoil(t, namespace, "scales")
	patch("scales", `{"spec": {"worker": {"replicas": 1}}}`)
	awaitPods("scales", 1)
	patch("scales", `{"spec": {"runPolicy": {"suspend": true}}}`)
	awaitPhase(t, namespace, "scales", paddlev1.Suspended)
	awaitPhase(t, namespace, "of-kubeflow-rests", paddlev1.Pending)
	suspend := []byte(`{"spec": {"runPolicy": {"suspend": true}}}`)
	_, err = cluster.Dynamic.Resource(kubeflowv1.SchemeGroupVersion.WithResource(kubeflowv1.ResourcePaddleJobs)).Namespace(namespace).
		Patch(t.Context(), "of-kubeflow-rests", types.MergePatchType, suspend, metav1.PatchOptions{})
	require.NoError(t, err)
	awaitPhase(t, namespace, "of-kubeflow-rests", paddlev1.Suspended)
	for _, name := range []string{"few", "on-hosts", "by-names"} {
		awaitPhase(t, namespace, name, paddlev1.Completed)
	}
	awaitRestart(t, namespace, "fails-once")
	awaitPhase(t, namespace, "too-large", paddlev1.Pending)
	cluster.Await(t, "the Services of left to be gone", func(ctx context.Context) error {
		_, err := cluster.Kube.CoreV1().Services(namespace).Get(ctx, "left-worker-0", metav1.GetOptions{})
		return isGone(err)
	})
	awaitRefusal(t, refused)
	require.NoError(t, cluster.Paddle.BatchV1().PaddleJobs(refused).Delete(t.Context(), "pair", metav1.DeleteOptions{}))
	require.NoError(t, cluster.Kube.CoreV1().Nodes().Delete(t.Context(), "goes", metav1.DeleteOptions{}))
	for _, name := range []string{"scales", "too-large", "fails-once"} {
		require.NoError(t, jobs.Delete(t.Context(), name, metav1.DeleteOptions{}))
	}
	for _, object := range objects {
		if name := object.GetName(); name == "short" || name == "of-kubeflow" || object.GetKind() == "Numatopology" {
			cluster.Await(t, name+" to be forgotten", func(ctx context.Context) error {
				_, err := cluster.objects.Get(ctx, namespace, object)
				return isGone(err)
			})
		}
	}
}

// spoil deletes the controller's objects of a running job, and waits until they exist again.
func spoil(t *testing.T, namespace, job string) {
	t.Helper()
	configMaps, groups := cluster.Kube.CoreV1().ConfigMaps(namespace), cluster.Volcano.SchedulingV1beta1().PodGroups(namespace)
	environment, err := configMaps.Get(t.Context(), job, metav1.GetOptions{})
	require.NoError(t, err)
	_, err = configMaps.Patch(t.Context(), job, types.MergePatchType, []byte(`{"data": {"PADDLE_JOB_ID": "another"}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	cluster.Await(t, "the environment to be restored", func(ctx context.Context) error {
		now, err := configMaps.Get(ctx, job, metav1.GetOptions{})
		if err == nil && now.Data["PADDLE_JOB_ID"] != environment.Data["PADDLE_JOB_ID"] {
			err = fmt.Errorf("it is %v", now.Data)
		}
		return err
	})
	vcjob, err := cluster.Volcano.BatchV1alpha1().Jobs(namespace).Get(t.Context(), job, metav1.GetOptions{})
	require.NoError(t, err)
	group := job + "-" + string(vcjob.UID)
	require.NoError(t, groups.Delete(t.Context(), group, metav1.DeleteOptions{}))
	cluster.Await(t, "the PodGroup to be made again", func(ctx context.Context) error {
		_, err := groups.Get(ctx, group, metav1.GetOptions{})
		return err
	})
	_, err = groups.Patch(t.Context(), group, types.MergePatchType, []byte(`{"metadata": {"labels": null}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	cluster.Await(t, "the PodGroup to be restored", func(ctx context.Context) error {
		now, err := groups.Get(ctx, group, metav1.GetOptions{})
		if err == nil && len(now.Labels) == 0 {
			err = errors.New("it has no labels")
		}
		return err
	})
}

const (
	waits = "volumes that wait for their first pod (WaitForFirstConsumer)"
	csi   = "Volcano's flag --csi-storage"
	dra   = "dynamic resource allocation, which an administrator switches on in the configuration"
)

// unused are the permissions without a request, with the reason why they are granted.
var unused = map[string]map[string]string{
	controllerUser: {
		// The API server asks the authorizer when an owner that is protected is named, and writes nothing down.
		"update paddlejobs/finalizers.batch.paddlepaddle.org": "OwnerReferencesPermissionEnforcement, which is on here, asks for it",
		"update paddlejobs/finalizers.kubeflow.org":           "OwnerReferencesPermissionEnforcement, which is on here, asks for it",
		"update jobs/finalizers.batch.volcano.sh":             "OwnerReferencesPermissionEnforcement, which is on here, asks for it",
	},
	schedulerUser: {
		"get pods":                       "a pod whose binding failed is read again",
		"delete pods":                    "the actions preempt and reclaim, which an administrator adds to the configuration",
		"update persistentvolumes":       waits,
		"update persistentvolumeclaims":  waits,
		"list csidrivers.storage.k8s.io": csi, "watch csidrivers.storage.k8s.io": csi,
		"list csistoragecapacities.storage.k8s.io": csi, "watch csistoragecapacities.storage.k8s.io": csi,
		"get resourceclaims.resource.k8s.io": dra, "update resourceclaims.resource.k8s.io": dra,
		"update resourceclaims/status.resource.k8s.io": dra, "patch resourceclaims/status.resource.k8s.io": dra,
	},
}

// requirePermissionsAreUsed compares the requests of the components, which have exited, with their permissions. The last requests
// are logged a moment after their end.
func requirePermissionsAreUsed(t *testing.T) {
	t.Helper()
	reader, err := audit.Open(cluster.log)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, reader.Close()) })
	used := map[string]map[string]bool{controllerUser: {}, schedulerUser: {}}
	for user, account := range map[string]rbacv1.Subject{
		controllerUser: {Kind: "ServiceAccount", Namespace: system, Name: "paddle-controller-manager"},
		schedulerUser:  {Kind: "ServiceAccount", Namespace: volcanoSystem, Name: "paddle-scheduler"},
	} {
		granted, without := granted(t, account), slices.Sorted(maps.Keys(unused[user]))
		cluster.Await(t, "each right of "+user+" to be used", func(context.Context) error {
			if err := reader.Each(func(e *auditv1.Event) { noteRight(t, used, e) }); err != nil {
				return err
			}
			idle := []string{}
			for _, name := range slices.Sorted(maps.Keys(granted)) {
				if !used[user][name] {
					idle = append(idle, name)
				}
			}
			if !slices.Equal(idle, without) {
				return fmt.Errorf("no request has needed %v; only %v should be given without a need", idle, without)
			}
			return nil
		})
	}
}

// noteRight notes the right that a request needed, by user.
func noteRight(t *testing.T, used map[string]map[string]bool, e *auditv1.Event) {
	t.Helper()
	if e.ObjectRef == nil || e.ImpersonatedUser != nil {
		return
	}
	if e.ResponseStatus != nil && e.ResponseStatus.Code == 403 {
		t.Errorf("%s may not %s: %s: %s", e.User.Username, audit.What(e), e.RequestURI, e.ResponseStatus.Message)
	}
	user := e.User.Username
	if user == firstScheduler {
		user = schedulerUser
	}
	used[user][right(e.Verb, e.ObjectRef.APIGroup, e.ObjectRef.Resource, e.ObjectRef.Subresource)] = true
}

func right(verb, group, resource, subresource string) string {
	if subresource != "" {
		resource += "/" + subresource
	}
	if group != "" {
		resource += "." + group
	}
	return verb + " " + resource
}

// granted returns the permissions of every role that is bound to an account.
func granted(t *testing.T, account rbacv1.Subject) map[string]bool {
	t.Helper()
	rbac := cluster.Kube.RbacV1()
	all := map[string]bool{}
	everywhere, err := rbac.ClusterRoleBindings().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	for i := range everywhere.Items {
		if slices.Contains(everywhere.Items[i].Subjects, account) {
			role, err := rbac.ClusterRoles().Get(t.Context(), everywhere.Items[i].RoleRef.Name, metav1.GetOptions{})
			require.NoError(t, err)
			addPermissions(all, role.Rules)
		}
	}
	here, err := rbac.RoleBindings("").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	for i := range here.Items {
		if slices.Contains(here.Items[i].Subjects, account) {
			role, err := rbac.Roles(here.Items[i].Namespace).Get(t.Context(), here.Items[i].RoleRef.Name, metav1.GetOptions{})
			require.NoError(t, err)
			addPermissions(all, role.Rules)
		}
	}
	require.NotEmpty(t, all)
	return all
}

func addPermissions(all map[string]bool, rules []rbacv1.PolicyRule) {
	for _, rule := range rules {
		for _, verb := range rule.Verbs {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					all[right(verb, group, resource, "")] = true
				}
			}
		}
	}
}
