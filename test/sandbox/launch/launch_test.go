// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const testManifest = `# A comment before the first document.
---
apiVersion: v1
kind: Namespace
metadata: {name: ns}
---
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: account, namespace: ns}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: conf, namespace: ns}
data: {file: text}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: its}
subjects: [{kind: ServiceAccount, name: account, namespace: ns}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: its-too, namespace: ns}
subjects: [{kind: User, name: x}, {kind: ServiceAccount, name: account, namespace: ns}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: anothers}
subjects: [{kind: ServiceAccount, name: account, namespace: elsewhere}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: one, namespace: ns}
spec: {template: {spec: {containers: [{name: c, args: [--a]}]}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: job, namespace: ns}
`

func readTest(t *testing.T, text string) *Manifest {
	t.Helper()
	path := filepath.Join(t.TempDir(), "manifest.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	m, err := Read(path)
	require.NoError(t, err)
	return m
}

func names(objects []*unstructured.Unstructured) []string {
	var out []string
	for _, object := range objects {
		out = append(out, object.GetName())
	}
	return out
}

func TestManifestParts(t *testing.T) {
	m := readTest(t, testManifest)
	require.Len(t, m.Objects, 8)
	require.Equal(t, []string{"ns", "account", "conf", "its", "its-too", "anothers"}, names(m.Prerequisites()))
	require.Equal(t, []string{"ns", "account", "conf", "anothers"}, names(WithoutBindings(m.Prerequisites(), "ns", "account")))

	d, err := m.Deployment("")
	require.NoError(t, err)
	require.Equal(t, []string{"--a"}, d.Spec.Template.Spec.Containers[0].Args)
	_, err = m.Deployment("other")
	require.ErrorContains(t, err, "0 Deployments other")

	text, err := m.ConfigMapValue("conf", "file")
	require.NoError(t, err)
	require.Equal(t, "text", text)
	_, err = m.ConfigMapValue("conf", "nothing")
	require.ErrorContains(t, err, "no ConfigMap conf with an entry nothing")
}

func TestReadInvalid(t *testing.T) {
	_, err := Read(filepath.Join(t.TempDir(), "operator.yaml"))
	require.ErrorContains(t, err, "is missing")
	path := filepath.Join(t.TempDir(), "bad.yaml")
	require.NoError(t, os.WriteFile(path, []byte("a: [b"), 0o600))
	_, err = Read(path)
	require.ErrorContains(t, err, path)
}

func TestRedirectWebhooks(t *testing.T) {
	m := readTest(t, `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: volcano-admission-service-jobs-validate}
webhooks:
- {name: a, failurePolicy: Fail, clientConfig: {service: {name: s, namespace: n, path: /jobs/validate, port: 443}}}
---
apiVersion: v1
kind: Service
metadata: {name: s}
`)
	require.NoError(t, RedirectWebhooks(m.Objects, "https://127.0.0.1:7", []byte("pem")))
	require.Equal(t, []any{map[string]any{
		"name": "a", "failurePolicy": "Fail", "clientConfig": map[string]any{
			"url": "https://127.0.0.1:7/jobs/validate", "caBundle": base64.StdEncoding.EncodeToString([]byte("pem")),
		},
	}}, m.Objects[0].Object["webhooks"])
	require.Equal(t, "volcano-admission-service-jobs-validate", m.Objects[0].GetName())

	bad := readTest(t, "apiVersion: x/v1\nkind: MutatingWebhookConfiguration\nmetadata: {name: m}\nwebhooks: [{name: a}]\n")
	require.ErrorContains(t, RedirectWebhooks(bad.Objects, "https://127.0.0.1:7", nil), "m: a webhook has no path")
}

func TestWithFlags(t *testing.T) {
	tests := map[string]struct {
		args     []string
		override Flags
		want     []string
	}{
		"nothing to override":       {args: []string{"--a=1", "-v=3"}, want: []string{"--a=1", "-v=3"}},
		"a new flag comes last":     {args: []string{"--a=1"}, override: Flags{"z": "9", "b": "2"}, want: []string{"--a=1", "--b=2", "--z=9"}},
		"with an equals sign":       {args: []string{"--a=1", "--b=2"}, override: Flags{"a": "3"}, want: []string{"--b=2", "--a=3"}},
		"with one dash":             {args: []string{"-v=3", "--b=2"}, override: Flags{"v": "2"}, want: []string{"--b=2", "--v=2"}},
		"as two arguments":          {args: []string{"--a", "1", "--b=2"}, override: Flags{"a": "3"}, want: []string{"--b=2", "--a=3"}},
		"without a value":           {args: []string{"--leader-elect", "--b=2"}, override: Flags{"leader-elect": "false"}, want: []string{"--b=2", "--leader-elect=false"}},
		"without a value, last":     {args: []string{"--leader-elect"}, override: Flags{"leader-elect": "false"}, want: []string{"--leader-elect=false"}},
		"twice":                     {args: []string{"--a=1", "--a=2"}, override: Flags{"a": "3"}, want: []string{"--a=3"}},
		"another with the same end": {args: []string{"--bba=1"}, override: Flags{"a": "3"}, want: []string{"--bba=1", "--a=3"}},
		"a word like a flag":        {args: []string{"run", "a"}, override: Flags{"a": "3"}, want: []string{"run", "a", "--a=3"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, withFlags(test.args, test.override))
		})
	}
}

func TestCommandOf(t *testing.T) {
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
		want       Command
	}{
		"no account": {
			deployment: deployment(func(*corev1.PodSpec) {}),
			want:       Command{Namespace: "ns", Account: "default"},
		},
		"an account": {
			deployment: deployment(func(s *corev1.PodSpec) { s.ServiceAccountName, s.DeprecatedServiceAccount = "new", "old" }),
			want:       Command{Namespace: "ns", Account: "new"},
		},
		"an account in the old field, as Volcano writes it": {
			deployment: deployment(func(s *corev1.PodSpec) { s.DeprecatedServiceAccount = "old" }),
			want:       Command{Namespace: "ns", Account: "old"},
		},
		"the shell's words are no arguments": {
			deployment: deployment(func(s *corev1.PodSpec) { s.Containers[0].Args = []string{"--a=1", "2>&1"} }),
			want:       Command{Namespace: "ns", Account: "default", Args: []string{"--a=1"}},
		},
		"variables are expanded, and those that only a pod knows left out": {
			deployment: deployment(func(s *corev1.PodSpec) {
				s.Containers[0].Env = []corev1.EnvVar{
					{Name: "NS", ValueFrom: fieldRef("metadata.namespace")}, {Name: "IP", ValueFrom: fieldRef("status.podIP")}, {Name: "X", Value: "1"},
				}
				s.Containers[0].Args = []string{"--ns=$(NS)", "--x=$(X)", "--ip=$(IP)"}
			}),
			want: Command{
				Namespace: "ns", Account: "default", Args: []string{"--ns=ns", "--x=1", "--ip=$(IP)"}, Env: []string{"NS=ns", "X=1"},
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, CommandOf(test.deployment, nil))
		})
	}
}
