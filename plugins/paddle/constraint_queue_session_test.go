// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// gpuQuota is a queue's capability of so many GPUs.
func gpuQuota(gpus string) resources {
	return resources{"cpu": gpus, "memory": "4Ti", "nvidia.com/gpu": gpus}
}

// The queue's quota ends in the middle of a gang: three pods have got their nodes when the fourth is refused. Nothing is
// bound, nothing stays reserved, and the job of another queue has the best node in the same session.
//
//	     r1           r2
//	 n1      n2       n3
//	4 GPUs  1 GPU    3 GPUs
func TestQuotaReachedInTheMiddleOfAGang(t *testing.T) {
	group, workers := ring("a", 4)
	b, ofB := ring("b", 4)
	small := queue("small", gpuQuota("3"))
	c := newPriorities(t, labelled(""), small, gpuNode("n1", "r1", 4), gpuNode("n2", "r1", 1), gpuNode("n3", "r2", 3),
		inQueue(ranked(group, "high", 1), "small"), workers, ranked(b, "low", 2), ofB)
	before := workers[0].DeepCopy()
	counts := planned(t, c.session)
	require.InDelta(t, 2, counts.placed, 0, "one plan for each job")
	require.GreaterOrEqual(t, counts.taken, 4.0)
	require.Equal(t, map[string]int{"n1": 4}, c.count("b"))
	require.Empty(t, c.count("a"))
	require.Contains(t, c.condition("a").Message, "small")
	require.Equal(t, before, workers[0])
	for _, status := range c.statuses("a") {
		require.Empty(t, status.NominatedNodeName)
	}

	// The quota is raised, and the gang takes what is left.
	raised := queue("small", gpuQuota("4"))
	raised.ResourceVersion = "2"
	c.cache.UpdateQueueV1beta1(small, raised)
	require.Equal(t, planning{placed: 1, taken: 4}, planned(t, c.session))
	require.Equal(t, map[string]int{"n2": 1, "n3": 3}, c.count("a"))
}

// An elastic job grows up to its queue's quota, and no further.
//
//	     r1
//	 n1      n2
//	4 GPUs  4 GPUs
func TestElasticJobFillsItsQuota(t *testing.T) {
	c := newCluster(t, labelled(""), queue("small", gpuQuota("3")), gpuNode("n1", "r1", 4), gpuNode("n2", "r1", 4),
		inQueue(podGroup("a", 2, map[string]int32{"worker": 2}), "small"), pods("a", "worker", 6, onGPU))
	c.sessions(3, "a-worker-0", "a-worker-1", "a-worker-2")
}

// statuses are the statuses that the scheduler has written to pods whose names begin with prefix.
func (c *cluster) statuses(prefix string) map[string]corev1.PodStatus {
	c.status.mu.Lock()
	defer c.status.mu.Unlock()
	found := map[string]corev1.PodStatus{}
	for name, status := range c.status.pods {
		if len(name) >= len(prefix) && name[:len(prefix)] == prefix {
			found[name] = status
		}
	}
	return found
}
