// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// gpuNode is a node with GPUs, 8 CPUs for each of them, in a rack (a label).
func gpuNode(name, rack string, gpus int) *corev1.Node {
	n := node(name, resources{"cpu": strconv.Itoa(8 * gpus), "memory": "512Gi", "nvidia.com/gpu": strconv.Itoa(gpus)})
	n.Labels["rack"] = rack
	return n
}

var (
	onGPU = resources{"cpu": "1", "nvidia.com/gpu": "1"}
	onCPU = resources{"cpu": "2"}
)

// labelled is the shipped configuration with racks from a label, and more arguments.
func labelled(more string) string {
	return configuration(actionsAll, tier(1, "", withPaddle+"    arguments:\n      topology-labels: rack\n"+more), tier(2, "", ""))
}

// The job of deploy/docs/design/planner.md: 2 servers and 4 workers.
//
//	     r1               r2
//	 n1      n2       n3      n4
//	3 GPUs  1 GPU    2 GPUs  2 GPUs
func TestServersAndWorkersArePlacedAsOnePlan(t *testing.T) {
	c := newCluster(t, labelled(""),
		gpuNode("n1", "r1", 3), gpuNode("n2", "r1", 1), gpuNode("n3", "r2", 2), gpuNode("n4", "r2", 2),
		podGroup("j", 6, map[string]int32{"ps": 2, "worker": 4}), pods("j", "ps", 2, onCPU), pods("j", "worker", 4, onGPU))
	c.session()
	c.session()
	require.Equal(t, map[string]string{
		"j-ps-0": "n1", "j-ps-1": "n1", "j-worker-0": "n1", "j-worker-1": "n1", "j-worker-2": "n1", "j-worker-3": "n2",
	}, c.nodes())
}

// Two jobs of 4 GPUs each and two racks of 4: each takes one, in either order.
func TestPlan_JobsOfOneSessionDoNotShareResources(t *testing.T) {
	c := newCluster(t, labelled(""),
		gpuNode("n1", "r1", 2), gpuNode("n2", "r1", 2), gpuNode("n3", "r2", 2), gpuNode("n4", "r2", 2),
		podGroup("a", 4, map[string]int32{"worker": 4}), pods("a", "worker", 4, onGPU),
		podGroup("b", 4, map[string]int32{"worker": 4}), pods("b", "worker", 4, onGPU))
	c.session()
	c.session()
	racks := map[string]map[string]bool{"a": {}, "b": {}}
	for pod, node := range c.nodes() {
		racks[pod[:1]][map[string]string{"n1": "r1", "n2": "r1", "n3": "r2", "n4": "r2"}[node]] = true
	}
	require.Len(t, c.nodes(), 8)
	require.Len(t, racks["a"], 1)
	require.Len(t, racks["b"], 1)
}

// A gang that fits once pods have terminated is planned on what they will free. The node in the other rack,
// which is free now, is left to the next job.
//
//	        r1              r2
//	   n1        n2         n3
//	1 GPU each              1 GPU
//	[old 0]   [old 1]
//	both terminate
func TestPlanOnResourcesOfTerminatingPods(t *testing.T) {
	now := metav1.Now()
	old := each(running(plainPods("old", "task", 2, onGPU), "n1", "n2"), func(pod *corev1.Pod) { pod.DeletionTimestamp = &now })
	c := newCluster(t, labelled(""), gpuNode("n1", "r1", 1), gpuNode("n2", "r1", 1), gpuNode("n3", "r2", 1),
		started(podGroup("old", 2, nil)), old)
	unchanged := func(*corev1.Pod) {}
	aged(c, "j", 2, 1, unchanged)
	aged(c, "next", 1, 2, unchanged)
	c.session()
	require.Equal(t, map[string]string{"next-worker-0": "n3"}, c.nodes())
	c.remove("old-task-0")
	c.remove("old-task-1")
	c.session()
	require.Equal(t, map[string]string{"j-worker-0": "n1", "j-worker-1": "n2", "next-worker-0": "n3"}, c.nodes())
}
