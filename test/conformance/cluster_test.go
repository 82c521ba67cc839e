// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/paddle-volcano/paddle-volcano/test/cases"
)

func TestEnvironmentIsTheKubelets(t *testing.T) {
	file := cases.Read[struct {
		Pod        corev1.Pod
		ConfigMaps map[string]map[string]string
		Cases      map[string]struct {
			Env     []corev1.EnvVar
			EnvFrom []corev1.EnvFromSource
			Want    map[string]string
			Error   string
		}
	}](t, "testdata/environment.yaml")
	lookup := func(name string) (map[string]string, bool) { data, ok := file.ConfigMaps[name]; return data, ok }
	for name, test := range file.Cases {
		first := &file.Pod.Spec.Containers[0]
		first.Env, first.EnvFrom = test.Env, test.EnvFrom
		env, err := Environment(&file.Pod, lookup)
		if test.Error != "" {
			require.ErrorContains(t, err, test.Error, name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, test.Want, env, name)
	}
	_, err := Environment(&corev1.Pod{}, lookup)
	require.ErrorContains(t, err, "has no container")
}

func TestResolve(t *testing.T) {
	pod := func(name, hostname, subdomain, ip string) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "train", Labels: map[string]string{"job": "j"}},
			Spec:       corev1.PodSpec{Hostname: hostname, Subdomain: subdomain}, Status: corev1.PodStatus{PodIP: ip},
		}
	}
	pods := []*corev1.Pod{pod("j-ps-0", "j-ps-0", "j", "10.0.0.1"), pod("j-ps-1", "", "j", "10.0.0.2"), pod("j-ps-2", "j-ps-2", "", "10.0.0.2")}
	headless := func(change func(*corev1.Service)) []*corev1.Service {
		s := &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Name: "j", Namespace: "train"},
			Spec:       corev1.ServiceSpec{ClusterIP: "None", Selector: map[string]string{"job": "j"}, PublishNotReadyAddresses: true},
		}
		change(s)
		return []*corev1.Service{s}
	}
	good := headless(func(*corev1.Service) {})
	cases := []struct {
		name, host string
		services   []*corev1.Service
		want       []string
	}{
		{"its IP", "10.0.0.1", nil, []string{"j-ps-0"}},
		{"an IP of two pods", "10.0.0.2", nil, []string{"j-ps-1", "j-ps-2"}},
		{"an IP of no pod", "10.0.0.3", nil, nil},
		{"its dotted name", "j-ps-0.j", good, []string{"j-ps-0"}},
		{"with the namespace", "j-ps-0.j.train", good, []string{"j-ps-0"}},
		{"with the cluster's domain", "j-ps-0.j.train.svc.cluster.local", good, []string{"j-ps-0"}},
		{"in another namespace", "j-ps-0.j.other", good, nil},
		{"in no cluster's domain", "j-ps-0.j.train.example.org", good, nil},
		{"without a dot", "j-ps-0", good, nil},
		{"no Service", "j-ps-0.j", nil, nil},
		{"a Service with a virtual IP", "j-ps-0.j", headless(func(s *corev1.Service) { s.Spec.ClusterIP = "10.1.0.1" }), nil},
		{"only once the pod is ready", "j-ps-0.j", headless(func(s *corev1.Service) { s.Spec.PublishNotReadyAddresses = false }), nil},
		{"a Service that selects others", "j-ps-0.j", headless(func(s *corev1.Service) { s.Spec.Selector["job"] = "k" }), nil},
		{"a Service without a selector", "j-ps-0.j", headless(func(s *corev1.Service) { s.Spec.Selector = nil }), nil},
		{"a Service of another namespace", "j-ps-0.j", headless(func(s *corev1.Service) { s.Namespace = "other" }), nil},
		{"a pod without a host name", "j-ps-1.j", good, nil},
		{"a pod without a subdomain", "j-ps-2.j", good, nil},
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, Resolve(test.host, "train", pods, test.services))
		})
	}
}
