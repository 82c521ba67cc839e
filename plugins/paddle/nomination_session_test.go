// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
)

// withNomination writes a nomination into a pod, as Volcano does with the status of a pod that stays pending.
func withNomination(pod *corev1.Pod, node string) { pod.Status.NominatedNodeName = node }

// A nomination that does not hold is ignored: the gang is placed as if there were none.
//
//	     r1              r2
//	 n1      n2      n3      n4
//	1 GPU   1 GPU   2 GPUs  2 GPUs
func TestNominationsThatDoNotHoldAreIgnored(t *testing.T) {
	for _, test := range []struct {
		name    string
		change  func(c *cluster, group *scheduling.PodGroup, workers []*corev1.Pod)
		planned planning
		nodes   map[string]string
	}{
		{"the node is full", func(c *cluster, _ *scheduling.PodGroup, workers []*corev1.Pod) {
			c.add(podGroup("o", 1, nil), running(plainPods("o", "task", 1, onGPU), "n1"))
			withNomination(workers[0], "n1")
		}, planning{placed: 1, taken: 4}, map[string]string{"j-worker-0": "n3", "j-worker-1": "n3", "j-worker-2": "n4", "j-worker-3": "n4"}},
		{"the node is full with the others that are nominated", func(_ *cluster, _ *scheduling.PodGroup, workers []*corev1.Pod) {
			for _, worker := range workers[:3] {
				withNomination(worker, "n3")
			}
		}, planning{placed: 1, taken: 2}, map[string]string{"j-worker-0": "n3", "j-worker-1": "n3", "j-worker-2": "n4", "j-worker-3": "n4"}},
		{"there is no such node", func(_ *cluster, _ *scheduling.PodGroup, workers []*corev1.Pod) {
			withNomination(workers[0], "n9")
		}, planning{placed: 1, taken: 4}, map[string]string{"j-worker-0": "n3", "j-worker-1": "n3", "j-worker-2": "n4", "j-worker-3": "n4"}},
		{"a predicate refuses the node", func(c *cluster, _ *scheduling.PodGroup, workers []*corev1.Pod) {
			c.add(tainted(gpuNode("n5", "r1", 4), "for-others"))
			withNomination(workers[0], "n5")
		}, planning{placed: 1, taken: 4}, map[string]string{"j-worker-0": "n3", "j-worker-1": "n3", "j-worker-2": "n4", "j-worker-3": "n4"}},
		{"the node is in another domain than the members", func(_ *cluster, group *scheduling.PodGroup, workers []*corev1.Pod) {
			within(group, hardMode, 1)
			running(workers[:1], "n3")
			withNomination(workers[1], "n1")
			withNomination(workers[2], "n4")
		}, planning{placed: 1, taken: 2}, map[string]string{"j-worker-0": "n3", "j-worker-1": "n3", "j-worker-2": "n4", "j-worker-3": "n4"}},
		{"the nodes are in two domains", func(_ *cluster, group *scheduling.PodGroup, workers []*corev1.Pod) {
			within(group, hardMode, 1)
			withNomination(workers[0], "n1")
			withNomination(workers[1], "n3")
		}, planning{placed: 1, taken: 4}, map[string]string{"j-worker-0": "n3", "j-worker-1": "n3", "j-worker-2": "n4", "j-worker-3": "n4"}},
		{"the domain does not hold the others", func(_ *cluster, group *scheduling.PodGroup, workers []*corev1.Pod) {
			within(group, hardMode, 1)
			withNomination(workers[0], "n1")
		}, planning{placed: 1, taken: 4}, map[string]string{"j-worker-0": "n3", "j-worker-1": "n3", "j-worker-2": "n4", "j-worker-3": "n4"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			group, workers := ring("j", 4)
			c := newCluster(t, labelled(""), gpuNode("n1", "r1", 1), gpuNode("n2", "r1", 1), gpuNode("n3", "r2", 2), gpuNode("n4", "r2", 2))
			test.change(c, group, workers)
			c.add(group, workers)
			counts := planned(t, c.session)
			nodes := c.nodes()
			delete(nodes, "o-task-0")
			require.Equal(t, test.nodes, nodes)
			require.Equal(t, test.planned, counts)
		})
	}
}

