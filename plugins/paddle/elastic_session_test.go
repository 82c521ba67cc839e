// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// elastic workers are a job of n workers with a GPU, of which least must run.
func elasticRing(job string, least, n int) []any {
	return []any{podGroup(job, int32(least), map[string]int32{"worker": int32(least)}), pods(job, "worker", n, onGPU)}
}

// names are {job}-worker-0 to n-1.
func names(job string, n int) []string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf("%s-worker-%d", job, i))
	}
	return list
}

// The minimum is a gang, and the others come as far as they fit, in one plan.
//
//	     r1           r2
//	 n1      n2       n3
//	2 GPUs  1 GPU    2 GPUs
func TestElasticMinimumThenTheRest(t *testing.T) {
	for _, test := range []struct {
		least, n int
		bound    int
		counts   planning
	}{
		{least: 3, n: 8, bound: 5, counts: planning{placed: 1, taken: 5}},
		{least: 3, n: 5, bound: 5, counts: planning{placed: 1, taken: 5}},
		{least: 5, n: 6, bound: 5, counts: planning{placed: 1, taken: 5}},
		{least: 6, n: 6, bound: 0, counts: planning{noFit: 1}},
	} {
		t.Run(fmt.Sprintf("%d of %d", test.least, test.n), func(t *testing.T) {
			c := newCluster(t, labelled(""), gpuNode("n1", "r1", 2), gpuNode("n2", "r1", 1), gpuNode("n3", "r2", 2))
			c.add(elasticRing("j", test.least, test.n)...)
			require.Equal(t, test.counts, planned(t, c.session))
			require.Equal(t, append([]string(nil), names("j", test.bound)...), c.bound(), "the first indexes")
			c.sessions(2, names("j", test.bound)...)
		})
	}
}

// What is beyond the minimum of the first job waits until the second one has its minimum, and then both get the rest.
//
//	     r1              r2
//	 n1      n2      n3      n4
//	1 GPU   1 GPU   1 GPU   1 GPU  (n5 and n6 in r2 come later)
func TestElasticSurplusDoesNotKeepAnotherJobOut(t *testing.T) {
	inEveryPlacement(t, func(t *testing.T, configuration string) {
		c := newCluster(t, configuration, gpuNode("n1", "r1", 1), gpuNode("n2", "r1", 1), gpuNode("n3", "r2", 1), gpuNode("n4", "r2", 1))
		c.add(elasticRing("a", 2, 4)...)
		c.add(elasticRing("b", 2, 4)...)
		require.Zero(t, planned(t, c.session).refused)
		require.Equal(t, append(names("a", 2), names("b", 2)...), c.bound())
		c.add(gpuNode("n5", "r2", 1), gpuNode("n6", "r2", 1))
		c.session()
		require.Len(t, c.bound(), 6)
	})
}

// The first job is planned with nodes for its surplus, and the second one takes them: the first is planned again with what
// is left, and no node that is full by then is tried.
//
//	    r1            r2          r3
//	n1      n2      n3  n4      n5  n6
//	          1 GPU each
func TestElasticPlanThatAnotherJobCrossed(t *testing.T) {
	c := newCluster(t, labelled(""), gpuNode("n1", "r1", 1), gpuNode("n2", "r1", 1), gpuNode("n3", "r2", 1), gpuNode("n4", "r2", 1),
		gpuNode("n5", "r3", 1), gpuNode("n6", "r3", 1))
	c.add(elasticRing("a", 2, 4)...)
	c.add(elasticRing("b", 2, 2)...)
	counts := planned(t, c.session)
	require.Len(t, c.bound(), 6)
	require.Zero(t, counts.refused)
	require.Zero(t, counts.fallback)
	require.LessOrEqual(t, counts.stale, 1.0)
}

