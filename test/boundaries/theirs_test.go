// SPDX-License-Identifier: Apache-2.0

package boundaries

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/paddle-volcano/paddle-volcano/deploy"
)

// schema is a part of what an API server knows of a kind.
type schema map[string]any

func (s schema) child(name string) schema {
	found, _ := s[name].(map[string]any)
	return found
}

// at is the schema of a field, nil if there is none of that path.
func (s schema) at(path string) schema {
	for part := range strings.SplitSeq(strings.ReplaceAll(path, "[]", ".[]"), ".") {
		switch part {
		case "*":
			s = s.child("additionalProperties")
		case "[]":
			s = s.child("items")
		default:
			s = s.child("properties").child(part)
		}
	}
	return s
}

// Their manifests need no change: every field that those before us published is in our CRDs under the same path, of the
// same type, and takes any value that theirs took. Sources: api/v1 of paddle-operator v0.3.5 and its branch with sample
// sets; pkg/apis/kubeflow.org/v1 of Kubeflow's training operator 1.9.
func TestTheirFieldsAreOurs(t *testing.T) {
	for name, test := range map[string]struct {
		file, group string
		short       []string
		columns     []string
		subresource []string
		fields      map[string]string
		required    []string
	}{
		"paddle-operator": {
			file: "v1/crd.yaml", group: "batch.paddlepaddle.org", short: []string{"pdj"},
			columns: []string{"STATUS", "MODE", "PS", "WORKER", "AGE"}, subresource: []string{"status"},
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
			columns: []string{"State", "Age"}, subresource: []string{"scale", "status"},
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
			text, err := deploy.Files.ReadFile(test.file)
			require.NoError(t, err)
			crd := schema{}
			require.NoError(t, yaml.Unmarshal(text, &crd))
			require.Equal(t, "apiextensions.k8s.io/v1", crd["apiVersion"])
			spec := crd.child("spec")
			require.Equal(t, test.group, spec["group"])
			require.Equal(t, "Namespaced", spec["scope"])
			names := spec.child("names")
			require.Equal(t, []any{"PaddleJob", "paddlejobs", "paddlejob"}, []any{names["kind"], names["plural"], names["singular"]})
			for _, short := range test.short {
				require.Contains(t, names["shortNames"], short)
			}
			require.Len(t, spec["versions"], 1)
			version := schema(spec["versions"].([]any)[0].(map[string]any)) //nolint:errcheck // a test may panic
			require.Equal(t, "v1", version["name"])
			var columns []string
			for _, column := range version["additionalPrinterColumns"].([]any) { //nolint:errcheck // a test may panic
				columns = append(columns, schema(column.(map[string]any))["name"].(string)) //nolint:errcheck // a test may panic
			}
			require.Subset(t, columns, test.columns)
			for _, one := range test.subresource {
				require.Contains(t, version["subresources"], one)
			}
			root := version.child("schema").child("openAPIV3Schema")
			for kind, all := range test.fields {
				for group := range strings.FieldsSeq(all) {
					for _, path := range expanded(group) {
						found := root.at(path)
						require.NotNil(t, found, path)
						require.Equal(t, kind, found["type"], path)
						for _, limit := range []string{"enum", "minimum", "maximum", "pattern", "maxLength", "x-kubernetes-validations"} {
							require.NotContains(t, found, limit, path)
						}
					}
				}
			}
			for _, path := range parents(test.fields) {
				for _, one := range requiredIn(root.at(path)) {
					require.Contains(t, test.required, one, "%s needs it", path)
				}
			}
		})
	}
}

// parents are the paths of the objects and lists that lead to fields.
func parents(all map[string]string) (paths []string) {
	for _, groups := range all {
		for group := range strings.FieldsSeq(groups) {
			for _, path := range expanded(group) {
				for at := strings.LastIndexAny(path, ".["); at > 0; at = strings.LastIndexAny(path[:at], ".[") {
					paths = append(paths, path[:at])
				}
			}
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

func requiredIn(s schema) (names []string) {
	list, _ := s["required"].([]any)
	for _, name := range list {
		names = append(names, name.(string)) //nolint:errcheck // a test may panic
	}
	return names
}
