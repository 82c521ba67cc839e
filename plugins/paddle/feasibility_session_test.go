// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	scheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/api/devices/nvidia/gpushare"
	"volcano.sh/volcano/pkg/scheduler/framework"
	"volcano.sh/volcano/pkg/scheduler/plugins/nodegroup"
)

// guards run on nodes, one on each, and let no pod with the label app: x beside them.
func guards(nodes ...string) []any {
	pods := each(running(plainPods("guard", "guard", len(nodes), nothing), nodes...), func(pod *corev1.Pod) {
		affinityOf(pod).PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}},
		}}}
	})
	return []any{started(podGroup("guard", 1, nil)), pods}
}

// sessionByPod runs a session in which allocate calls predicates for each pod. By default it applies what they answered for
// one pod of a role to the others.
func (c *cluster) sessionByPod(configuration string) {
	c.t.Helper()
	const cache = "configurations:\n- name: allocate\n  arguments:\n    predicateErrorCacheEnable: "
	c.t.Cleanup(func() { c.sessionOf(configuration + cache + "true\n") }) // the action keeps its arguments
	c.sessionOf(configuration + cache + "false\n")
}

// aged is a ring whose PodGroup is younger the larger its age is, and a change of its pods.
func aged(c *cluster, job string, n int, age int64, change func(*corev1.Pod)) {
	group, workers := ring(job, n)
	c.add(ranked(group, "", age), each(workers, change))
}

// Whom the running pods refuse is a matter of labels: that the first job waits, rightly, is no reason for the second one.
//
//	  n1       n2
//	2 GPUs   2 GPUs
//	[guard]  [guard]
func TestJobDoesNotWaitForTheLabelsOfAnother(t *testing.T) {
	inEveryPlacement(t, func(t *testing.T, configuration string) {
		c := newCluster(t, configuration, gpuNode("n1", "", 2), gpuNode("n2", "", 2))
		c.add(guards("n1", "n2")...)
		aged(c, "a", 4, 1, label("app", "x"))
		aged(c, "b", 4, 2, label("app", "yy"))
		c.sessions(3, "b-worker-0", "b-worker-1", "b-worker-2", "b-worker-3", "guard-guard-0", "guard-guard-1")
	})
}

// A job of the queue of one group of nodes waits for more of them; the group of the other queue is free.
//
//	 g1       g2
//	 n1       n2
//	2 GPUs   2 GPUs
func TestQueuesOfTwoNodeGroups(t *testing.T) {
	of := func(name string) *scheduling.Queue {
		q := queue("queue-"+name, nil)
		q.Spec.Affinity = &scheduling.Affinity{NodeGroupAffinity: &scheduling.NodeGroupAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []string{name},
		}}
		return q
	}
	a, ofA := ring("a", 3)
	b, ofB := ring("b", 2)
	c := newCluster(t, racked("", "  - name: nodegroup\n"), of("g1"), of("g2"),
		marked(gpuNode("n1", "r1", 2), nodegroup.NodeGroupNameKey, "g1"), marked(gpuNode("n2", "r2", 2), nodegroup.NodeGroupNameKey, "g2"),
		inQueue(ranked(a, "", 1), "queue-g1"), ofA, inQueue(ranked(b, "", 2), "queue-g2"), ofB)
	c.sessions(3, "b-worker-0", "b-worker-1")
	require.Equal(t, []string{"n2"}, c.on("b"))
}

// The CPUs of a node with GPUs are kept for pods that take these: servers must not go there, workers may.
//
//	  n1               n2
//	2 GPUs, 16 CPUs   4 CPUs
func TestServersAreKeptOffNodesOfWorkers(t *testing.T) {
	proportional := `  - name: resource-strategy-fit
    arguments:
      proportional:
        enable: true
        resources: nvidia.com/gpu
        resourceProportion:
          nvidia.com/gpu.cpu: 8
          nvidia.com/gpu.memory: 1
`
	c := newCluster(t, racked("", proportional), gpuNode("n1", "r1", 2), marked(node("n2", resources{"cpu": "4", "memory": "64Gi"}), "rack", "r2"),
		podGroup("j", 3, map[string]int32{"ps": 1, "worker": 2}), pods("j", "ps", 1, onCPU), pods("j", "worker", 2, onGPU))
	c.session()
	require.Equal(t, map[string]string{"j-ps-0": "n2", "j-worker-0": "n1", "j-worker-1": "n1"}, c.nodes())
}

