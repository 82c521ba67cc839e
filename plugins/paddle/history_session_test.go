// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
)

// restart does what Volcano's Job controller does with a job that starts again: pods and PodGroup go, and come with the
// same names.
func (c *cluster) restart(group *scheduling.PodGroup, pods ...[]*corev1.Pod) {
	for _, list := range pods {
		for _, pod := range list {
			c.remove(pod.Name)
		}
	}
	c.cache.DeletePodGroupV1beta1(group)
	c.add(group)
	for _, list := range pods {
		c.add(list)
	}
}

// block fills nodes with a pod each that takes so many GPUs, and gives a function that takes these pods away.
func (c *cluster) block(gpus map[string]string) (free func()) {
	var names []string
	for node, amount := range gpus {
		pod := plainPods("block-"+node, "x", 1, resources{"nvidia.com/gpu": amount})[0]
		pod.Spec.NodeName, pod.Status.Phase = node, corev1.PodRunning
		c.add(podGroup("block-"+node, 1, nil), pod)
		names = append(names, pod.Name)
	}
	return func() {
		for _, name := range names {
			c.remove(name)
		}
	}
}

// fail lets a pod fail that runs.
func (c *cluster) fail(name string) {
	c.change(name, func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed })
}

// The gang of two starts on n2, as n1 is full. When it starts again, n1 is free as well, and its name comes first.
//
//	  r1            r2
//	  n1            n2
//	2 GPUs        2 GPUs
func TestRestartKeepsItsPlace(t *testing.T) {
	gang := func(job string) (*scheduling.PodGroup, []*corev1.Pod) {
		return podGroup(job, 2, map[string]int32{"worker": 2}), pods(job, "worker", 2, onGPU)
	}
	begin := func(t *testing.T) *cluster {
		c := newCluster(t, labelled(""), gpuNode("n1", "r1", 2), gpuNode("n2", "r2", 2))
		free := c.block(map[string]string{"n1": "1"})
		group, workers := gang("j")
		c.add(group, workers)
		c.session()
		require.Equal(t, map[string]int{"n2": 2}, c.counts("j"))
		c.run()
		free()
		return c
	}
	again := func(c *cluster, job string) map[string]int {
		group, workers := gang(job)
		c.restart(group, workers)
		c.session()
		return c.counts(job)
	}

	t.Run("though another place is as good", func(t *testing.T) {
		require.Equal(t, map[string]int{"n2": 2}, again(begin(t), "j"))
	})
	t.Run("many times", func(t *testing.T) {
		c := begin(t)
		for range 3 {
			require.Equal(t, map[string]int{"n2": 2}, again(c, "j"))
			c.run()
		}
	})
	t.Run("not if a preference of its pods is against it", func(t *testing.T) {
		c := begin(t)
		shunned2 := gpuNode("n2", "r2", 2)
		shunned2.Spec.Taints = []corev1.Taint{shunned()}
		c.add(shunned2)
		require.Equal(t, map[string]int{"n1": 2}, again(c, "j"))
	})
	t.Run("but another job does not take it", func(t *testing.T) {
		c := begin(t)
		for _, name := range []string{"j-worker-0", "j-worker-1"} {
			c.remove(name)
		}
		group, workers := gang("k")
		c.add(group, workers)
		c.session()
		require.Equal(t, map[string]int{"n1": 2}, c.counts("k"))
	})
	t.Run("not where a pod failed", func(t *testing.T) {
		c := begin(t)
		c.fail("j-worker-1")
		c.session()
		require.Equal(t, map[string]int{"n1": 2}, again(c, "j"))
	})
	t.Run("where a pod failed, if no other node is left", func(t *testing.T) {
		c := begin(t)
		c.fail("j-worker-1")
		c.session()
		c.block(map[string]string{"n1": "1"})
		require.Equal(t, map[string]int{"n2": 2}, again(c, "j"))
	})
	t.Run("where a pod of another job failed", func(t *testing.T) {
		c := begin(t)
		other := pods("k", "worker", 1, onCPU)
		other[0].Spec.NodeName, other[0].Status.Phase = "n2", corev1.PodFailed
		c.add(podGroup("k", 1, nil), other)
		require.Equal(t, map[string]int{"n2": 2}, again(c, "j"))
	})
	t.Run("where a pod failed before another succeeded", func(t *testing.T) {
		c := begin(t)
		c.fail("j-worker-1")
		c.session()
		c.change("j-worker-0", func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodSucceeded })
		c.session()
		require.Equal(t, map[string]int{"n2": 2}, again(c, "j"))
	})
	t.Run("where its pods were preempted", func(t *testing.T) {
		c := begin(t)
		c.change("j-worker-1", func(pod *corev1.Pod) {
			pod.Status.Phase = corev1.PodFailed
			pod.Status.Conditions = disrupted(corev1.PodReasonPreemptionByScheduler)
		})
		c.session()
		require.Equal(t, map[string]int{"n2": 2}, again(c, "j"))
	})
}

