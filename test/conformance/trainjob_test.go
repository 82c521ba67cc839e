// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/paddle-volcano/paddle-volcano/deploy"
	"github.com/paddle-volcano/paddle-volcano/test/conformance"
	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
)

// The pods of a TrainJob form one job with ranks in the order of their indexes, whether the launcher or a front end starts them.
func TestTrainJobsTrain(t *testing.T) {
	objects, err := manifests.Read(deploy.Files, "trainer/runtime.yaml")
	require.NoError(t, err)
	jobs, _, err := unstructured.NestedSlice(objects[0].Object, "spec", "template", "spec", "replicatedJobs")
	require.NoError(t, err)
	template, _, err := unstructured.NestedMap(jobs[0].(map[string]any), "template", "spec", "template") //nolint:errcheck,forcetypeassert // the test fails
	require.NoError(t, err)
	pod := &corev1.Pod{}
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(template, pod))
	require.Equal(t, "PET_NNODES", pod.Spec.Containers[0].Env[0].Name, "it is first, because the others refer to it")

	// What Trainer, JobSet and Kubernetes add.
	pod.Spec.Containers[0].Env[0].Value = "4"
	pod.Labels["batch.kubernetes.io/job-name"], pod.Labels["jobset.sigs.k8s.io/jobset-name"] = "llm-node-0", "llm"
	releases := rules.Releases()
	for i := range 4 {
		index := strconv.Itoa(i)
		pod.Annotations = map[string]string{"batch.kubernetes.io/job-completion-index": index}
		env, err := conformance.Environment(pod, nil)
		require.NoError(t, err)
		launcher, err := rules.Launch(env, "10.0.0."+index, releases[len(releases)-1])
		require.NoError(t, err)
		require.Equal(t, []any{4, i, "llm-node-0-0.llm:29500", i == 0, fmt.Sprintf("llm-node-0-%d.llm", i)},
			[]any{launcher.Nodes, launcher.Rank, launcher.Master, launcher.StartsMaster, launcher.Host})
		require.Equal(t, []string{"4", index, index, "llm-node-0-0.llm", "29500"},
			[]string{env["NNODES"], env["RANK"], env["NODE_RANK"], env["MASTER_ADDR"], env["MASTER_PORT"]})
	}
}
