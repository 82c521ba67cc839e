// SPDX-License-Identifier: Apache-2.0

package boundaries

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/paddle-volcano/paddle-volcano/deploy"
	"github.com/paddle-volcano/paddle-volcano/test/cases"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
)

// at returns the schema of a field, nil if there is none of that path.
func at(schema map[string]any, field string) map[string]any {
	for part := range strings.SplitSeq(strings.ReplaceAll(field, "[]", ".[]"), ".") {
		path := map[string][]string{"*": {"additionalProperties"}, "[]": {"items"}}[part]
		if path == nil {
			path = []string{"properties", part}
		}
		schema, _, _ = unstructured.NestedMap(schema, path...) // what is no map has no such field
	}
	return schema
}

// Manifests of paddle-operator and Kubeflow need no change: every field that they published is in the CRDs of this project under the
// same path, has the same type, and takes any value that it took there. Sources: api/v1 of paddle-operator v0.3.5 and its branch with sample
// sets; pkg/apis/kubeflow.org/v1 of Kubeflow's training operator 1.9.
func TestLegacyFieldsAreSupported(t *testing.T) {
	for name, test := range cases.Read[map[string]struct {
		File, Group string
		ShortNames  []string
		Columns     []string
		// Without are the limits that no field has.
		Without  []string
		Fields   map[string]string
		Required []string
	}](t, "testdata/legacy_fields.yaml") {
		t.Run(name, func(t *testing.T) {
			objects, err := manifests.Read(deploy.Files, test.File)
			require.NoError(t, err)
			crd := &apiextensionsv1.CustomResourceDefinition{}
			require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(objects[0].Object, crd))
			require.Equal(t, "apiextensions.k8s.io/v1", objects[0].GetAPIVersion())
			require.Equal(t, test.Group, crd.Spec.Group)
			require.Equal(t, apiextensionsv1.NamespaceScoped, crd.Spec.Scope)
			names := crd.Spec.Names
			require.Equal(t, []string{"PaddleJob", "paddlejobs", "paddlejob"}, []string{names.Kind, names.Plural, names.Singular})
			require.Subset(t, names.ShortNames, test.ShortNames)
			require.Len(t, crd.Spec.Versions, 1)
			version := crd.Spec.Versions[0]
			require.Equal(t, "v1", version.Name)
			var columns []string
			for _, column := range version.AdditionalPrinterColumns {
				columns = append(columns, column.Name)
			}
			require.Subset(t, columns, test.Columns)
			require.NotNil(t, version.Subresources.Status)
			require.NotNil(t, version.Subresources.Scale)
			root, err := runtime.DefaultUnstructuredConverter.ToUnstructured(version.Schema.OpenAPIV3Schema)
			require.NoError(t, err)
			for kind, all := range test.Fields {
				for group := range strings.FieldsSeq(all) {
					for _, path := range expanded(group) {
						found := at(root, path)
						require.Equal(t, kind, found["type"], path)
						for _, limit := range test.Without {
							require.NotContains(t, found, limit, path)
						}
						// Of the objects and lists that lead to it none requires what they did not.
						for end := strings.LastIndexAny(path, ".["); end > 0; end = strings.LastIndexAny(path[:end], ".[") {
							required, _, err := unstructured.NestedStringSlice(at(root, path[:end]), "required")
							require.NoError(t, err)
							require.Subset(t, test.Required, required, path[:end])
						}
					}
				}
			}
		})
	}
}