// The board needs no GPU, and has capacity beside the workers as soon as these have their GPUs.
//
//	  n1
//	2 GPUs, 16 CPUs
func TestPodsAreAdmittedOnceTheWorkersHaveTheirGPUs(t *testing.T) {
	proportional := `  - name: resource-strategy-fit
    arguments:
      proportional:
        enable: true
        resources: nvidia.com/gpu
        resourceProportion:
          nvidia.com/gpu.cpu: 8
          nvidia.com/gpu.memory: 1
`
	c := newCluster(t, racked("", proportional), gpuNode("n1", "r1", 2),
		podGroup("j", 3, map[string]int32{"worker": 2, "board": 1}), pods("j", "worker", 2, onGPU), pods("j", "board", 1, onCPU))
	c.sessions(2, "j-board-0", "j-worker-0", "j-worker-1")
}

// Two GPUs of 10 GB each: no pod of 12 GB fits on one, those of 8 GB do.
func TestGPUsThatAreShared(t *testing.T) {
	gpushare.GpuSharingEnable = true
	t.Cleanup(func() { gpushare.GpuSharingEnable = false })
	c := newCluster(t, racked("", "  - name: deviceshare\n    arguments:\n      deviceshare.GPUSharingEnable: true\n"))
	c.add(node("n1", resources{"cpu": "8", "memory": "64Gi", gpushare.VolcanoGPUResource: "20", gpushare.VolcanoGPUNumber: "2"}))
	shared := func(job, memory string, n int, age int64) {
		workers := each(pods(job, "worker", n, resources{"cpu": "1", gpushare.VolcanoGPUResource: memory}), func(pod *corev1.Pod) {
			pod.Spec.Containers[0].Resources.Limits = pod.Spec.Containers[0].Resources.Requests
			_, err := c.cache.Client().CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{})
			require.NoError(t, err)
		})
		c.add(ranked(podGroup(job, int32(n), map[string]int32{"worker": int32(n)}), "", age))
		require.Eventually(t, func() bool { // the informer adds them; if it came later it would undo a binding
			c.cache.Lock()
			defer c.cache.Unlock()
			added := c.cache.Jobs[jobID(job)]
			return added != nil && len(added.Tasks) == len(workers)
		}, 10*time.Second, time.Millisecond)
	}
	shared("a", "12", 1, 1)
	shared("b", "8", 2, 2)
	c.sessions(3, "b-worker-0", "b-worker-1")
}

// Nodes of a revocable zone are for jobs that say that they may be revoked.
//
//	  n1
//	2 GPUs, revocable
func TestJobInARevocableZone(t *testing.T) {
	c := newCluster(t, racked("", "  - name: tdm\n    arguments:\n      tdm.revocable-zone.rz1: \"00:00-00:00\"\n"),
		marked(gpuNode("n1", "r1", 2), scheduling.RevocableZone, "rz1"))
	aged(c, "a", 2, 1, func(*corev1.Pod) {})
	aged(c, "b", 2, 2, annotation(scheduling.RevocableZone, "*"))
	c.sessions(3, "b-worker-0", "b-worker-1")
}

// One worker may not go to a node that the other may use: it is checked by itself.
//
//	  n1       n2
//	[guard]
func TestPodsOfOneRoleThatDiffer(t *testing.T) {
	for name, test := range map[string]struct{ which, gpus int }{"the first": {0, 1}, "the second": {1, 2}} {
		t.Run(name, func(t *testing.T) {
			group, workers := ring("j", 2)
			label("app", "x")(workers[test.which])
			c := newCluster(t, shipped, gpuNode("n1", "", test.gpus), gpuNode("n2", "", test.gpus), group, workers)
			c.add(guards("n1")...)
			require.Zero(t, planned(t, func() { c.sessionByPod(shipped) }).refused)
			require.Equal(t, "n2", c.nodes()[workers[test.which].Name])
			require.Contains(t, c.bound(), workers[1-test.which].Name)
		})
	}
}

// A worker beyond the minimum may use the node that is refused to the one that is needed.
//
//	  n1       n2
//	1 GPU    1 GPU
//	[guard]
func TestSurplusPodThatDiffers(t *testing.T) {
	workers := pods("j", "worker", 2, onGPU)
	label("app", "x")(workers[0])
	c := newCluster(t, shipped, gpuNode("n1", "", 1), gpuNode("n2", "", 1), podGroup("j", 1, map[string]int32{"worker": 1}), workers)
	c.add(guards("n1")...)
	c.sessions(2, "guard-guard-0", "j-worker-0", "j-worker-1")
}

