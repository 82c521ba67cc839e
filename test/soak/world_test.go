// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/test/live"
)

func TestLookAndKeep(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1.AddToScheme, vcbatch.AddToScheme, vcbus.AddToScheme, vcscheduling.AddToScheme, corev1.AddToScheme, networkingv1.AddToScheme} {
		require.NoError(t, add(scheme))
	}
	named := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: namespace, Name: name} }
	owned := func(name, kind string) metav1.ObjectMeta {
		meta := named(name)
		meta.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: "job-1", UID: "vc", Controller: ptr.To(true)}}
		return meta
	}
	p := &live.Plane{Dynamic: dynamicfake.NewSimpleDynamicClient(scheme,
		&v1.PaddleJob{ObjectMeta: named("job-1")}, &vcbatch.Job{ObjectMeta: named("job-1")}, &vcbus.Command{ObjectMeta: named("resume")},
		&corev1.ConfigMap{ObjectMeta: owned("env", v1.Kind)}, &corev1.ConfigMap{ObjectMeta: owned("job-1-svc", "Job")}, &corev1.ConfigMap{ObjectMeta: named("kube-root-ca.crt")},
		&corev1.Service{ObjectMeta: owned("job-1", "Job")}, &networkingv1.NetworkPolicy{ObjectMeta: named("stray")}, &vcscheduling.PodGroup{ObjectMeta: named("job-1-vc")},
		&corev1.Pod{ObjectMeta: owned("job-1-worker-0", "Job")}, &corev1.Event{ObjectMeta: named("e"), Reason: "TooLate"})}
	w, err := look(t.Context(), p)
	require.NoError(t, err)
	require.Contains(t, w.jobs, "job-1")
	require.Contains(t, w.volcano, "job-1")
	require.Len(t, w.podsOf("vc"), 1)
	require.Equal(t, map[string]bool{"env": true}, w.environments)
	require.Equal(t, []string{"PodGroup job-1-vc", "Command resume"}, w.transient)
	require.Equal(t, map[string]types.UID{"ConfigMap job-1-svc": "vc", "Service job-1": "vc", "NetworkPolicy stray": ""}, w.lasting)

	path := filepath.Join(t.TempDir(), "left.yaml")
	require.NoError(t, keep(t.Context(), p, path))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, what := range []string{"kind: PaddleJob", "name: job-1-worker-0", "reason: TooLate"} {
		require.Contains(t, string(text), what)
	}
}
