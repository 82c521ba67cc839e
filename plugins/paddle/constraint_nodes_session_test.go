// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"
)

// A node would hold the whole gang, and it is tainted: the plan is made without it, and each of its nodes is taken.
//
//	     r1                 r2
//	 n1      n2         n3      n4
//	4 GPUs  1 GPU      2 GPUs  2 GPUs
//	tainted
func TestTaintedNodesAreNotPlanned(t *testing.T) {
	group, workers := ring("j", 4)
	c := newCluster(t, labelled(""), tainted(gpuNode("n1", "r1", 4), "broken"), gpuNode("n2", "r1", 1),
		gpuNode("n3", "r2", 2), gpuNode("n4", "r2", 2), group, workers)
	require.Equal(t, planning{placed: 1, taken: 4}, planned(t, c.session))
	require.Equal(t, map[string]int{"n3": 2, "n4": 2}, c.count("j"))
}

// Who tolerates the taint takes the node, in the same session as a gang that tolerates another one.
func TestPodsArePlannedWhereTheyTolerateATaint(t *testing.T) {
	tolerates := func(pods []*corev1.Pod, key string) {
		each(pods, func(pod *corev1.Pod) {
			pod.Spec.Tolerations = []corev1.Toleration{{Key: key, Operator: corev1.TolerationOpExists}}
		})
	}
	group, workers := ring("j", 4)
	tolerates(workers, "slow")
	tolerant, tolerating := ring("k", 4)
	tolerates(tolerating, "broken")
	c := newCluster(t, labelled(""), tainted(gpuNode("n1", "r1", 4), "broken"), gpuNode("n2", "r1", 1),
		gpuNode("n3", "r2", 2), gpuNode("n4", "r2", 2), group, workers, tolerant, tolerating)
	require.Equal(t, planning{placed: 2, taken: 8}, planned(t, c.session))
	require.Equal(t, map[string]int{"n3": 2, "n4": 2}, c.count("j"))
	require.Equal(t, map[string]int{"n1": 4}, c.count("k"))
}

// A job that may use a tenth of the nodes is planned once, not once for each node that it may not use: predicates are not
// called for nodes that the template does not permit.
//
//	   r0              r1              ...   r9
//	n00 n01 .. n09  n10 n11 .. n19         n90 .. n99      2 GPUs each; nX0 with a disk
func TestPlanKeepsToATenthOfTheNodes(t *testing.T) {
	for name, restrict := range map[string]func([]*corev1.Pod){
		"selector": func(pods []*corev1.Pod) {
			each(pods, func(pod *corev1.Pod) { pod.Spec.NodeSelector = map[string]string{"disk": "ssd"} })
		},
		"affinity": func(pods []*corev1.Pod) { onlyOn(pods, "disk", "nvme", "ssd") },
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int64
			probing(func(ssn *framework.Session) {
				ssn.AddPredicateFn("probe", func(*api.TaskInfo, *api.NodeInfo) error {
					asked.Add(1)
					return nil
				})
			})
			c := newCluster(t, racked(withProbe, ""))
			for i := range 100 {
				n := gpuNode(fmt.Sprintf("n%02d", i), fmt.Sprintf("r%d", i/10), 2)
				if i%10 == 0 {
					marked(n, "disk", "ssd")
				}
				c.add(n)
			}
			for _, job := range []string{"a", "b", "c"} {
				group, workers := ring(job, 6)
				restrict(workers)
				c.add(group, workers)
			}
			require.Equal(t, planning{placed: 3, taken: 18}, planned(t, c.session))
			for node := range c.count("") {
				require.True(t, strings.HasSuffix(node, "0"), "%s has no disk", node)
			}
			require.LessOrEqual(t, asked.Load(), int64(18+18), "each node of a plan, and each hint")
		})
	}
}

// Jobs with different selectors do not share their answers: each has the rack that has its disks.
//
//	     r1                r2
//	 n1      n2        n3      n4
//	2 GPUs  1 GPU     2 GPUs  1 GPU
//	 hdd     hdd       ssd     ssd
func TestJobsWithDifferentSelectors(t *testing.T) {
	c := newCluster(t, labelled(""), marked(gpuNode("n1", "r1", 2), "disk", "hdd"), marked(gpuNode("n2", "r1", 1), "disk", "hdd"),
		marked(gpuNode("n3", "r2", 2), "disk", "ssd"), marked(gpuNode("n4", "r2", 1), "disk", "ssd"))
	for job, disk := range map[string]string{"a": "ssd", "b": "hdd"} {
		group, workers := ring(job, 3)
		c.add(group, each(workers, func(pod *corev1.Pod) { pod.Spec.NodeSelector = map[string]string{"disk": disk} }))
	}
	require.Equal(t, planning{placed: 2, taken: 6}, planned(t, c.session))
	require.Equal(t, []string{"n3", "n4"}, c.on("a"))
	require.Equal(t, []string{"n1", "n2"}, c.on("b"))
}

// The data of job j is in zone z2, where the network is dearer; that of job k, which is like it otherwise, in z1.
//
//	     r1                r2              r3
//	 n1      n2        n3      n4      n5      n6
//	4 GPUs  4 GPUs    2 GPUs  1 GPU   1 GPU   1 GPU
//	  z1      z1        z2      z2      z1      z1
func TestVolumeKeepsItsZone(t *testing.T) {
	in := func(name, rack, zone string, gpus int) *corev1.Node {
		return marked(gpuNode(name, rack, gpus), corev1.LabelTopologyZone, zone)
	}
	j, ofJ := ring("j", 3)
	k, ofK := ring("k", 3)
	c := newCluster(t, strings.Replace(labelled(""), "  - name: predicates\n", "  - name: predicates\n"+withoutVolumeBinding, 1),
		in("n1", "r1", "z1", 4), in("n2", "r1", "z1", 4), in("n3", "r2", "z2", 2), in("n4", "r2", "z2", 1),
		in("n5", "r3", "z1", 1), in("n6", "r3", "z1", 1))
	c.volume("data", "z2")
	c.volume("other", "z1")
	c.add(j, withClaim(ofJ, "data"), k, withClaim(ofK, "other"))
	require.Equal(t, planning{placed: 2, taken: 6}, planned(t, c.session))
	require.Equal(t, map[string]int{"n3": 2, "n4": 1}, c.count("j"))
	require.Equal(t, map[string]int{"n1": 3}, c.count("k"))
}
