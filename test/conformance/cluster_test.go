// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func podWith(from []corev1.EnvFromSource, env ...corev1.EnvVar) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "job-worker-1", Namespace: "train", UID: "u1",
			Labels:      map[string]string{"volcano.sh/task-index": "1"},
			Annotations: map[string]string{"a.b/c": "d"},
		},
		Spec: corev1.PodSpec{
			NodeName:   "n1",
			Containers: []corev1.Container{{Name: "paddle", EnvFrom: from, Env: env}, {Name: "sidecar", Env: []corev1.EnvVar{{Name: "POD_IP", Value: "other"}}}},
		},
		Status: corev1.PodStatus{
			PodIP: "10.0.0.1", PodIPs: []corev1.PodIP{{IP: "10.0.0.1"}, {IP: "fd00::1"}},
			HostIP: "192.168.0.1",
		},
	}
}

func fieldRef(name, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
}

func fromConfigMap(name, prefix string, optional *bool) corev1.EnvFromSource {
	return corev1.EnvFromSource{Prefix: prefix, ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Optional: optional}}
}

func keyRef(name, configMap, key string, optional *bool) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: configMap}, Key: key, Optional: optional}}}
}

func lookup(name string) (map[string]string, bool) {
	maps := map[string]map[string]string{
		"job":  {"PADDLE_PORT": "36000", "PADDLE_TRAINERS_NUM": "2"},
		"more": {"PADDLE_PORT": "40000", "EXTRA": "$(PADDLE_PORT)"},
	}
	data, ok := maps[name]
	return data, ok
}

func TestEnvironmentIsTheKubelets(t *testing.T) {
	cases := []struct {
		name string
		pod  *corev1.Pod
		want map[string]string
	}{
		{"fields", podWith(nil,
			fieldRef("NAME", "metadata.name"), fieldRef("NAMESPACE", "metadata.namespace"), fieldRef("UID", "metadata.uid"),
			fieldRef("INDEX", "metadata.labels['volcano.sh/task-index']"), fieldRef("NOTE", "metadata.annotations['a.b/c']"),
			fieldRef("NONE", "metadata.labels['not.there/label']"), fieldRef("IP", "status.podIP"), fieldRef("IPS", "status.podIPs"),
			fieldRef("HOST", "status.hostIP"), fieldRef("NODE", "spec.nodeName")),
			map[string]string{"NAME": "job-worker-1", "NAMESPACE": "train", "UID": "u1", "INDEX": "1", "NOTE": "d", "NONE": "", "IP": "10.0.0.1",
				"IPS": "10.0.0.1,fd00::1", "HOST": "192.168.0.1", "NODE": "n1"}},
		{"references: earlier ones only, and escapes", podWith(nil,
			corev1.EnvVar{Name: "BEFORE", Value: "$(POD_NAME).job"}, fieldRef("POD_NAME", "metadata.name"),
			corev1.EnvVar{Name: "AFTER", Value: "$(POD_NAME).job"}, corev1.EnvVar{Name: "ESCAPED", Value: "$$(POD_NAME)"}, corev1.EnvVar{Name: "LITERAL", Value: "$POD_NAME $(VC_TASK_INDEX"}),
			map[string]string{"BEFORE": "$(POD_NAME).job", "POD_NAME": "job-worker-1", "AFTER": "job-worker-1.job", "ESCAPED": "$(POD_NAME)", "LITERAL": "$POD_NAME $(VC_TASK_INDEX"}},
		{"a variable that is named twice has the last value", podWith(nil, corev1.EnvVar{Name: "A", Value: "1"}, corev1.EnvVar{Name: "B", Value: "$(A)"}, corev1.EnvVar{Name: "A", Value: "2"}),
			map[string]string{"A": "2", "B": "1"}},
		{"a whole ConfigMap; later ones win, env wins over all, its text is not expanded", podWith(
			[]corev1.EnvFromSource{fromConfigMap("job", "", nil), fromConfigMap("more", "", nil), fromConfigMap("job", "OLD_", nil)},
			corev1.EnvVar{Name: "PADDLE_TRAINERS_NUM", Value: "4"}, corev1.EnvVar{Name: "MINE", Value: "$(PADDLE_PORT)"}),
			map[string]string{"PADDLE_PORT": "40000", "EXTRA": "$(PADDLE_PORT)", "PADDLE_TRAINERS_NUM": "4", "OLD_PADDLE_PORT": "36000", "OLD_PADDLE_TRAINERS_NUM": "2", "MINE": "40000"}},
		{"an optional ConfigMap that is not there", podWith([]corev1.EnvFromSource{fromConfigMap("gone", "", ptr.To(true))}), map[string]string{}},
		{"keys of ConfigMaps", podWith(nil, keyRef("PORT", "job", "PADDLE_PORT", nil), keyRef("A", "gone", "X", ptr.To(true)), keyRef("B", "job", "X", ptr.To(true))),
			map[string]string{"PORT": "36000"}},
		{"a value beats a source", podWith(nil, corev1.EnvVar{Name: "A", Value: "1", ValueFrom: fieldRef("", "metadata.name").ValueFrom}), map[string]string{"A": "1"}},
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			env, err := Environment(test.pod, lookup)
			require.NoError(t, err)
			require.Equal(t, test.want, env)
		})
	}
}

func TestEnvironmentSaysWhyAContainerDoesNotStart(t *testing.T) {
	cases := []struct {
		name string
		pod  *corev1.Pod
		want string
	}{
		{"no ConfigMap", podWith([]corev1.EnvFromSource{fromConfigMap("gone", "", nil)}), "pod job-worker-1, container paddle: waits for ConfigMap gone, which does not exist"},
		{"no key", podWith(nil, keyRef("A", "job", "X", nil)), "variable A: waits for key X of ConfigMap job"},
		{"no such field", podWith(nil, fieldRef("A", "status.phase")), "variable A: field status.phase"},
		{"a Secret", podWith([]corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{}}}), "cannot be resolved here"},
		{"a resource", podWith(nil, corev1.EnvVar{Name: "A", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{}}}), "cannot be resolved here"},
		{"no container", &corev1.Pod{}, "has no container"},
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			_, err := Environment(test.pod, lookup)
			require.ErrorContains(t, err, test.want)
		})
	}
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
		{"an IP of nobody", "10.0.0.3", nil, nil},
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
		{"a Service that selects nobody", "j-ps-0.j", headless(func(s *corev1.Service) { s.Spec.Selector = nil }), nil},
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
