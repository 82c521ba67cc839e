// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/test/live"
)

func TestStories(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1.AddToScheme, vcbatch.AddToScheme, vcbus.AddToScheme, vcscheduling.AddToScheme, corev1.AddToScheme, networkingv1.AddToScheme} {
		require.NoError(t, add(scheme))
	}
	named := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: namespace, Name: name} }
	command := named("resume-uid-0")
	command.Labels = map[string]string{keys.JobName: "job-1"}
	owned := func(name, kind string) metav1.ObjectMeta {
		meta := named(name)
		meta.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: "job-1", UID: "vc", Controller: ptr.To(true)}}
		return meta
	}
	p := &live.Plane{
		Dynamic: dynamicfake.NewSimpleDynamicClient(scheme,
			&v1.PaddleJob{ObjectMeta: named("job-1")}, &vcbatch.Job{ObjectMeta: named("job-1")}, &vcbus.Command{ObjectMeta: command},
			&corev1.ConfigMap{ObjectMeta: owned("env", v1.Kind)}, &corev1.ConfigMap{ObjectMeta: owned("job-1-svc", "Job")}, &corev1.ConfigMap{ObjectMeta: named("kube-root-ca.crt")},
			&corev1.Service{ObjectMeta: owned("job-1", "Job")}, &networkingv1.NetworkPolicy{ObjectMeta: named("stray")}, &vcscheduling.PodGroup{ObjectMeta: named("job-1-vc")},
			&corev1.Pod{ObjectMeta: named("job-1-worker-0")}, &corev1.Pod{ObjectMeta: named("job-10-worker-0")}),
		Kube: kubefake.NewClientset(&corev1.Event{ObjectMeta: named("e"), InvolvedObject: corev1.ObjectReference{Kind: "Job", Name: "job-1"}, Reason: "Failed"}),
	}
	jobs := []*job{{name: "job-1", kind: "ps"}, {name: "job-10", kind: "ps"}}
	told := stories(t.Context(), p, jobs, []string{"job-1 (ps) is gone"})
	for _, what := range []string{"paddlejobs job-1\n", "jobs job-1\n", "commands resume-uid-0\n", "pods job-1-worker-0\n", "event of Job job-1: Failed"} {
		require.Contains(t, told, what)
	}
	require.NotContains(t, told, "job-10")
	require.Empty(t, stories(t.Context(), p, jobs, nil))

	w, err := look(t.Context(), p)
	require.NoError(t, err)
	require.Contains(t, w.jobs, "job-1")
	require.Contains(t, w.volcano, "job-1")
	require.Len(t, w.pods, 2)
	require.Equal(t, map[string]bool{"env": true}, w.environments)
	require.Equal(t, []string{"PodGroup job-1-vc", "Command resume-uid-0"}, w.transient)
	require.Equal(t, map[string]types.UID{"ConfigMap job-1-svc": "vc", "Service job-1": "vc", "NetworkPolicy stray": ""}, w.lasting)
}
