// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/guard"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
)

// What a user reads in the PodGroup's condition PaddleScheduled.
func TestWhyGangIsNotStarted(t *testing.T) {
	large := resources{"cpu": "8", "memory": "8Gi"}
	group := func() any { return podGroup("job", 4, twoTwo) }
	gated, allGated, gatedSurplus := pods("job", "ps", 2, nothing), pods("job", "ps", 2, nothing), pods("job", "ps", 3, nothing)
	for _, pod := range []*corev1.Pod{gated[1], allGated[0], allGated[1], gatedSurplus[2]} {
		pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "wait"}}
	}
	fussy := pods("job", "ps", 2, nothing)
	for _, pod := range fussy {
		pod.Spec.NodeSelector = map[string]string{"disk": "ssd"}
	}
	closed := queue("closed", nil)
	closed.Status.State = "Closed"
	inClosed := podGroup("job", 4, twoTwo)
	inClosed.Spec.Queue = "closed"
	inClosed.Status.Phase = "Inqueue"
	now := metav1.Now()
	ending := pods("old", "worker", 1, resources{"cpu": "7"})
	ending[0].Spec.NodeName = "n1"
	ending[0].Status.Phase = corev1.PodRunning
	ending[0].DeletionTimestamp = &now
	lost := pods("job", "ps", 2, nothing)
	lost[1].Spec.NodeName = "n1"
	lost[1].Status.Phase = corev1.PodRunning
	lost[1].DeletionTimestamp = &now
	half, oneServer, threeWorkers := pods("job", "worker", 2, oneCPU), pods("job", "ps", 2, oneCPU), pods("job", "worker", 3, oneCPU)
	for _, pod := range append([]*corev1.Pod{half[0], oneServer[0]}, threeWorkers...) {
		pod.Spec.NodeName = "n1"
		pod.Status.Phase = corev1.PodRunning
	}

	for _, test := range []struct {
		name    string
		objects []any
		message string
	}{
		{
			"one worker fits",
			[]any{group(), pods("job", "ps", 2, nothing), pods("job", "worker", 2, resources{"cpu": "5"}), node("n1", large),
				node("n2", resources{"cpu": "4"})},
			"1 of 2 workers does not fit: node n2, which comes closest, has capacity for 4 of the 5 CPUs that one more worker needs; it fits with 1 worker",
		}, {
			"a server does not fit, so workers are not tried",
			[]any{group(), pods("job", "ps", 2, resources{"cpu": "5"}), pods("job", "worker", 2, nothing), node("n1", large),
				node("n2", resources{"cpu": "4"})},
			"1 of 2 servers does not fit: node n2, which comes closest, has capacity for 4 of the 5 CPUs that one more server needs; it fits with 1 server",
		}, {
			"no node at all",
			[]any{group(), fussy, pods("job", "worker", 2, nothing), node("n1", large)},
			"2 of 2 servers have no node: the node selector or node affinity of the pods (disk=ssd) matches 0 of 1 nodes, which is too few",
		}, {
			"pods are missing, and others are not needed",
			[]any{podGroup("job", 4, map[string]int32{"ps": 2, "worker": 2, "board": 0}), pods("job", "ps", 1, nothing),
				pods("job", "worker", 2, nothing), plainPods("job", "board", 1, nothing), node("n1", large)},
			"1 of 2 servers does not exist yet: no pod of the gang is started before",
		}, {
			"pods are missing, but not in number",
			[]any{podGroup("job", 3, twoTwo), pods("job", "ps", 1, nothing), pods("job", "worker", 4, nothing), node("n1", large)},
			"1 of 2 servers does not exist yet: no pod of the gang is started before",
		}, {
			"pods are missing, but not in any role",
			[]any{podGroup("job", 3, map[string]int32{"worker": 1}), pods("job", "worker", 2, nothing), node("n1", large)},
			"1 of 3 pods does not exist yet: no pod of the gang is started before",
		}, {
			"a pod is ending and not made again yet",
			[]any{group(), lost, pods("job", "worker", 2, nothing), node("n1", large)},
			"1 of 2 servers does not exist yet: no pod of the gang is started before",
		}, {
			"all servers are gated",
			[]any{group(), allGated, pods("job", "worker", 2, nothing), node("n1", large)},
			"2 of 2 servers have no node: scheduling gates hold pods back (wait)",
		}, {
			"a pod that is not needed is gated",
			[]any{group(), gatedSurplus, pods("job", "worker", 2, resources{"cpu": "5"}), node("n1", large),
				node("n2", resources{"cpu": "4"})},
			"1 of 2 workers does not fit: node n2, which comes closest, has capacity for 4 of the 5 CPUs that one more worker needs; it fits with 1 worker",
		}, {
			"a pod is gated",
			[]any{group(), gated, pods("job", "worker", 2, nothing), node("n1", large)},
			"1 of 2 servers has no node: scheduling gates hold pods back (wait)",
		}, {
			"queue is closed",
			[]any{closed, inClosed, pods("job", "ps", 2, nothing), pods("job", "worker", 2, nothing), node("n1", large)},
			"queue closed is not open: it admits no job and starts no pods",
		}, {
			"others are ending",
			[]any{group(), podGroup("old", 1, nil), ending, pods("job", "ps", 2, nothing),
				pods("job", "worker", 2, resources{"cpu": "4"}), node("n1", large)},
			"the gang fits once terminating pods are gone",
		}, {
			"a running gang lacks a worker",
			[]any{group(), pods("job", "ps", 2, nothing), half, node("n1", resources{"cpu": "1", "memory": "8Gi"}),
				node("n2", resources{"cpu": "900m", "memory": "8Gi"}), node("n3", resources{"cpu": "900m", "memory": "8Gi"})},
			"1 of 2 workers does not fit: node n2, which comes closest, has capacity for 0.9 of the 1 CPU that one worker needs; it fits with 1 worker",
		}, {
			"a running gang lacks a server, and has more workers than it needs",
			[]any{group(), oneServer, threeWorkers, node("n1", resources{"cpu": "4", "memory": "8Gi"}),
				node("n2", resources{"cpu": "900m", "memory": "8Gi"}), node("n3", resources{"cpu": "900m", "memory": "8Gi"})},
			"1 of 2 servers does not fit: node n2, which comes closest, has capacity for 0.9 of the 1 CPU that one server needs; it fits with 1 server",
		}, {
			"minimum above the roles' sum",
			[]any{podGroup("job", 3, map[string]int32{"worker": 1}), pods("job", "worker", 4, resources{"cpu": "5"}),
				node("n1", large), node("n2", resources{"cpu": "7"})},
			"1 of 3 workers does not fit: node n1, which comes closest, has capacity for 3 of the 5 CPUs that one more worker needs; it fits with 2 workers",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster(t, shipped, test.objects...)
			for range 3 { // the same words each time: a condition that does not change is not written
				c.session()
				require.Equal(t, test.message, firstLine(c.condition("job")))
			}
		})
	}
}