// The gang of 4 starts on two nodes of r1, as 2 GPUs of n3 are taken. When it starts again, n3 holds it whole, and nothing
// of its ring crosses a border any more: it moves. With 3 GPUs n3 is no better than where it ran.
//
//	      r1              r2
//	  n1      n2          n3
//	2 GPUs  2 GPUs      4 GPUs
func TestRestartMovesToAPlaceThatIsClearlyBetter(t *testing.T) {
	for name, test := range map[string]struct {
		n3   int
		want map[string]int
	}{
		"nothing crosses a border": {4, map[string]int{"n3": 4}},
		"not better":               {3, map[string]int{"n1": 2, "n2": 2}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, labelled(""), gpuNode("n1", "r1", 2), gpuNode("n2", "r1", 2), gpuNode("n3", "r2", test.n3))
			free := c.block(map[string]string{"n3": "2"})
			group, workers := podGroup("j", 4, map[string]int32{"worker": 4}), pods("j", "worker", 4, onGPU)
			c.add(group, workers)
			c.session()
			require.Equal(t, map[string]int{"n1": 2, "n2": 2}, c.counts("j"))
			c.run()
			free()
			c.restart(podGroup("j", 4, map[string]int32{"worker": 4}), pods("j", "worker", 4, onGPU))
			c.session()
			require.Equal(t, test.want, c.counts("j"))
		})
	}
}

// A server and 3 workers start on three nodes, 4M over borders of nodes; when they start again, two nodes can hold them. The best
// plan then has the server with 2 of the workers on n4, which leaves 2M.
//
//	              r1
//	  n1      n2      n3      n4
//	1 GPU   1 GPU   1 GPU   2 GPUs
func TestKeepPlacePercentSaysWhatIsClearlyBetter(t *testing.T) {
	for name, test := range map[string]struct {
		argument string
		moves    bool
	}{
		"by default":      {"", true},
		"99 %":            {"      restart-tolerance-percent: 99\n", true},
		"as dear as that": {"      restart-tolerance-percent: 100\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, labelled(test.argument),
				gpuNode("n1", "r1", 1), gpuNode("n2", "r1", 1), gpuNode("n3", "r1", 1), gpuNode("n4", "r1", 2))
			free := c.block(map[string]string{"n4": "2"})
			least := map[string]int32{"ps": 1, "worker": 3}
			c.add(podGroup("j", 4, least), pods("j", "ps", 1, onCPU), pods("j", "worker", 3, onGPU))
			c.session()
			before := c.nodes()
			require.Len(t, c.counts("j"), 3)
			c.run()
			free()
			c.restart(podGroup("j", 4, least), pods("j", "ps", 1, onCPU), pods("j", "worker", 3, onGPU))
			c.session()
			delete(before, "block-n4-x-0")
			if test.moves {
				require.Equal(t, 3, c.counts("j")["n4"])
				return
			}
			require.Equal(t, before, c.nodes())
		})
	}
}

// One node of two fails: the worker that ran there moves, the other one stays, though a place for both is free at n1.
//
//	             r1
//	  n1      n2      n3      n4
//	1 GPU   1 GPU   1 GPU   1 GPU
func TestOnlyPodsOfTheNodeThatFailedMove(t *testing.T) {
	c := newCluster(t, labelled(""), gpuNode("n1", "r1", 1), gpuNode("n2", "r1", 1), gpuNode("n3", "r1", 1), gpuNode("n4", "r1", 1))
	free := c.block(map[string]string{"n1": "1", "n2": "1"})
	c.add(podGroup("j", 2, map[string]int32{"worker": 2}), pods("j", "worker", 2, onGPU))
	c.session()
	require.Equal(t, map[string]int{"n3": 1, "n4": 1}, c.counts("j"))
	c.run()
	failed, other := "j-worker-0", "j-worker-1"
	stays, lost := c.nodes()[other], c.nodes()[failed]
	free()
	c.fail(failed)
	c.session()
	c.restart(podGroup("j", 2, map[string]int32{"worker": 2}), pods("j", "worker", 2, onGPU))
	c.session()
	require.Equal(t, stays, c.nodes()[other])
	require.NotEqual(t, lost, c.nodes()[failed])
	require.Contains(t, []string{"n1", "n2"}, c.nodes()[failed])
}

// A job of 2 to 4 workers whose pod failed on n1: the minimum starts elsewhere, and a worker beyond it rather has n1 than
// no node.
//
//	       r1
//	  n1      n2
//	4 GPUs  3 GPUs
func TestWorkersBeyondTheMinimumUseANodeThatFailed(t *testing.T) {
	c := newCluster(t, labelled(""), gpuNode("n1", "r1", 4), gpuNode("n2", "r1", 3))
	elastic := func() (*scheduling.PodGroup, []*corev1.Pod) {
		return podGroup("j", 2, map[string]int32{"worker": 2}), pods("j", "worker", 4, onGPU)
	}
	group, workers := elastic()
	c.add(group, workers)
	c.session()
	require.Equal(t, map[string]int{"n1": 4}, c.counts("j"))
	c.run()
	c.fail("j-worker-2")
	c.session()
	group, workers = elastic()
	c.restart(group, workers)
	c.session()
	c.session()
	require.Equal(t, map[string]int{"n1": 1, "n2": 3}, c.counts("j"))
}

// disrupted is a condition of pods that are taken from their node.
func disrupted(reason string) []corev1.PodCondition {
	return []corev1.PodCondition{
		{Type: corev1.PodReady, Status: corev1.ConditionFalse},
		{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: reason},
	}
}
