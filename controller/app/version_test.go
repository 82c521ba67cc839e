// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

func TestVolcanoVersion(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		app, image string
		want       string
		tested     bool
	}{
		"Volcano's own image":     {app: "volcano-controller", image: "docker.io/volcanosh/vc-controller-manager:v1.14.1", want: "v1.14.1", tested: true},
		"a mirror with a port":    {app: "volcano-controller", image: "mirror:5000/vc-controller-manager:v1.14.0", want: "v1.14.0", tested: true},
		"a tag and a digest":      {app: "volcano-controller", image: "vc-controller-manager:v1.14.1@sha256:00", want: "v1.14.1", tested: true},
		"a later version":         {app: "volcano-controller", image: "vc-controller-manager:v1.15.0", want: "v1.15.0"},
		"another major version":   {app: "volcano-controller", image: "vc-controller-manager:v2.14.0", want: "v2.14.0"},
		"a tag without a version": {app: "volcano-controller", image: "vc-controller-manager:latest"},
		"a digest alone":          {app: "volcano-controller", image: "vc-controller-manager@sha256:00"},
		"a port without a tag":    {app: "volcano-controller", image: "mirror:5000/vc-controller-manager"},
		"another program":         {app: "trainer", image: "trainer:v1.14.1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := fake.NewClientset(&corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: "volcano-system", Name: "p", Labels: map[string]string{"app": tc.app}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: tc.image}}},
			})
			got, err := volcanoVersion(t.Context(), client)
			require.NoError(t, err)
			require.Equal(t, tc.want, got)
			require.Equal(t, tc.tested, tested(got))
		})
	}
	refused := fake.NewClientset()
	refused.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, errors.New("forbidden") })
	_, err := volcanoVersion(t.Context(), refused)
	require.ErrorContains(t, err, "to read Volcano's version: forbidden")
}

func TestSupportedKubernetes(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]bool{
		"v1.24.17": false, "v1.25.0": true, "v1.34.9": true, "v1.34.1-gke.100": true, "v1.33.4+k3s1": true, "v1.35.0": false, "v1.35.0-alpha.1": false,
		"v2.30.0": false, "unknown": false,
	} {
		require.Equal(t, want, supportedKubernetes(version), version)
	}
}