// Workers that must be beside a server of their own job have no node before the server has one.
//
//	     r1             r2
//	 n1      n2      n3      n4
//	2 GPUs  2 GPUs  2 GPUs  2 GPUs
func TestWorkersBesideServersOfTheirJob(t *testing.T) {
	c := newCluster(t, labelled(""), gpuNode("n1", "r1", 2), gpuNode("n2", "r1", 2), gpuNode("n3", "r2", 2), gpuNode("n4", "r2", 2),
		podGroup("j", 3, map[string]int32{"ps": 1, "worker": 2}), pods("j", "ps", 1, onCPU), beside(pods("j", "worker", 2, onGPU), "j", "ps", "rack"))
	c.sessions(2, "j-ps-0", "j-worker-0", "j-worker-1")
}

// The first worker may only go to r2, the next one to r1 as well, since then r2 has as many.
//
//	  r1       r2
//	  n1       n2
//	2 GPUs   1 GPU
//	[other]
func TestWorkersThatAreSpread(t *testing.T) {
	group, workers := ring("j", 2)
	each(workers, func(pod *corev1.Pod) {
		pod.Labels["team"] = "t"
		pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: "rack", WhenUnsatisfiable: corev1.DoNotSchedule,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "t"}},
		}}
	})
	c := newCluster(t, labelled(""), gpuNode("n1", "r1", 2), gpuNode("n2", "r2", 1), group, workers,
		started(podGroup("other", 1, nil)), withLabel(running(plainPods("other", "x", 1, nothing), "n1"), "team", "t"))
	c.sessionByPod(labelled(""))
	require.Equal(t, []string{"j-worker-0", "j-worker-1", "other-x-0"}, c.bound())
}

// A node that predicates refuse only for allocate is not planned again in the session, and finding that out calls no
// PrePredicate more.
//
//	  r1      r2      r3
//	  n1      n2      n3
//	1 GPU   2 GPUs  2 GPUs
func TestNodeThatWasRefusedIsRemembered(t *testing.T) {
	var prepared atomic.Int32
	probing(func(ssn *framework.Session) {
		ssn.AddPrePredicateFn("probe", func(*api.TaskInfo) error {
			prepared.Add(1)
			return nil
		})
		ssn.AddPredicateFn("probe", func(task *api.TaskInfo, node *api.NodeInfo) error {
			if node.Name == "n1" && task.Pod.Status.NominatedNodeName == "n1" {
				return api.NewFitErrWithStatus(task, node, &api.Status{Code: api.UnschedulableAndUnresolvable, Reason: "no"})
			}
			return nil
		})
	})
	group, workers := ring("j", 2)
	c := newCluster(t, racked("", withProbe), gpuNode("n1", "r1", 1), gpuNode("n2", "r2", 2), gpuNode("n3", "r3", 2), group, withPort(workers))
	require.Equal(t, planning{placed: 2, stale: 1, taken: 1, refused: 1}, planned(t, c.session))
	require.Equal(t, map[string]string{"j-worker-0": "n2", "j-worker-1": "n3"}, c.nodes())
	require.EqualValues(t, 4, prepared.Load(), "each plan, and each pod")
}

// Of a role whose pods all differ only some are checked before the plan; allocate checks each.
func TestManyPodsThatDiffer(t *testing.T) {
	const n = 40 // more than have results of their own
	group, workers := ring("j", n)
	for i, pod := range workers {
		label("number", strconv.Itoa(i))(pod)
	}
	c := newCluster(t, shipped, gpuNode("n1", "", n), group, workers)
	require.Equal(t, planning{placed: 1, taken: n}, planned(t, c.session))
	require.Len(t, c.bound(), n)
}

// Pods of one role of which one tolerates a taint: the others' nodes prove nothing about it.
func TestTolerationOfOnePod(t *testing.T) {
	group, workers := ring("j", 2)
	workers[1].Spec.Tolerations = []corev1.Toleration{{Key: "broken", Operator: corev1.TolerationOpExists}}
	c := newCluster(t, shipped, gpuNode("n1", "", 1), tainted(gpuNode("n2", "", 1), "broken"), group, workers)
	c.sessionByPod(shipped)
	require.Equal(t, map[string]string{"j-worker-0": "n1", "j-worker-1": "n2"}, c.nodes())
}
