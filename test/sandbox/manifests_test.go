// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
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

func loadTestManifest(t *testing.T, text string) *manifest {
	t.Helper()
	path := filepath.Join(t.TempDir(), "manifest.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	m, err := readManifest(path)
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
	m := loadTestManifest(t, testManifest)
	require.Len(t, m.objects, 8)
	require.Equal(t, []string{"ns", "account", "conf", "its", "its-too", "anothers"}, names(m.rights()))
	require.Equal(t, []string{"ns", "account", "conf", "anothers"}, names(withoutBindings(m.rights(), "ns", "account")))

	d, err := m.deployment("")
	require.NoError(t, err)
	require.Equal(t, []string{"--a"}, d.Spec.Template.Spec.Containers[0].Args)
	_, err = m.deployment("other")
	require.ErrorContains(t, err, "0 Deployments other")

	text, err := m.configMapValue("conf", "file")
	require.NoError(t, err)
	require.Equal(t, "text", text)
	_, err = m.configMapValue("conf", "nothing")
	require.ErrorContains(t, err, "no ConfigMap conf with an entry nothing")
}

func TestReadBadManifest(t *testing.T) {
	_, err := readManifest(filepath.Join(t.TempDir(), "operator.yaml"))
	require.ErrorContains(t, err, "is missing")
	path := filepath.Join(t.TempDir(), "bad.yaml")
	require.NoError(t, os.WriteFile(path, []byte("a: [b"), 0o600))
	_, err = readManifest(path)
	require.ErrorContains(t, err, path)
}

func TestLocalWebhooks(t *testing.T) {
	m := loadTestManifest(t, `
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
	require.NoError(t, local(m.objects, "https://127.0.0.1:7", []byte("pem")))
	require.Equal(t, []any{map[string]any{
		"name": "a", "failurePolicy": "Fail", "clientConfig": map[string]any{
			"url": "https://127.0.0.1:7/jobs/validate", "caBundle": base64.StdEncoding.EncodeToString([]byte("pem")),
		},
	}}, m.objects[0].Object["webhooks"])
	require.Equal(t, "volcano-admission-service-jobs-validate", m.objects[0].GetName())

	bad := loadTestManifest(t, "apiVersion: x/v1\nkind: MutatingWebhookConfiguration\nmetadata: {name: m}\nwebhooks: [{name: a}]\n")
	require.ErrorContains(t, local(bad.objects, "https://127.0.0.1:7", nil), "m: a webhook has no path")
}
