// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
)

// trainJob is what Kubeflow Trainer and JobSet make for a TrainJob of four pods with one GPU each. The order of the pods' names is
// not that of their indexes: 0, 2, 1, 3.
func trainJob(name string) (*scheduling.PodGroup, []*corev1.Pod) {
	group, workers := workload(kindTrainJob, name, 4, onGPU)
	group.Spec.MinMember = 4
	for i, pod := range workers {
		pod.OwnerReferences = ownedBy(kindKubernetesJob, name+"-node-0")
		pod.Labels["jobset.sigs.k8s.io/jobset-name"] = name
		pod.Annotations[paddlejob.CompletionIndexKey] = []string{"0", "2", "1", "3"}[i]
	}
	return group, workers
}

// Stock Volcano fills n1 first. The ranks of a ring that are neighbors share a node.
//
//	 r1        r2
//	 n1     n2    n3
//	3 GPUs   2 GPUs each
func TestTrainJobIsPlannedAsOneGang(t *testing.T) {
	group, workers := trainJob("t")
	each(workers, annotation(paddlejob.ResourceAnnotation, "worker"))
	c := newCluster(t, labelled(""), gpuNode("n1", "r1", 3), gpuNode("n2", "r2", 2), gpuNode("n3", "r2", 2), group, workers[:3])
	c.sessions(2)
	c.add(workers[3])
	require.Equal(t, planning{placed: 1, taken: 4}, planned(t, c.session))
	nodes := c.nodes()
	require.Equal(t, map[string]int{"n2": 2, "n3": 2}, c.count("t-"))
	require.Equal(t, nodes["t-pod-0"], nodes["t-pod-2"], "%v", nodes)

	// One is killed, and JobSet makes all of them again.
	c.run()
	for _, pod := range workers {
		c.remove(pod.Name)
	}
	c.add(workers)
	require.Equal(t, planning{placed: 1, taken: 4}, planned(t, c.session))
	require.Equal(t, map[string]int{"n2": 2, "n3": 2}, c.count("t-"))
}

// A TrainJob of another framework has no mark of Paddle.
func TestTrainJobsOfOtherFrameworksAreLeftAlone(t *testing.T) {
	group, workers := trainJob("t")
	c := newCluster(t, labelled(""), gpuNode("n1", "r1", 8), group, workers)
	require.Equal(t, planning{}, planned(t, c.session))
	require.Len(t, c.bound(), 4)
}