// In a later session a job grows at the least cost: in the rack where it runs, although other nodes are fuller, which
// Volcano's own scoring prefers.
//
//	             r1                        r2
//	  n1      n2        n3         n4             n5
//	[0][1]  [2]        4 free   1 free of 8     1 free of 8
func TestElasticJobGrowsNextToItself(t *testing.T) {
	all := pods("j", "worker", 6, onGPU)
	load := running(plainPods("o", "task", 2, resources{"cpu": "50", "memory": "400Gi", "nvidia.com/gpu": "7"}), "n4", "n5")
	c := newCluster(t, labelled(""), gpuNode("n1", "r1", 2), gpuNode("n2", "r1", 1), gpuNode("n3", "r1", 4),
		gpuNode("n4", "r2", 8), gpuNode("n5", "r2", 8), started(podGroup("o", 2, nil)), load,
		started(podGroup("j", 2, map[string]int32{"worker": 2})), running(all[:3], "n1", "n1", "n2"))
	c.session()
	c.add(all[3:5])
	require.Equal(t, planning{placed: 1, taken: 2}, planned(t, c.session))
	require.Equal(t, map[string]int{"n1": 2, "n2": 1, "n3": 2}, c.count("j"))
	c.run()
	c.add(all[5:])
	c.session()
	require.Equal(t, 3, c.count("j")["n3"])
}

// A worker goes where the servers are, not where most workers are: that is what its traffic crosses.
//
//	      r1                  r2
//	  n1      n2          n3          n4
//	[ps 0]  1 free     [w0] 1 free   1 free
//	[ps 1]
func TestElasticWorkerGoesToTheServers(t *testing.T) {
	all := pods("j", "worker", 2, onGPU)
	c := newCluster(t, labelled(""), bareNode("n1", "r1", "4", "0"), bareNode("n2", "r1", "1", "1"),
		bareNode("n3", "r2", "2", "2"), bareNode("n4", "r2", "1", "1"),
		started(podGroup("j", 3, map[string]int32{"ps": 2, "worker": 1})), running(pods("j", "ps", 2, onCPU), "n1"),
		running(all[:1], "n3"), all[1:])
	c.session()
	require.Equal(t, "n2", c.nodes()["j-worker-1"])
}

// A worker that was lost is replaced where it costs least, and the job's other pods stay.
//
//	     r1              r2
//	 n1      n2      n3      n4
//	[0]     [2]     1 free  1 free
//	1 free
func TestLostWorkerIsReplacedNearTheOthers(t *testing.T) {
	group, all := ring("j", 3)
	c := newCluster(t, labelled(""), gpuNode("n1", "r1", 2), gpuNode("n2", "r1", 1), gpuNode("n3", "r2", 1), gpuNode("n4", "r2", 1),
		started(group), running([]*corev1.Pod{all[0], all[2]}, "n1", "n2"), all[1])
	require.Equal(t, planning{placed: 1, taken: 1}, planned(t, c.session))
	require.Equal(t, "n1", c.nodes()["j-worker-1"])
}

// Once a worker has succeeded the job is ending: no other worker is bound, neither one beyond the minimum nor one that is
// made again, but a server is.
//
//	 r1
//	 n1
//	8 GPUs
func TestNoWorkerComesOnceOneHasSucceeded(t *testing.T) {
	inEveryPlacement(t, func(t *testing.T, configuration string) {
		all, servers := pods("j", "worker", 4, onGPU), pods("j", "ps", 2, onCPU)
		running(all[:3], "n1")
		all[0].Status.Phase = corev1.PodSucceeded
		c := newCluster(t, configuration, gpuNode("n1", "r1", 8),
			started(podGroup("j", 4, map[string]int32{"ps": 2, "worker": 2})), all[:3], running(servers[:1], "n1"), servers[1])
		c.session()
		require.Contains(t, c.bound(), "j-ps-1")
		c.run()
		c.add(all[3])
		for range 3 {
			c.session()
			require.NotContains(t, c.bound(), "j-worker-3")
		}
		require.Contains(t, c.podMessage("j-worker-3"), "ending")
		c.remove("j-worker-1")
		again := pods("j", "worker", 2, onGPU)[1]
		again.UID = "again"
		c.add(again)
		c.session()
		require.NotContains(t, c.bound(), "j-worker-1")
	})
}
