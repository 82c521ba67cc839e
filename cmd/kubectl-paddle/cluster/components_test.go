// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/paddle-volcano/paddle-volcano/test/fakeapi"
)

// serve returns clients of a server that has objects.
func serve(t *testing.T, objects ...runtime.Object) (*Clients, *fakeapi.Server) {
	t.Helper()
	server := fakeapi.New(t, Scheme, objects...)
	c, err := Connect(&rest.Config{Host: server.URL}, "team")
	require.NoError(t, err)
	return c, server
}

// scheduler is a Deployment that has a ConfigMap mounted as a folder.
func scheduler(namespace, name, configMap string, replicas int32, args ...string) *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	d.Spec.Replicas = &replicas
	pod := &d.Spec.Template.Spec
	pod.Containers = []corev1.Container{{Name: "s", Image: "registry.example.com:5000/s:v1", Args: args, VolumeMounts: []corev1.VolumeMount{
		{Name: "tmp", MountPath: "/tmp"}, {Name: "config", MountPath: "/volcano.scheduler"},
	}}}
	volume := corev1.Volume{Name: "config"}
	volume.ConfigMap = &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: configMap}}
	pod.Volumes = []corev1.Volume{{Name: "tmp"}, volume}
	return d
}

func conf(namespace, name, key, text string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string]string{key: text, "other": "x"}}
}

const file = "--scheduler-conf=/volcano.scheduler/volcano-scheduler.conf"

// The configuration is that which the running scheduler has mounted, under any name of its ConfigMap.
func TestConfigurationOfTheRunningScheduler(t *testing.T) {
	t.Parallel()
	stock := scheduler("volcano-system", "volcano-scheduler", "volcano-scheduler-configmap", 1, file)
	stopped := scheduler("a", "stopped", "none", 0, file)
	release := scheduler("batch", "release-scheduler", "release-scheduler-configmap", 1, "--scheduler-conf", "/volcano.scheduler/x.conf")
	beside := scheduler("batch", "beside", "beside", 1, file, "--scheduler-name=paddle,other")
	twice := scheduler("batch", "twice", "beside", 1, "-v=3", "--leader-elect", "--scheduler-name=paddle", "--scheduler-name", "other", file)
	renamed := scheduler("batch", "renamed", "items", 1, file)
	renamed.Spec.Template.Spec.Volumes[1].ConfigMap.Items = []corev1.KeyToPath{{Key: "mine", Path: "volcano-scheduler.conf"}}
	single := scheduler("batch", "single", "items", 1, file)
	single.Spec.Template.Spec.Containers[0].VolumeMounts[1] = corev1.VolumeMount{Name: "config", MountPath: "/volcano.scheduler/volcano-scheduler.conf", SubPath: "mine"}
	maps := []runtime.Object{
		conf("volcano-system", "volcano-scheduler-configmap", "volcano-scheduler.conf", "stock"), conf("batch", "release-scheduler-configmap", "x.conf", "release"),
		conf("batch", "beside", "volcano-scheduler.conf", "beside"), conf("batch", "items", "mine", "item"),
		conf("a", "none", "default-scheduler.conf", "of one that does not run"),
	}
	for name, test := range map[string]struct {
		deployments []runtime.Object
		scheduler   string
		want        string
	}{
		"Volcano's":               {[]runtime.Object{stock}, "", "stock"},
		"the running one":         {[]runtime.Object{stopped, stock}, "volcano", "stock"},
		"none runs":               {[]runtime.Object{stopped}, "", "of one that does not run"},
		"of a chart":              {[]runtime.Object{release}, "", "release"},
		"by the scheduler's name": {[]runtime.Object{stock, beside}, "paddle", "beside"},
		"by one of its names":     {[]runtime.Object{stock, twice}, "other", "beside"},
		"an entry as a file":      {[]runtime.Object{renamed}, "", "item"},
		"a single file":           {[]runtime.Object{single}, "", "item"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := serve(t, append(test.deployments, maps...)...)
			text, err := c.configuration(t.Context(), test.scheduler)
			require.NoError(t, err)
			require.Equal(t, test.want, text)
		})
	}
	c, server := serve(t, beside)
	_, err := c.configuration(t.Context(), "volcano")
	require.ErrorIs(t, err, errNoScheduler)
	_, err = c.configuration(t.Context(), "other")
	require.True(t, apierrors.IsNotFound(err), err)
	server.Forbidden = []string{"deployments"}
	_, err = c.configuration(t.Context(), "")
	require.True(t, apierrors.IsForbidden(err), err)
}

func TestComponents(t *testing.T) {
	t.Parallel()
	controller := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "paddle-system", Name: "c", Labels: map[string]string{
		"app.kubernetes.io/name": "paddle-volcano", "app.kubernetes.io/component": "controller"}}}
	controller.Spec.Template.Spec.Containers = []corev1.Container{{Image: "paddlejob-controller@sha256:abc"}}
	renamed := controller.DeepCopy()
	renamed.Name, renamed.Labels = "renamed", map[string]string{
		"app.kubernetes.io/name": "other", "app.kubernetes.io/part-of": "paddle-volcano", "app.kubernetes.io/component": "controller", "app.kubernetes.io/version": "v0.2.0",
	}
	other := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "other"}}
	other.Spec.Template.Spec.Containers = []corev1.Container{{Image: "nginx", Args: []string{"-h", "--help", "host", "--", "x"}}}
	c, server := serve(t, scheduler("volcano-system", "s", "m", 1, file), controller, renamed, other)
	found, err := c.Components(t.Context())
	require.NoError(t, err)
	require.Equal(t, []Component{
		{Role: "controller", Namespace: "paddle-system", Name: "c", Version: "sha256:abc", Image: "paddlejob-controller@sha256:abc"},
		{Role: "controller", Namespace: "paddle-system", Name: "renamed", Version: "v0.2.0", Image: "paddlejob-controller@sha256:abc"},
		{Role: "scheduler", Namespace: "volcano-system", Name: "s", Version: "v1", Image: "registry.example.com:5000/s:v1"},
	}, found)
	server.Forbidden = []string{"deployments"}
	_, err = c.Components(t.Context())
	require.True(t, apierrors.IsForbidden(err), err)
}

func TestTopologyLabels(t *testing.T) {
	t.Parallel()
	text := "actions: allocate\ntiers:\n- plugins:\n  - name: gang\n  - name: paddle\n"
	for arguments, want := range map[string][]string{
		"": nil, "    arguments: {weight: 2}": nil, "    arguments:\n      topology-labels: a/b, c": {"a/b", "c"}, "    arguments:\n      topology-labels: [a/b, c]": {"a/b", "c"},
	} {
		got, err := topologyLabels(text + arguments)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err := topologyLabels("{")
	require.ErrorContains(t, err, "read the scheduler's configuration")
	got, err := topologyLabels("")
	require.NoError(t, err)
	require.Empty(t, got)
}
