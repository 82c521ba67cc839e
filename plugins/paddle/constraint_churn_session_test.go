// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"volcano.sh/volcano/pkg/scheduler/framework"
)

// A node is cordoned after the plan was made, before its first pod is bound: the gang starts in the same session, in one
// rack, although the fullest node, which Volcano's own scoring prefers, is elsewhere.
//
//	     r1                 r2             r3
//	 n1      n2         n3      n4         n5
//	4 GPUs  1 GPU      3 GPUs  2 GPUs     1 GPU of 8
//	cordoned
func TestNodeCordonedBetweenPlanAndBind(t *testing.T) {
	cordoning(1)
	group, workers := ring("j", 4)
	others := running(plainPods("o", "task", 1, resources{"cpu": "50", "memory": "400Gi", "nvidia.com/gpu": "7"}), "n5")
	c := newCluster(t, racked("", withProbe), gpuNode("n1", "r1", 4), gpuNode("n2", "r1", 1), gpuNode("n3", "r2", 3), gpuNode("n4", "r2", 2),
		gpuNode("n5", "r3", 8), started(podGroup("o", 1, nil)), others, group, workers)
	require.Equal(t, planning{placed: 2, stale: 1, taken: 3, refused: 1}, planned(t, c.session))
	require.Equal(t, []string{"n3", "n4"}, c.on("j"))
}

// A node is cordoned while half of the gang has its nodes: the others go as near as they still can.
//
//	         r1                           r2
//	 n1      n2      n3      n4      n5      n6      n7
//	2 GPUs  2 GPUs  2 GPUs  2 GPUs  2 GPUs  2 GPUs  2 GPUs
//	        cordoned
func TestNodeCordonedInTheMiddleOfAGang(t *testing.T) {
	cordoning(1, "j-worker-2")
	group, workers := ring("j", 4)
	c := newCluster(t, racked("", withProbe), gpuNode("n1", "r1", 2), gpuNode("n2", "r1", 2), gpuNode("n3", "r1", 2),
		gpuNode("n4", "r2", 2), gpuNode("n5", "r2", 2), gpuNode("n6", "r2", 2), gpuNode("n7", "r2", 2), group, workers)
	require.Equal(t, planning{placed: 2, stale: 1, taken: 3, refused: 1}, planned(t, c.session))
	require.Len(t, c.on("j"), 2)
	require.Subset(t, []string{"n1", "n2", "n3"}, c.on("j"))
}

// A job is deleted after its first pod got its node: nothing of it is bound, and the capacity goes to the next job at once.
//
//	     r1
//	 n1      n2
//	2 GPUs  2 GPUs
func TestJobDeletedWhilePlanned(t *testing.T) {
	a, ofA := ring("a", 4)
	b, ofB := ring("b", 4)
	c := newCluster(t, racked("", withProbe), gpuNode("n1", "r1", 2), gpuNode("n2", "r1", 2), ranked(a, "", 1), ofA, ranked(b, "", 2), ofB)
	probing(func(ssn *framework.Session) {
		ssn.AddEventHandler(&framework.EventHandler{AllocateFunc: func(event *framework.Event) {
			if event.Task.Name != "a-worker-0" {
				return
			}
			c.cache.DeletePodGroupV1beta1(a)
			for _, pod := range ofA {
				c.cache.DeletePod(pod)
			}
		}})
	})
	c.sessions(2, "b-worker-0", "b-worker-1", "b-worker-2", "b-worker-3")
	require.Equal(t, map[string]int{"n1": 2, "n2": 2}, c.count("b"))
}

// Pods of another scheduler come and go between two sessions, and one more than a node has capacity for.
//
//	     r1                 r2
//	 n1      n2         n3      n4
//	2 GPUs  2 GPUs     2 GPUs  2 GPUs
func TestTwoSchedulersShareTheNodes(t *testing.T) {
	foreign := func(name, node, gpus string) *corev1.Pod {
		pod := plainPods(name, "task", 1, resources{"cpu": "1", "nvidia.com/gpu": gpus})[0]
		pod.Spec.SchedulerName = "default-scheduler"
		pod.Annotations = map[string]string{}
		pod.Spec.NodeName, pod.Status.Phase = node, corev1.PodRunning
		return pod
	}
	c := newCluster(t, labelled(""), gpuNode("n1", "r1", 2), gpuNode("n2", "r1", 2), gpuNode("n3", "r2", 2), gpuNode("n4", "r2", 2))
	c.session()
	x, y := foreign("x", "n1", "1"), foreign("y", "n3", "2")
	c.add(x, y)
	a, ofA := ring("a", 3)
	c.add(ranked(a, "", 1), ofA)
	require.Equal(t, planning{placed: 1, taken: 3}, planned(t, c.session))
	require.Equal(t, map[string]int{"n1": 1, "n2": 2}, c.count("a"))

	// Two GPUs more are used on n4 than it has: Volcano leaves the node alone until that has ended, and so do plans.
	c.cache.DeletePod(y)
	over := foreign("z", "n4", "4")
	c.add(over)
	b, ofB := ring("b", 2)
	d, ofD := ring("d", 2)
	c.add(ranked(b, "", 2), ofB, ranked(d, "", 3), ofD)
	require.Equal(t, planning{placed: 1, noFit: 1, taken: 2}, planned(t, c.session))
	require.Equal(t, map[string]int{"n3": 2}, c.count("b"))
	require.Empty(t, c.count("d"))

	c.cache.DeletePod(over)
	require.Equal(t, planning{placed: 1, taken: 2}, planned(t, c.session))
	require.Equal(t, map[string]int{"n4": 2}, c.count("d"))
}

// A HyperNode is removed between two sessions: a gang that must be in one goes to the other, however much tighter the
// rest of the first one was, and the job that runs there does not grow out of it.
//
//	         r1 (removed)               r2
//	 n1    n2    n3    n4   n5      n6   n7   n8
//	[a 0] [a 1] [a 2]                               1 GPU each
func TestHyperNodeRemoved(t *testing.T) {
	r1, r2 := hyper{"r1", 1, "", []string{"n1", "n2", "n3", "n4", "n5"}}, hyper{"r2", 1, "", []string{"n6", "n7", "n8"}}
	ofA := pods("a", "worker", 4, onGPU)
	c := newCluster(t, shipped, within(started(podGroup("a", 3, map[string]int32{"worker": 3})), hardMode, 1),
		running(ofA[:3], "n1", "n2", "n3"))
	for i := range 8 {
		c.add(gpuNode(fmt.Sprintf("n%d", i+1), "", 1))
	}
	c.hyperNodes(r1, r2)
	c.session() // the network is known now

	c.hyperNodes(r2)
	b, ofB := ring("b", 2)
	c.add(within(b, hardMode, 1), ofB, ofA[3])
	require.Equal(t, planning{placed: 2, taken: 2}, planned(t, c.session))
	require.Equal(t, []string{"n6", "n7"}, c.on("b"))
	require.NotContains(t, c.bound(), "a-worker-3")
	require.Contains(t, c.podMessage("a-worker-3"), "networkTopology")
}
