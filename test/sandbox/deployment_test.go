// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestWithFlags(t *testing.T) {
	tests := map[string]struct {
		args     []string
		override flags
		want     []string
	}{
		"nothing to override":       {args: []string{"--a=1", "-v=3"}, want: []string{"--a=1", "-v=3"}},
		"a new flag comes last":     {args: []string{"--a=1"}, override: flags{"z": "9", "b": "2"}, want: []string{"--a=1", "--b=2", "--z=9"}},
		"with an equals sign":       {args: []string{"--a=1", "--b=2"}, override: flags{"a": "3"}, want: []string{"--b=2", "--a=3"}},
		"with one dash":             {args: []string{"-v=3", "--b=2"}, override: flags{"v": "2"}, want: []string{"--b=2", "--v=2"}},
		"as two arguments":          {args: []string{"--a", "1", "--b=2"}, override: flags{"a": "3"}, want: []string{"--b=2", "--a=3"}},
		"without a value":           {args: []string{"--leader-elect", "--b=2"}, override: flags{"leader-elect": "false"}, want: []string{"--b=2", "--leader-elect=false"}},
		"without a value, last":     {args: []string{"--leader-elect"}, override: flags{"leader-elect": "false"}, want: []string{"--leader-elect=false"}},
		"twice":                     {args: []string{"--a=1", "--a=2"}, override: flags{"a": "3"}, want: []string{"--a=3"}},
		"another with the same end": {args: []string{"--bba=1"}, override: flags{"a": "3"}, want: []string{"--bba=1", "--a=3"}},
		"a word like a flag":        {args: []string{"run", "a"}, override: flags{"a": "3"}, want: []string{"run", "a", "--a=3"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, withFlags(test.args, test.override))
		})
	}
}

func TestLaunchOf(t *testing.T) {
	deployment := func(change func(*corev1.PodSpec)) *appsv1.Deployment {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "d", Namespace: "ns"}}
		d.Spec.Template.Spec.Containers = []corev1.Container{{}}
		change(&d.Spec.Template.Spec)
		return d
	}
	fieldRef := func(path string) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}
	}
	tests := map[string]struct {
		deployment *appsv1.Deployment
		want       launch
	}{
		"no account": {
			deployment: deployment(func(*corev1.PodSpec) {}),
			want:       launch{namespace: "ns", account: "default"},
		},
		"an account": {
			deployment: deployment(func(s *corev1.PodSpec) { s.ServiceAccountName, s.DeprecatedServiceAccount = "new", "old" }),
			want:       launch{namespace: "ns", account: "new"},
		},
		"an account in the old field, as Volcano writes it": {
			deployment: deployment(func(s *corev1.PodSpec) { s.DeprecatedServiceAccount = "old" }),
			want:       launch{namespace: "ns", account: "old"},
		},
		"the shell's words are no arguments": {
			deployment: deployment(func(s *corev1.PodSpec) { s.Containers[0].Args = []string{"--a=1", "2>&1"} }),
			want:       launch{namespace: "ns", account: "default", args: []string{"--a=1"}},
		},
		"variables are expanded, and those that only a pod knows left out": {
			deployment: deployment(func(s *corev1.PodSpec) {
				s.Containers[0].Env = []corev1.EnvVar{
					{Name: "NS", ValueFrom: fieldRef("metadata.namespace")}, {Name: "IP", ValueFrom: fieldRef("status.podIP")}, {Name: "X", Value: "1"},
				}
				s.Containers[0].Args = []string{"--ns=$(NS)", "--x=$(X)", "--ip=$(IP)"}
			}),
			want: launch{
				namespace: "ns", account: "default", args: []string{"--ns=ns", "--x=1", "--ip=$(IP)"}, env: []string{"NS=ns", "X=1"},
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, launchOf(test.deployment, nil))
		})
	}
}