// Without the planner's explanation, pods that found capacity are counted.
func TestWhyGangIsNotStartedWithoutAnExplanation(t *testing.T) {
	half := pods("job", "worker", 2, oneCPU)
	half[0].Spec.NodeName = "n1"
	half[0].Status.Phase = corev1.PodRunning
	for name, test := range map[string]struct {
		workers []*corev1.Pod
		nodes   []any
		message string
	}{
		"one worker fits": {
			pods("job", "worker", 2, resources{"cpu": "5"}), []any{node("n1", resources{"cpu": "8", "memory": "8Gi"}), node("n2", resources{"cpu": "4"})},
			"1 of 2 workers does not fit: 0/2 nodes are unavailable: 2 Insufficient cpu",
		},
		"a running gang lacks a worker": {
			half, []any{node("n1", resources{"cpu": "1", "memory": "8Gi"}), node("n2", resources{"cpu": "900m", "memory": "8Gi"}),
				node("n3", resources{"cpu": "900m", "memory": "8Gi"})},
			"1 of 2 workers does not fit: 0/3 nodes are unavailable: 3 Insufficient cpu",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := withFaults(t, func(of guard.Work, _ bool) {
				if of.Part == metrics.PartExplanation {
					panic("no such tier")
				}
			}, append(test.nodes, podGroup("job", 4, twoTwo), pods("job", "ps", 2, nothing), test.workers)...)
			for range 3 {
				c.session()
				require.Equal(t, test.message, firstLine(c.condition("job")))
			}
		})
	}
}

// A gang that has started, and a job that is not Paddle's, are not explained.
func TestNothingToExplain(t *testing.T) {
	c := newCluster(t, shipped, podGroup("job", 4, twoTwo), pods("job", "ps", 2, nothing), pods("job", "worker", 4, oneCPU),
		podGroup("tf", 2, nil), plainPods("tf", "worker", 2, resources{"cpu": "9"}), node("n1", resources{"cpu": "2", "memory": "8Gi"}))
	for range 2 {
		c.sessions(1, allFour...)
		require.Empty(t, c.message("job"))
		require.NotContains(t, c.podMessage("job-worker-2"), "the gang waits")
		require.NotContains(t, c.message("tf"), "the gang waits")
	}
}

// Pods say it as well, and without gang, which writes the PodGroup's condition, only they do.
func TestPodsSayWhatIsMissing(t *testing.T) {
	inEveryPlacement(t, func(t *testing.T, configuration string) {
		c := newCluster(t, configuration, podGroup("job", 4, twoTwo), pods("job", "ps", 1, nothing), pods("job", "worker", 2, nothing),
			node("n1", resources{"cpu": "8", "memory": "8Gi"}))
		c.session()
		require.Equal(t, "the gang waits (WaitingForPods): condition PaddleScheduled of the PodGroup has the details",
			c.podMessage("job-ps-0"))
	})
}
