// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
)

// Workers refuse each other's node, or take the same port of it: one on each, in the one rack that has four nodes.
//
//	    r1                     r2
//	 n1      n2        n3    n4    n5    n6
//	4 GPUs  4 GPUs    2 GPUs each
func TestWorkersThatCannotShareANodeArePlannedApart(t *testing.T) {
	for name, apart := range map[string]func([]*corev1.Pod) []*corev1.Pod{
		"anti-affinity": func(pods []*corev1.Pod) []*corev1.Pod { return apartFrom(pods, "j", "worker", corev1.LabelHostname) },
		"host port":     withPort,
		"host network": func(pods []*corev1.Pod) []*corev1.Pod {
			return each(withPort(pods), func(pod *corev1.Pod) {
				pod.Spec.HostNetwork = true
				pod.Spec.Containers[0].Ports[0].HostPort = 0
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			group, workers := ring("j", 4)
			c := newCluster(t, labelled(""), gpuNode("n1", "r1", 4), gpuNode("n2", "r1", 4),
				gpuNode("n3", "r2", 2), gpuNode("n4", "r2", 2), gpuNode("n5", "r2", 2), gpuNode("n6", "r2", 2), group, apart(workers))
			require.Equal(t, planning{placed: 1, taken: 4}, planned(t, c.session))
			require.Equal(t, map[string]int{"n3": 1, "n4": 1, "n5": 1, "n6": 1}, c.count("j"))
		})
	}
}

// Servers and workers take the same port, as with the operator's hostNetwork: no two pods of the job share a node.
//
//	    r1                     r2
//	 n1      n2        n3    n4    n5    n6
//	4 GPUs  4 GPUs    2 GPUs each
func TestServersAndWorkersOnOnePortArePlannedApart(t *testing.T) {
	c := newCluster(t, labelled(""), gpuNode("n1", "r1", 4), gpuNode("n2", "r1", 4),
		gpuNode("n3", "r2", 2), gpuNode("n4", "r2", 2), gpuNode("n5", "r2", 2), gpuNode("n6", "r2", 2),
		podGroup("j", 4, twoTwo), withPort(pods("j", "ps", 2, onCPU)), withPort(pods("j", "worker", 2, onGPU)))
	require.Equal(t, planning{placed: 1, taken: 4}, planned(t, c.session))
	require.Equal(t, map[string]int{"n3": 1, "n4": 1, "n5": 1, "n6": 1}, c.count("j"))
}

// Others hold the port on two nodes of the rack that would be the best.
//
//	     r1                 r2
//	 n1      n2         n3      n4
//	3 GPUs  3 GPUs     1 GPU   1 GPU
//	[port]  [port]
func TestPortsThatOthersHoldAreKnown(t *testing.T) {
	group, workers := ring("j", 2)
	others := running(withPort(plainPods("o", "web", 2, oneCPU)), "n1", "n2")
	c := newCluster(t, labelled(""), gpuNode("n1", "r1", 3), gpuNode("n2", "r1", 3), gpuNode("n3", "r2", 1), gpuNode("n4", "r2", 1),
		started(podGroup("o", 2, nil)), others, group, withPort(workers))
	require.Equal(t, planning{placed: 1, taken: 2}, planned(t, c.session))
	require.Equal(t, []string{"n3", "n4"}, c.on("j"))
}

// Two jobs take the same port: what was learned for the first one is not true any more for the second.
//
//	        r1              r2
//	 n1     n2           n3      n4
//	2 GPUs each         4 GPUs each
func TestJobsOnOnePort(t *testing.T) {
	a, ofA := ring("a", 2)
	b, ofB := ring("b", 2)
	c := newCluster(t, labelled(""), gpuNode("n1", "r1", 2), gpuNode("n2", "r1", 2), gpuNode("n3", "r2", 4), gpuNode("n4", "r2", 4),
		ranked(a, "", 1), withPort(ofA), ranked(b, "", 2), withPort(ofB))
	require.Equal(t, planning{placed: 2, taken: 4}, planned(t, c.session))
	require.Equal(t, []string{"n1", "n2"}, c.on("a"))
	require.Equal(t, []string{"n3", "n4"}, c.on("b"))
}

// Too few nodes for workers that want one each: nothing is bound, whatever is free, until a node comes.
//
//	        r1
//	 n1      n2      n3
//	4 GPUs  4 GPUs  (comes later)
func TestGangOfApartWorkersIsWholeOrAbsent(t *testing.T) {
	group, workers := ring("j", 3)
	c := newCluster(t, labelled(""), gpuNode("n1", "r1", 4), gpuNode("n2", "r1", 4), group, withPort(workers))
	c.sessions(3)
	require.Contains(t, c.condition("j").Message, "1 of 3 workers has no node: each pod takes host port 7000 and so needs a node of its own, and only 2 nodes can take one each")
	c.add(gpuNode("n3", "r1", 1))
	require.Equal(t, planning{placed: 1, taken: 3}, planned(t, c.session))
	require.Equal(t, []string{"n1", "n2", "n3"}, c.on("j"))
}

// A job that restarts one worker finds the nodes of the other two taken for it.
//
//	              r1                r2
//	 n1          n2          n3     n4
//	[w0] 3 free [w1] 3 free 1 GPU  1 GPU
func TestLostWorkerKeepsApartFromThoseThatRun(t *testing.T) {
	group, workers := ring("j", 3)
	apartFrom(workers, "j", "worker", corev1.LabelHostname)
	running(workers[:2], "n1", "n2")
	c := newCluster(t, labelled(""), gpuNode("n1", "r1", 4), gpuNode("n2", "r1", 4), gpuNode("n3", "r1", 1), gpuNode("n4", "r2", 1),
		started(group), workers)
	require.Equal(t, planning{placed: 1, taken: 1}, planned(t, c.session))
	require.Equal(t, "n3", c.nodes()["j-worker-2"])
}

// The trainers go where the data server of another job runs, which is in the dearer rack.
//
//	     r1                 r2
//	 n1      n2         n3      n4
//	4 GPUs  4 GPUs     2 GPUs  1 GPU
//	                   [data]
func TestPodAffinityToAnotherJob(t *testing.T) {
	group, workers := ring("j", 3)
	c := newCluster(t, labelled(""), gpuNode("n1", "r1", 4), gpuNode("n2", "r1", 4), gpuNode("n3", "r2", 2), gpuNode("n4", "r2", 1),
		started(podGroup("data", 1, nil)), running(pods("data", "ps", 1, oneCPU), "n3"), group, beside(workers, "data", "ps", "rack"))
	require.Equal(t, planning{placed: 1, taken: 3}, planned(t, c.session))
	require.Equal(t, map[string]int{"n3": 2, "n4": 1}, c.count("j"))
}

// Two jobs whose workers keep out of each other's racks: what the first one's plan means for the second is seen at once.
//
//	     r1                 r2
//	 n1      n2         n3      n4
//	2 GPUs  2 GPUs     2 GPUs  2 GPUs
func TestJobsThatKeepOutOfEachOthersRack(t *testing.T) {
	a, ofA := ring("a", 2)
	b, ofB := ring("b", 2)
	apartFrom(ofA, "b", "worker", "rack")
	apartFrom(ofB, "a", "worker", "rack")
	c := newCluster(t, labelled(""), gpuNode("n1", "r1", 2), gpuNode("n2", "r1", 2), gpuNode("n3", "r2", 2), gpuNode("n4", "r2", 2),
		ranked(a, "", 1), ofA, ranked(b, "", 2), ofB)
	require.Equal(t, planning{placed: 2, taken: 4}, planned(t, c.session))
	require.Equal(t, map[string]int{"n1": 2}, c.count("a"))
	require.Equal(t, map[string]int{"n3": 2}, c.count("b"))
}

// Two jobs of one worker, alike in all, that may not be in one rack: the node that the first one leaves half empty would be
// the best for the second one too.
//
//	 r1         r2
//	 n1         n2
//	2 GPUs     4 GPUs
func TestJobsThatAreAlikeKeepOutOfEachOthersRack(t *testing.T) {
	c := newCluster(t, labelled(""), gpuNode("n1", "r1", 2), gpuNode("n2", "r2", 4))
	for i, job := range []string{"a", "b"} {
		group, worker := ring(job, 1)
		apartFrom(withLabel(worker, "team", "t"), "", "", "rack")
		worker[0].Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector.MatchLabels = map[string]string{"team": "t"}
		c.add(ranked(group, "", int64(i)), worker)
	}
	require.Equal(t, planning{placed: 2, taken: 2}, planned(t, c.session))
	require.Equal(t, map[string]string{"a-worker-0": "n1", "b-worker-0": "n2"}, c.nodes())
}

// What the planner does not know of is found out by predicates: one worker for each rack. A plan is made once more, and
// then ordinary scoring has its way; the gang starts at once.
//
//	   r1              r2              r3              r4
//	n1      n2      n3      n4      n5      n6      n7      n8
//	             4 GPUs each
func TestWorkersOfDifferentRacks(t *testing.T) {
	for name, restrict := range map[string]func([]*corev1.Pod){
		"anti-affinity": func(pods []*corev1.Pod) { apartFrom(pods, "j", "worker", "rack") },
		"spread": func(pods []*corev1.Pod) {
			each(pods, func(pod *corev1.Pod) {
				pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
					MaxSkew: 1, TopologyKey: "rack", WhenUnsatisfiable: corev1.DoNotSchedule,
					LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{paddlejob.JobNameLabel: "j"}},
				}}
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			group, workers := ring("j", 4)
			restrict(workers)
			c := newCluster(t, labelled(""), group, workers)
			for i := range 8 {
				c.add(gpuNode(fmt.Sprintf("n%d", i+1), fmt.Sprintf("r%d", i/2+1), 4))
			}
			counts := planned(t, c.session)
			racks := map[string]bool{}
			for _, node := range c.on("j") {
				racks[fmt.Sprintf("r%d", (node[1]-'1')/2+1)] = true
			}
			require.Len(t, racks, 4)
			require.LessOrEqual(t, counts.placed, 2.0)
			require.LessOrEqual(t, counts.refused, 2.0)
		})
	}
}
