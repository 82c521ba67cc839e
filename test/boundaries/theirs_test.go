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
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
)

// at is the schema of a field, nil if there is none of that path.
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

// Their manifests need no change: every field that those before us published is in our CRDs under the same path, of the
// same type, and takes any value that theirs took. Sources: api/v1 of paddle-operator v0.3.5 and its branch with sample
// sets; pkg/apis/kubeflow.org/v1 of Kubeflow's training operator 1.9.
func TestTheirFieldsAreOurs(t *testing.T) {
	for name, test := range map[string]struct {
		file, group string
		short       []string
		columns     []string
		scale       bool
		// without are the limits that no field has.
		without  []string
		fields   map[string]string
		required []string
	}{
		"paddle-operator": {
			file: "v1/crd.yaml", group: "batch.paddlepaddle.org", short: []string{"pdj"}, scale: true,
			// Misspelt values are published. Of numbers and names those are refused with which no job could run (test/crd).
			without: []string{"enum", "pattern"},
			columns: []string{"STATUS", "MODE", "PS", "WORKER", "AGE"},
			fields: map[string]string{
				"string": "spec.{cleanPodPolicy,intranet} spec.schedulingPolicy.{queue,priorityClass} spec.sampleSetRef.{name,namespace,mountPath} " +
					"status.{phase,mode,elastic,startTime,completionTime}",
				"integer": "spec.{withGloo,elastic} spec.schedulingPolicy.minAvailable spec.{ps,worker,heter}.{replicas,requests,limits} " +
					"status.{ps,worker,heter}.{pending,starting,running,failed,succeeded,unknown} status.observedGeneration",
				"object": "spec.{ps,worker,heter}.template spec.schedulingPolicy.minResources",
				"array":  "status.{ps,worker,heter}.refs",
			},
			required: []string{"replicas", "name", "mountPath"},
		},
		"Kubeflow": {
			file: "v1/kubeflow-crd.yaml", group: "kubeflow.org",
			columns: []string{"State", "Age"}, scale: true,
			without: []string{"enum", "minimum", "maximum", "pattern", "maxLength", "x-kubernetes-validations"},
			fields: map[string]string{
				"string": "spec.runPolicy.{cleanPodPolicy,managedBy} spec.runPolicy.schedulingPolicy.{queue,priorityClass} " +
					"spec.paddleReplicaSpecs.*.restartPolicy status.{startTime,completionTime,lastReconcileTime} status.replicaStatuses.*.selector " +
					"status.conditions[].{type,status,reason,message,lastUpdateTime,lastTransitionTime}",
				"integer": "spec.runPolicy.{ttlSecondsAfterFinished,activeDeadlineSeconds,backoffLimit} " +
					"spec.runPolicy.schedulingPolicy.{minAvailable,scheduleTimeoutSeconds} spec.elasticPolicy.{minReplicas,maxReplicas,maxRestarts} " +
					"spec.paddleReplicaSpecs.*.replicas status.replicaStatuses.*.{active,succeeded,failed}",
				"boolean": "spec.runPolicy.suspend",
				"object":  "spec.paddleReplicaSpecs.*.template spec.runPolicy.schedulingPolicy.minResources status.replicaStatuses.*.labelSelector",
				"array":   "spec.elasticPolicy.metrics",
			},
			required: []string{"paddleReplicaSpecs", "type", "status"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			objects, err := manifests.Read(deploy.Files, test.file)
			require.NoError(t, err)
			crd := &apiextensionsv1.CustomResourceDefinition{}
			require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(objects[0].Object, crd))
			require.Equal(t, "apiextensions.k8s.io/v1", objects[0].GetAPIVersion())
			require.Equal(t, test.group, crd.Spec.Group)
			require.Equal(t, apiextensionsv1.NamespaceScoped, crd.Spec.Scope)
			names := crd.Spec.Names
			require.Equal(t, []string{"PaddleJob", "paddlejobs", "paddlejob"}, []string{names.Kind, names.Plural, names.Singular})
			require.Subset(t, names.ShortNames, test.short)
			require.Len(t, crd.Spec.Versions, 1)
			version := crd.Spec.Versions[0]
			require.Equal(t, "v1", version.Name)
			var columns []string
			for _, column := range version.AdditionalPrinterColumns {
				columns = append(columns, column.Name)
			}
			require.Subset(t, columns, test.columns)
			require.NotNil(t, version.Subresources.Status)
			require.Equal(t, test.scale, version.Subresources.Scale != nil)
			root, err := runtime.DefaultUnstructuredConverter.ToUnstructured(version.Schema.OpenAPIV3Schema)
			require.NoError(t, err)
			for kind, all := range test.fields {
				for group := range strings.FieldsSeq(all) {
					for _, path := range expanded(group) {
						found := at(root, path)
						require.Equal(t, kind, found["type"], path)
						for _, limit := range test.without {
							require.NotContains(t, found, limit, path)
						}
						// Of the objects and lists that lead to it none requires what they did not.
						for end := strings.LastIndexAny(path, ".["); end > 0; end = strings.LastIndexAny(path[:end], ".[") {
							required, _, err := unstructured.NestedStringSlice(at(root, path[:end]), "required")
							require.NoError(t, err)
							require.Subset(t, test.required, required, path[:end])
						}
					}
				}
			}
		})
	}
}
