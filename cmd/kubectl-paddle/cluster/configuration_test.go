// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubefake "k8s.io/client-go/kubernetes/fake"
)

// Where the chart's scheduler replaces Volcano's, the configuration of the latter still exists, and has no effect.
func TestConfigurationOfTheChartComesFirst(t *testing.T) {
	t.Parallel()
	config := func(name string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "volcano-system", Name: name}}
	}
	kube := kubefake.NewSimpleClientset()
	c := &Clients{Kube: kube}
	_, err := c.configuration(t.Context())
	require.True(t, apierrors.IsNotFound(err), err)
	for _, name := range []string{"volcano-scheduler-configmap", "paddle-scheduler-configmap"} {
		require.NoError(t, kube.Tracker().Add(config(name)))
		found, err := c.configuration(t.Context())
		require.NoError(t, err)
		require.Equal(t, name, found.Name)
	}
}

func TestTopologyLabels(t *testing.T) {
	t.Parallel()
	conf := func(arguments string) map[string]string {
		return map[string]string{"volcano-scheduler.conf": "actions: allocate\ntiers:\n- plugins:\n  - name: gang\n  - name: paddle\n" + arguments, "other": "{"}
	}
	for text, want := range map[string][]string{
		"": nil, "    arguments: {weight: 2}": nil, "    arguments:\n      topology-labels: a/b, c": {"a/b", "c"}, "    arguments:\n      topology-labels: [a/b, c]": {"a/b", "c"},
	} {
		got, err := topologyLabels(conf(text))
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err := topologyLabels(map[string]string{"x-scheduler.conf": "{"})
	require.ErrorContains(t, err, "read the scheduler's ConfigMap")
	got, err := topologyLabels(nil)
	require.NoError(t, err)
	require.Empty(t, got)
}
