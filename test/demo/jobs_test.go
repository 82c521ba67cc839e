// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// The demo judges by numbers of its own; they must be those of the manifests.
func TestJobsAgreeWithTheirManifests(t *testing.T) {
	for _, job := range Jobs() {
		t.Run(job.Name, func(t *testing.T) {
			objects, err := job.objects()
			require.NoError(t, err)
			want := map[string]int{}
			for _, object := range objects {
				switch object.GetKind() {
				case "PaddleJob":
					require.False(t, job.Raw)
					for _, role := range []string{"ps", "worker", "heter"} {
						if replicas, found, err := unstructured.NestedInt64(object.Object, "spec", role, "replicas"); found {
							require.NoError(t, err)
							want[role] = int(replicas)
						}
					}
				case "Job":
					require.True(t, job.Raw)
					tasks, _, err := unstructured.NestedSlice(object.Object, "spec", "tasks")
					require.NoError(t, err)
					for _, task := range tasks {
						fields, ok := task.(map[string]any)
						require.True(t, ok)
						name, _, err := unstructured.NestedString(fields, "name")
						require.NoError(t, err)
						replicas, _, err := unstructured.NestedInt64(fields, "replicas")
						require.NoError(t, err)
						want[name] = int(replicas)
					}
				}
			}
			got := map[string]int{}
			for _, role := range job.Roles {
				got[role.Name] = role.Pods
			}
			require.Equal(t, want, got)
		})
	}
}

func TestJobNamesAreNamespacesOfTheirOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, job := range Jobs() {
		require.False(t, seen[job.Name], job.Name)
		seen[job.Name] = true
	}
}

// too-large shows something only while its sum fits and one worker too many is what does not.
func TestTooLargeExceedsTheClusterByOneWorker(t *testing.T) {
	jobs := Jobs()
	objects, err := jobs[len(jobs)-1].objects()
	require.NoError(t, err)
	workers, _, err := unstructured.NestedInt64(objects[0].Object, "spec", "worker", "replicas")
	require.NoError(t, err)
	containers, _, err := unstructured.NestedSlice(objects[0].Object, "spec", "worker", "template", "spec", "containers")
	require.NoError(t, err)
	container, ok := containers[0].(map[string]any)
	require.True(t, ok)
	perWorker, _, err := unstructured.NestedInt64(container, "resources", "limits", "nvidia.com/gpu")
	require.NoError(t, err)

	total, fit := int64(0), int64(0)
	for _, node := range sandbox.Demo().Nodes() {
		gpus := node.Status.Allocatable["nvidia.com/gpu"]
		total += gpus.Value()
		fit += gpus.Value() / perWorker
	}
	require.LessOrEqual(t, workers*perWorker, total)
	require.Equal(t, fit+1, workers)
}