// A group of a SubGroupPolicy stays in the domain of its job, also if a pod is nominated elsewhere. The nomination of
// the other one is honoured.
//
//	     r1              r2
//	 n1      n2      n3      n4
//	1 GPU   1 GPU   2 GPUs  2 GPUs
func TestNominationOutsideTheJobsDomainIsIgnored(t *testing.T) {
	group, workers := ring("j", 4)
	grouped(within(group, hardMode, 1), 2, hardMode, 1)
	inGroups(workers, 2)
	withNomination(workers[2], "n1")
	withNomination(workers[3], "n4")
	c := newCluster(t, labelled(""), gpuNode("n1", "r1", 1), gpuNode("n2", "r1", 1), gpuNode("n3", "r2", 2), gpuNode("n4", "r2", 2), group, workers)
	counts := planned(t, c.session)
	require.Equal(t, []string{"n3", "n4"}, c.on("j-"))
	require.Len(t, c.bound(), 4)
	require.Zero(t, counts.noFit, "%+v", counts)
	require.InDelta(t, 3, counts.taken, 0, "%+v", counts)
}

// A gang whose pods differ is placed without a plan; a nomination outside of the HyperNode that is tried does not keep it
// from starting.
//
//	  r1      r2
//	  n1      n2
//	2 GPUs  3 GPUs
func TestIgnoredNominationDoesNotCountWithoutAPlan(t *testing.T) {
	group, workers := ring("j", 2)
	workers[0].Spec.Containers[0].Resources.Requests = resources{"cpu": "1", "nvidia.com/gpu": "2"}.list()
	withNomination(workers[0], "n1")
	c := newCluster(t, configuration(actionsAll, tier(1, "", withPaddle), tier(2, "", withTopologyAware)),
		gpuNode("n1", "", 2), gpuNode("n2", "", 3), within(group, hardMode, 1), workers)
	c.hyperNodes(hyper{name: "r1", tier: 1, nodes: []string{"n1"}}, hyper{name: "r2", tier: 1, nodes: []string{"n2"}})
	counts := planned(t, c.session)
	require.Equal(t, map[string]string{"j-worker-0": "n2", "j-worker-1": "n2"}, c.nodes())
	require.Zero(t, counts.placed, "%+v", counts)
}

// Such a gang is not planned again for each of its nominations.
//
//	 n1      n2
//	2 GPUs  2 GPUs
func TestIgnoredNominationIsNoReasonToPlanAgain(t *testing.T) {
	group, workers := ring("j", 3)
	workers[0].Spec.Containers[0].Resources.Requests = resources{"cpu": "1", "nvidia.com/gpu": "2"}.list()
	withNomination(workers[0], "n9")
	c := newCluster(t, labelled(""), gpuNode("n1", "r1", 2), gpuNode("n2", "r1", 2), group, workers)
	require.Equal(t, planning{noFit: 1}, planned(t, c.session))
	require.Len(t, c.bound(), 3)
}

// Capacity that is not idle yet is nominated as well.
//
//	 n1                    n2
//	1 GPU: [low, ending]  1 GPU
func TestNomination_OfFutureResourcesIsHonored(t *testing.T) {
	group, workers := ring("j", 2)
	withNomination(workers[0], "n1")
	low := running(plainPods("low", "task", 1, onGPU), "n1")
	low[0].DeletionTimestamp = &metav1.Time{}
	c := newCluster(t, labelled(""), gpuNode("n1", "r1", 1), gpuNode("n2", "r1", 1), podGroup("low", 1, nil), low, group, workers)
	require.Equal(t, planning{placed: 1, taken: 1}, planned(t, c.session))
	c.remove("low-task-0")
	require.Equal(t, planning{placed: 1, taken: 1}, planned(t, c.session))
	require.Equal(t, map[string]string{"j-worker-0": "n1", "j-worker-1": "n2"}, c.nodes())
}

