// SPDX-License-Identifier: Apache-2.0

package versions

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apiversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
)

// server has one version, or none that can be read.
type server struct{ version string }

func (s server) ServerVersion() (*apiversion.Info, error) {
	if s.version == "" {
		return nil, errors.New("refused")
	}
	return &apiversion.Info{GitVersion: s.version}, nil
}

// logger returns one, and what it has logged.
func logger(t *testing.T) (klog.Logger, func() string) {
	t.Helper()
	l := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true)))
	sink, ok := l.GetSink().(ktesting.Underlier)
	require.True(t, ok)
	return l, func() string { return sink.GetBuffer().String() }
}

func TestLogKubernetes(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"v1.35.0":  `Warning: the version of Kubernetes is not supported version="v1.35.0" oldest="1.25" newest="1.34"`,
		"v1.24.17": `Warning: the version of Kubernetes is not supported version="v1.24.17" oldest="1.25" newest="1.34"`,
		"v1.34.1":  `Found Kubernetes version="v1.34.1"`,
		"":         `The version of Kubernetes could not be read err="refused"`,
	} {
		l, logged := logger(t)
		LogKubernetes(klog.NewContext(t.Context(), l), server{version})
		require.Contains(t, logged(), want)
	}
}

func TestKubernetesIsSupported(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]bool{
		"v1.24.17": false, "v1.25.0": true, "v1.34.9": true, "v1.34.1-gke.100": true, "v1.33.4+k3s1": true, "v1.35.0": false, "v1.35.0-alpha.1": false,
		"v2.30.0": false, "unknown": false,
	} {
		require.Equal(t, want, kubernetesIsSupported(version), version)
	}
}

func TestLogVolcano(t *testing.T) {
	t.Parallel()
	const unknown = `The version of Volcano is unknown: no pod of its controller has an image with a version as its tag supported="1.14"`
	for name, tc := range map[string]struct{ app, image, want string }{
		"Volcano's own image":     {app: "volcano-controller", image: "docker.io/volcanosh/vc-controller-manager:v1.14.1", want: `Found Volcano version="v1.14.1"`},
		"a mirror with a port":    {app: "volcano-controller", image: "mirror:5000/vc-controller-manager:v1.14.0", want: `Found Volcano version="v1.14.0"`},
		"a tag and a digest":      {app: "volcano-controller", image: "vc-controller-manager:v1.14.1@sha256:00", want: `Found Volcano version="v1.14.1"`},
		"a later version":         {app: "volcano-controller", image: "vc-controller-manager:v1.15.0", want: `Warning: the version of Volcano is not supported version="v1.15.0" supported="1.14"`},
		"an earlier version":      {app: "volcano-controller", image: "vc-controller-manager:v1.13.2", want: `Warning: the version of Volcano is not supported version="v1.13.2" supported="1.14"`},
		"another major version":   {app: "volcano-controller", image: "vc-controller-manager:v2.14.0", want: `Warning: the version of Volcano is not supported version="v2.14.0" supported="1.14"`},
		"a tag without a version": {app: "volcano-controller", image: "vc-controller-manager:latest", want: unknown},
		"a digest alone":          {app: "volcano-controller", image: "vc-controller-manager@sha256:00", want: unknown},
		"a port without a tag":    {app: "volcano-controller", image: "mirror:5000/vc-controller-manager", want: unknown},
		"another program":         {app: "trainer", image: "trainer:v1.14.1", want: unknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, logged := logger(t)
			LogVolcano(klog.NewContext(t.Context(), l), fake.NewClientset(&corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: "volcano-system", Name: "p", Labels: map[string]string{"app": tc.app}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: tc.image}}},
			}))
			require.Contains(t, logged(), tc.want)
		})
	}
	refused := fake.NewClientset()
	refused.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, errors.New("forbidden") })
	l, logged := logger(t)
	LogVolcano(klog.NewContext(t.Context(), l), refused)
	require.Contains(t, logged(), `The version of Volcano could not be read supported="1.14" err="listing the pods app=volcano-controller in all namespaces, to read Volcano's version: forbidden"`)
}