// Nominations that hold together are honoured, although n4 would hold all four.
//
//	     r1              r2
//	 n1      n2      n3      n4
//	2 GPUs  1 GPU   1 GPU   4 GPUs
func TestNominationOfAGroupIsHonored(t *testing.T) {
	for _, hard := range []bool{false, true} {
		group, workers := ring("j", 3)
		if hard {
			within(group, hardMode, 1)
		}
		for i, node := range []string{"n1", "n1", "n2"} {
			withNomination(workers[i], node)
		}
		c := newCluster(t, labelled(""), gpuNode("n1", "r1", 2), gpuNode("n2", "r1", 1), gpuNode("n3", "r2", 1), gpuNode("n4", "r2", 4), group, workers)
		require.Equal(t, planning{placed: 1}, planned(t, c.session))
		require.Equal(t, map[string]string{"j-worker-0": "n1", "j-worker-1": "n1", "j-worker-2": "n2"}, c.nodes())
	}
}

// A nomination that was ignored is there again in a pod that waits on: neither the pod that the informers share nor what
// is written to the API server loses it.
//
//	n1 (1 GPU, taken)   n2 (1 GPU)
func TestNominationsAreThereAgainAfterwards(t *testing.T) {
	inEveryPlacementWithProbe(t, "waits", func(t *testing.T, configuration string) {
		refusing("j-worker-1")
		group, workers := ring("j", 2)
		withNomination(workers[0], "n1")
		withNomination(workers[1], "n1")
		shared := map[string]*corev1.Pod{}
		for _, pod := range workers {
			shared[pod.Name] = pod.DeepCopy()
		}
		c := newCluster(t, configuration, gpuNode("n1", "r1", 1), gpuNode("n2", "r1", 2),
			podGroup("o", 1, nil), running(plainPods("o", "task", 1, onGPU), "n1"), group, workers)
		for range 2 {
			require.InDelta(t, 1, planned(t, c.session).taken, 0, "the hint stood over the nomination")
			require.Equal(t, []string{"o-task-0"}, c.bound())
			for name, pod := range shared {
				require.Equal(t, pod, c.pod(name), name)
				require.Equal(t, "n1", c.statuses("j")[name].NominatedNodeName, name)
			}
		}
	})
}

// A gang reclaims, which is discarded since it is too large; Volcano writes nominations all the same. When other nodes
// come that hold the gang, it goes there.
//
//	     r1 (queue a runs)            r2 (later)
//	 n1                 n2           n3      n4
//	2 GPUs: [low 0, 1] 2 GPUs       4 GPUs  4 GPUs
func TestNominationsOfADiscardedReclaim(t *testing.T) {
	configuration := configuration(actionsReclaim, tier(1, "", withPaddle+"    arguments:\n      topology-labels: rack\n"), tier(2, "", ""))
	for _, hard := range []bool{false, true} {
		c := newPriorities(t, configuration, gpuNode("n1", "r1", 2), gpuNode("n2", "r1", 2))
		c.add(inQueue(started(ranked(podGroup("low", 1, nil), "low", 1)), "a"), running(plainPods("low", "task", 4, onGPU), "n1", "n1", "n2"))
		c.add(queue("a", nil), queue("b", nil))
		group, workers := ring("high", 6)
		if hard {
			within(group, hardMode, 1)
		}
		c.add(inQueue(ranked(group, "high", 9), "b"), workers)
		c.session()
		require.Empty(t, c.evicted())
		nominated := 0
		for name, status := range c.statuses("high") {
			if status.NominatedNodeName != "" {
				nominated++
				c.change(name, func(pod *corev1.Pod) { withNomination(pod, status.NominatedNodeName) })
			}
		}
		require.NotZero(t, nominated, "Volcano wrote nominations of a reclaim that it discarded")

		c.add(gpuNode("n3", "r2", 4), gpuNode("n4", "r2", 4))
		counts := planned(t, c.session)
		require.Equal(t, []string{"n3", "n4"}, c.on("high-"))
		require.Len(t, prefixed(c.bound(), "high-"), 6)
		require.Equal(t, planning{placed: 1, taken: 6}, counts)
	}
}
